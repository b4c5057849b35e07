//! Converts a catalog of C structures to a Rust catalog, in memory of the caller.
//!
//! Texts and lists of small numbers are not copied. Structures with pointers are converted, because C has no
//! slices and no lengths of texts. The first pass counts bytes and finds null pointers; the second pass
//! writes.

use crate::borrow::{reference, reference_mut, slice, text, text_or_empty};
use crate::layout;
use crate::policy::Handle;
use crate::status::{Status, number};
use crate::user::ALIGNMENT;
use core::ffi::{c_char, c_void};
use fable_core::catalog::{
    Block, CatalogError, Component, Condition, Contrast, Definition, MAX_BLOCKS, MAX_COMPONENTS,
    MAX_CONTRASTS, MAX_RULES, MAX_SIGNALS, MAX_TASKS, MAX_TERMS, MAX_VALUES, Part, StandingRule, Term, Value,
};
use fable_core::catalog::{BlockSet, Effect};
use fable_core::settings::{Deadline, Expiry, OnChange, Scale};
use fable_core::{Catalog, Exploration, Policy, Rule, Settings};

/// A bump allocator in memory of the caller. With a null start it only counts bytes.
struct Arena {
    start: *mut u8,
    used: usize,
}

impl Arena {
    /// Reserves aligned memory for `count` values.
    fn reserve<T>(&mut self, count: usize) -> *mut T {
        self.used = self.used.next_multiple_of(align_of::<T>());
        let start = self.start.wrapping_add(self.used).cast::<T>();
        self.used += count * size_of::<T>();
        start
    }

    /// Converts values one by one and writes them. A counting arena writes nothing and returns an empty
    /// slice.
    ///
    /// # Safety
    /// If the start is not null, the memory is large enough for all values.
    unsafe fn make<'a, F, T: 'a>(
        &mut self,
        from: &[F],
        mut convert: impl FnMut(&mut Self, &F) -> Result<T, Status>,
    ) -> Result<&'a [T], Status> {
        let start = self.reserve::<T>(from.len());
        for (index, item) in from.iter().enumerate() {
            let converted = convert(self, item)?;
            if !self.start.is_null() {
                // SAFETY: this memory is reserved for all of `from`, aligned and not used otherwise.
                unsafe { start.wrapping_add(index).write(converted) };
            }
        }
        if self.start.is_null() || from.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: all elements were written above and do not change any more.
        Ok(unsafe { core::slice::from_raw_parts(start, from.len()) })
    }
}

/// Checks the counts of a catalog before any pass.
fn admit(catalog: &layout::Definition) -> Result<(), Status> {
    for (count, most, error) in [
        (catalog.component_count, MAX_COMPONENTS, CatalogError::ComponentCount),
        (catalog.task_count, MAX_TASKS, CatalogError::TaskCount),
        (catalog.signal_count, MAX_SIGNALS, CatalogError::SignalCount),
        (catalog.block_count, MAX_BLOCKS, CatalogError::BlockCount),
        (catalog.term_count, MAX_TERMS, CatalogError::TermCount),
        (catalog.contrast_count, MAX_CONTRASTS, CatalogError::ContrastCount),
        (catalog.rule_count, MAX_RULES, CatalogError::RuleCount),
    ] {
        if usize::from(count) > most {
            return Err(error.into());
        }
    }
    Ok(())
}

/// A position from FABLE_AT(position) or 0.
fn position(at: u16, error: CatalogError) -> Result<Option<u8>, Status> {
    at.checked_sub(1).map(|position| u8::try_from(position).map_err(|_| error.into())).transpose()
}

/// Converts a definition in the arena.
///
/// # Safety
/// The structures are valid by the header and do not change. If the arena's start is not null, its memory is
/// large enough.
unsafe fn definition(arena: &mut Arena, catalog: &layout::Definition) -> Result<Definition<'static>, Status> {
    admit(catalog)?;
    // SAFETY: the caller guarantees every pointer in the structures.
    unsafe {
        let name = text(catalog.name)?;
        let components = slice(catalog.components, usize::from(catalog.component_count))?;
        let components = arena.make(components, |arena, own| component(arena, own))?;
        let names = |_: &mut Arena, name: &*const c_char| text(*name);
        let tasks = arena.make(slice(catalog.tasks, usize::from(catalog.task_count))?, names)?;
        let signals = arena.make(slice(catalog.signals, usize::from(catalog.signal_count))?, names)?;
        let blocks =
            arena.make(slice(catalog.blocks, usize::from(catalog.block_count))?, |_, own| block(own))?;
        let terms = arena.make(slice(catalog.terms, usize::from(catalog.term_count))?, |arena, own| {
            let applies = parts(arena, own.parts, own.part_count, CatalogError::TermValues)?;
            Ok(Term::new(own.weight, condition(&own.when)?, applies))
        })?;
        let count = usize::from(catalog.component_count);
        let contrasts = slice(catalog.contrasts, usize::from(catalog.contrast_count))?;
        let contrasts = arena.make(contrasts, |_, own| contrast(own, count))?;
        let rules = arena
            .make(slice(catalog.rules, usize::from(catalog.rule_count))?, |arena, own| rule(arena, own))?;
        Ok(Definition { name, components, tasks, signals, blocks, terms, contrasts, rules })
    }
}

/// # Safety
/// See [`definition`].
unsafe fn component(arena: &mut Arena, own: &layout::Component) -> Result<Component<'static>, Status> {
    if usize::from(own.value_count) > MAX_VALUES {
        return Err(CatalogError::ValueCount.into());
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        let values = slice(own.values, usize::from(own.value_count))?;
        let values = arena.make(values, |_, value| {
            Ok(Value::new(text(value.name)?, text_or_empty(value.instruction)?, value.cost))
        })?;
        let null = position(own.null_value, CatalogError::UnknownNull)?;
        Ok(Component { name: text(own.name)?, values, null })
    }
}

fn block(own: &layout::Block) -> Result<Block, Status> {
    let mut block = if own.components == u16::MAX {
        Block::complete()
    } else {
        let (mut factors, mut count) = ([0; 16], 0);
        for component in (0_u8..16).filter(|component| own.components >> component & 1 == 1) {
            if let Some(slot) = factors.get_mut(count) {
                *slot = component;
            }
            count += 1;
        }
        Block::product(factors.get(..count).unwrap_or_default())
    };
    if own.per_task > 1 || own.without_null > 1 {
        return Err(Status::BAD_KIND);
    }
    if own.per_task == 1 {
        block = block.per_task();
    }
    if own.without_null == 1 {
        block = block.without_null();
    }
    Ok(match position(own.scaled_by, CatalogError::BlockSignal)? {
        Some(signal) => block.scaled_by(signal),
        None => block,
    })
}

/// # Safety
/// See [`definition`].
unsafe fn parts(
    arena: &mut Arena,
    parts: *const layout::Part,
    count: u16,
    error: CatalogError,
) -> Result<&'static [Part<'static>], Status> {
    if usize::from(count) > MAX_COMPONENTS {
        return Err(error.into());
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        arena.make(slice(parts, usize::from(count))?, |_, part| {
            Ok(Part::new(part.component, slice(part.values, usize::from(part.value_count))?))
        })
    }
}

/// # Safety
/// See [`definition`].
unsafe fn condition(own: &layout::Condition) -> Result<Condition<'static>, Status> {
    let (signal, threshold) = (own.signal, own.threshold);
    Ok(match own.kind {
        0 => Condition::Always,
        1 => Condition::Above(signal, threshold),
        2 => Condition::AtLeast(signal, threshold),
        3 => Condition::AtMost(signal, threshold),
        4 => Condition::Below(signal, threshold),
        // SAFETY: guaranteed by the caller.
        5 => Condition::Tasks(unsafe { slice(own.tasks, usize::from(own.task_count)) }?),
        _ => return Err(Status::BAD_KIND),
    })
}

/// # Safety
/// See [`definition`].
unsafe fn contrast(own: &layout::Contrast, components: usize) -> Result<Contrast<'static>, Status> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let signals = slice(own.signals, usize::from(own.signal_count))?;
        let contrast =
            Contrast::new(text(own.name)?, slice(own.prefer, components)?, slice(own.over, components)?);
        let contrast = contrast.when(position(own.task, CatalogError::ContrastContext)?, signals);
        Ok(contrast.says(text_or_empty(own.positive)?, text_or_empty(own.negative)?))
    }
}

/// # Safety
/// See [`definition`].
unsafe fn rule(arena: &mut Arena, own: &layout::Rule) -> Result<StandingRule<'static>, Status> {
    let effect = match own.effect {
        0 => Effect::Forbid,
        1 => Effect::Require,
        2 => Effect::Only,
        _ => return Err(Status::BAD_KIND),
    };
    // SAFETY: guaranteed by the caller.
    unsafe {
        let pattern = parts(arena, own.parts, own.part_count, CatalogError::RuleValues)?;
        Ok(Rule { name: text(own.name)?, effect, pattern }.when(condition(&own.when)?))
    }
}

/// # Safety
/// The texts are valid and do not change.
unsafe fn settings(own: &layout::Settings) -> Result<Settings<'static>, Status> {
    let some = |number: f64, none: bool| (!none).then_some(number);
    let [a, b, c, d] = own.retained;
    // SAFETY: guaranteed by the caller.
    let (context_adapter, feedback_adapter) =
        unsafe { (text_or_empty(own.context_adapter)?, text_or_empty(own.feedback_adapter)?) };
    Ok(Settings {
        noise_variance: own.noise_variance,
        precision_per_feature: own.precision_per_feature,
        base_precision: some(own.base_precision, own.base_precision == 0.0),
        cost_weight: own.cost_weight,
        exploration: match own.exploration {
            0 => Exploration::Constant(own.explore),
            1 => Exploration::Theorem { delta: own.explore },
            #[cfg(feature = "adapt")]
            2 => Exploration::Optimistic(own.explore),
            #[cfg(not(feature = "adapt"))]
            2 => return Err(Status::UNSUPPORTED),
            _ => return Err(Status::BAD_KIND),
        },
        scale: match own.scale {
            0 => Scale::Fixed,
            1 => Scale::Learned,
            _ => return Err(Status::BAD_KIND),
        },
        half_life: (own.half_life != 0).then_some(own.half_life),
        on_change: match own.on_change {
            0 => OnChange::Tell,
            1 => OnChange::Halve,
            2 => OnChange::Reset,
            _ => return Err(Status::BAD_KIND),
        },
        alpha: own.alpha,
        prior_radius: some(own.prior_radius, own.prior_radius < 0.0),
        noise_proxy: some(own.noise_proxy, own.noise_proxy == 0.0),
        probe: own.probe,
        min_evidence: own.min_evidence,
        deadline: match own.deadline_kind {
            0 => Deadline::None,
            1 => Deadline::Rounds(own.deadline),
            2 => Deadline::Time(own.deadline),
            _ => return Err(Status::BAD_KIND),
        },
        expiry: match own.expiry {
            0 => Expiry::Nothing,
            1 => Expiry::Impute(own.imputed),
            _ => return Err(Status::BAD_KIND),
        },
        retained: BlockSet::from_words([a, b, c, d]),
        seed: own.seed,
        site: own.site,
        context_adapter,
        feedback_adapter,
    })
}

/// Reserves the parts of a policy, in the order of memory, and converts the definition.
///
/// # Safety
/// See [`definition`].
unsafe fn lay_out(arena: &mut Arena, catalog: &layout::Definition) -> Result<PolicyParts, Status> {
    let (handle, policy, known) = (arena.reserve(1), arena.reserve(1), arena.reserve(1));
    // SAFETY: guaranteed by the caller.
    let definition = unsafe { definition(arena, catalog) }?;
    Ok(PolicyParts { handle, policy, catalog: known, definition })
}

/// Memory of the parts of a policy.
struct PolicyParts {
    handle: *mut Handle,
    policy: *mut Policy<'static, f32>,
    catalog: *mut Catalog<'static>,
    definition: Definition<'static>,
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_policy_size(catalog: *const layout::Definition) -> usize {
    let mut arena = Arena { start: core::ptr::null_mut(), used: 0 };
    // SAFETY: guaranteed by the caller, see the header; nothing is written.
    let counted = unsafe { reference(catalog).and_then(|catalog| lay_out(&mut arena, catalog)) };
    counted.map_or(0, |_| arena.used)
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_policy_init(
    memory: *mut c_void,
    size: usize,
    catalog: *const layout::Definition,
    settings: *const layout::Settings,
    policy: *mut *const Handle,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (catalog, out) = unsafe { (reference(catalog)?, reference_mut(policy)?) };
        if memory.is_null() {
            return Err(Status::NULL);
        }
        if !memory.addr().is_multiple_of(ALIGNMENT) {
            return Err(Status::MISALIGNED);
        }
        let settings = if settings.is_null() {
            DEFAULT.ok_or(Status::UNSUPPORTED)?
        } else {
            // SAFETY: guaranteed by the caller, see the header.
            unsafe { self::settings(reference(settings)?) }?
        };
        let mut count = Arena { start: core::ptr::null_mut(), used: 0 };
        // SAFETY: guaranteed by the caller, see the header; nothing is written.
        unsafe { lay_out(&mut count, catalog) }?;
        if size < count.used {
            return Err(Status::TOO_SMALL);
        }
        let mut arena = Arena { start: memory.cast(), used: 0 };
        // SAFETY: the memory has at least the counted size and belongs to the caller. Written parts do not
        // change any more.
        unsafe {
            memory.cast::<usize>().write(0); // no valid mark until the policy is complete
            let parts = lay_out(&mut arena, catalog)?;
            write_catalog(parts.catalog, parts.definition)?;
            write_policy(parts.policy, &*parts.catalog, settings)?;
            parts.handle.write(Handle::at(parts.handle.addr(), &*parts.policy));
            *out = parts.handle;
        }
        Ok(())
    })())
}

/// Writes a catalog. Not inlined, because a catalog is large and its stack frame is freed on return.
///
/// # Safety
/// `target` is valid for writing a catalog.
#[inline(never)]
unsafe fn write_catalog(
    target: *mut Catalog<'static>,
    definition: Definition<'static>,
) -> Result<(), Status> {
    match &Catalog::try_new(definition) {
        Ok(catalog) => {
            // SAFETY: guaranteed by the caller; a catalog is plain data and is copied once.
            unsafe { target.copy_from_nonoverlapping(catalog, 1) };
            Ok(())
        }
        Err(error) => Err((*error).into()),
    }
}

/// Writes a policy. Not inlined, to free its stack frame on return.
///
/// # Safety
/// `target` is valid for writing a policy.
#[inline(never)]
unsafe fn write_policy(
    target: *mut Policy<'static, f32>,
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
) -> Result<(), Status> {
    let policy = Policy::new(catalog, settings)?;
    // SAFETY: guaranteed by the caller.
    unsafe { target.write(policy) };
    Ok(())
}

/// Settings for a null pointer.
#[cfg(feature = "adapt")]
const DEFAULT: Option<Settings<'static>> = Some(Settings::DEFAULT);
#[cfg(not(feature = "adapt"))]
const DEFAULT: Option<Settings<'static>> = None;
