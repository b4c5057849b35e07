//! A catalog of C structures as one of Rust, in memory of the caller.
//!
//! The texts and the lists of small numbers stay where they are. What has references in it is made anew: C has pointers and
//! counts there, and texts without a length. One walk counts what is needed and finds null pointers, a second one writes.

use crate::borrow::{many, one, place, text, text_or_empty};
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

/// Memory that is handed out from its start. Without a place it only counts.
struct Arena {
    start: *mut u8,
    used: usize,
}

impl Arena {
    /// The place of so many things, aligned.
    fn reserve<T>(&mut self, count: usize) -> *mut T {
        self.used = self.used.next_multiple_of(align_of::<T>());
        let place = self.start.wrapping_add(self.used).cast::<T>();
        self.used += count * size_of::<T>();
        place
    }

    /// Makes things of others, one by one; none where it only counts.
    ///
    /// # Safety
    /// If there is a place, it has room for all that is made.
    unsafe fn make<'a, F, T: 'a>(
        &mut self,
        from: &[F],
        mut convert: impl FnMut(&mut Self, &F) -> Result<T, Status>,
    ) -> Result<&'a [T], Status> {
        let place = self.reserve::<T>(from.len());
        for (index, item) in from.iter().enumerate() {
            let made = convert(self, item)?;
            if !self.start.is_null() {
                // SAFETY: the place was counted with all of `from`, is aligned, and nothing else is there.
                unsafe { place.wrapping_add(index).write(made) };
            }
        }
        if self.start.is_null() || from.is_empty() {
            return Ok(&[]);
        }
        // SAFETY: all of them were written just now, and nobody changes them any more.
        Ok(unsafe { core::slice::from_raw_parts(place, from.len()) })
    }
}

/// What may be in a catalog, looked at before anything is counted.
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

/// A position that may be missing.
fn position(at: u16, error: CatalogError) -> Result<Option<u8>, Status> {
    at.checked_sub(1).map(|position| u8::try_from(position).map_err(|_| error.into())).transpose()
}

/// The catalog in memory of the arena.
///
/// # Safety
/// The structures are as the header says and stay so; if the arena has a place, it has room for all of them.
unsafe fn definition(arena: &mut Arena, catalog: &layout::Definition) -> Result<Definition<'static>, Status> {
    admit(catalog)?;
    // SAFETY: the caller's promise, about every pointer in the structures.
    unsafe {
        let name = text(catalog.name)?;
        let components = many(catalog.components, usize::from(catalog.component_count))?;
        let components = arena.make(components, |arena, own| component(arena, own))?;
        let names = |_: &mut Arena, name: &*const c_char| text(*name);
        let tasks = arena.make(many(catalog.tasks, usize::from(catalog.task_count))?, names)?;
        let signals = arena.make(many(catalog.signals, usize::from(catalog.signal_count))?, names)?;
        let blocks =
            arena.make(many(catalog.blocks, usize::from(catalog.block_count))?, |_, own| block(own))?;
        let terms = arena.make(many(catalog.terms, usize::from(catalog.term_count))?, |arena, own| {
            let applies = parts(arena, own.parts, own.part_count, CatalogError::TermValues)?;
            Ok(Term::new(own.weight, condition(&own.when)?, applies))
        })?;
        let count = usize::from(catalog.component_count);
        let contrasts = many(catalog.contrasts, usize::from(catalog.contrast_count))?;
        let contrasts = arena.make(contrasts, |_, own| contrast(own, count))?;
        let rules = arena
            .make(many(catalog.rules, usize::from(catalog.rule_count))?, |arena, own| rule(arena, own))?;
        Ok(Definition { name, components, tasks, signals, blocks, terms, contrasts, rules })
    }
}

/// # Safety
/// As for [`definition`].
unsafe fn component(arena: &mut Arena, own: &layout::Component) -> Result<Component<'static>, Status> {
    if usize::from(own.value_count) > MAX_VALUES {
        return Err(CatalogError::ValueCount.into());
    }
    // SAFETY: the caller's promise.
    unsafe {
        let values = many(own.values, usize::from(own.value_count))?;
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
/// As for [`definition`].
unsafe fn parts(
    arena: &mut Arena,
    parts: *const layout::Part,
    count: u16,
    error: CatalogError,
) -> Result<&'static [Part<'static>], Status> {
    if usize::from(count) > MAX_COMPONENTS {
        return Err(error.into());
    }
    // SAFETY: the caller's promise.
    unsafe {
        arena.make(many(parts, usize::from(count))?, |_, part| {
            Ok(Part::new(part.component, many(part.values, usize::from(part.value_count))?))
        })
    }
}

/// # Safety
/// As for [`definition`].
unsafe fn condition(own: &layout::Condition) -> Result<Condition<'static>, Status> {
    let (signal, threshold) = (own.signal, own.threshold);
    Ok(match own.kind {
        0 => Condition::Always,
        1 => Condition::Above(signal, threshold),
        2 => Condition::AtLeast(signal, threshold),
        3 => Condition::AtMost(signal, threshold),
        4 => Condition::Below(signal, threshold),
        // SAFETY: the caller's promise.
        5 => Condition::Tasks(unsafe { many(own.tasks, usize::from(own.task_count)) }?),
        _ => return Err(Status::BAD_KIND),
    })
}

/// # Safety
/// As for [`definition`].
unsafe fn contrast(own: &layout::Contrast, components: usize) -> Result<Contrast<'static>, Status> {
    // SAFETY: the caller's promise.
    unsafe {
        let signals = many(own.signals, usize::from(own.signal_count))?;
        let contrast =
            Contrast::new(text(own.name)?, many(own.prefer, components)?, many(own.over, components)?);
        let contrast = contrast.when(position(own.task, CatalogError::ContrastContext)?, signals);
        Ok(contrast.says(text_or_empty(own.positive)?, text_or_empty(own.negative)?))
    }
}

/// # Safety
/// As for [`definition`].
unsafe fn rule(arena: &mut Arena, own: &layout::Rule) -> Result<StandingRule<'static>, Status> {
    let effect = match own.effect {
        0 => Effect::Forbid,
        1 => Effect::Require,
        2 => Effect::Only,
        _ => return Err(Status::BAD_KIND),
    };
    // SAFETY: the caller's promise.
    unsafe {
        let pattern = parts(arena, own.parts, own.part_count, CatalogError::RuleValues)?;
        Ok(Rule { name: text(own.name)?, effect, pattern }.when(condition(&own.when)?))
    }
}

/// # Safety
/// The texts stay as they are.
unsafe fn settings(own: &layout::Settings) -> Result<Settings<'static>, Status> {
    let some = |number: f64, none: bool| (!none).then_some(number);
    let [a, b, c, d] = own.retained;
    // SAFETY: the caller's promise.
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
        site: own.origin,
        context_adapter,
        feedback_adapter,
    })
}

/// The parts of a policy in the order in which they are in memory; bytes that they take, or would take.
///
/// # Safety
/// As for [`definition`].
unsafe fn place_all(arena: &mut Arena, catalog: &layout::Definition) -> Result<Places, Status> {
    let (handle, policy, known) = (arena.reserve(1), arena.reserve(1), arena.reserve(1));
    // SAFETY: the caller's promise.
    let definition = unsafe { definition(arena, catalog) }?;
    Ok(Places { handle, policy, catalog: known, definition })
}

struct Places {
    handle: *mut Handle,
    policy: *mut Policy<'static, f32>,
    catalog: *mut Catalog<'static>,
    definition: Definition<'static>,
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_policy_size(catalog: *const layout::Definition) -> usize {
    let mut arena = Arena { start: core::ptr::null_mut(), used: 0 };
    // SAFETY: the promise of the caller, as in the header; nothing is written.
    let counted = unsafe { one(catalog).and_then(|catalog| place_all(&mut arena, catalog)) };
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
        // SAFETY: the promise of the caller, as in the header.
        let (catalog, out) = unsafe { (one(catalog)?, place(policy)?) };
        if memory.is_null() {
            return Err(Status::NULL);
        }
        if !memory.addr().is_multiple_of(ALIGNMENT) {
            return Err(Status::MISALIGNED);
        }
        let settings = if settings.is_null() {
            DEFAULT.ok_or(Status::UNSUPPORTED)?
        } else {
            // SAFETY: the promise of the caller, as in the header.
            unsafe { self::settings(one(settings)?) }?
        };
        let mut count = Arena { start: core::ptr::null_mut(), used: 0 };
        // SAFETY: the promise of the caller, as in the header; nothing is written.
        unsafe { place_all(&mut count, catalog) }?;
        if size < count.used {
            return Err(Status::TOO_SMALL);
        }
        let mut arena = Arena { start: memory.cast(), used: 0 };
        // SAFETY: the memory has room for what was counted, and is the caller's. What was written there is not changed any more.
        unsafe {
            memory.cast::<usize>().write(0); // no policy is here until all of it is
            let places = place_all(&mut arena, catalog)?;
            write_catalog(places.catalog, places.definition)?;
            write_policy(places.policy, &*places.catalog, settings)?;
            places.handle.write(Handle::at(places.handle.addr(), &*places.policy));
            *out = places.handle;
        }
        Ok(())
    })())
}

/// A catalog is large: what makes one has a stack frame of its own, which is gone afterwards.
///
/// # Safety
/// There is room for a catalog.
#[inline(never)]
unsafe fn write_catalog(place: *mut Catalog<'static>, definition: Definition<'static>) -> Result<(), Status> {
    match &Catalog::try_new(definition) {
        Ok(catalog) => {
            // SAFETY: the caller's promise; a catalog is plain data, and is copied once.
            unsafe { place.copy_from_nonoverlapping(catalog, 1) };
            Ok(())
        }
        Err(error) => Err((*error).into()),
    }
}

/// The same for a policy.
///
/// # Safety
/// There is room for a policy.
#[inline(never)]
unsafe fn write_policy(
    place: *mut Policy<'static, f32>,
    catalog: &'static Catalog<'static>,
    settings: Settings<'static>,
) -> Result<(), Status> {
    let policy = Policy::new(catalog, settings)?;
    // SAFETY: the caller's promise.
    unsafe { place.write(policy) };
    Ok(())
}

/// What null settings stand for.
#[cfg(feature = "adapt")]
const DEFAULT: Option<Settings<'static>> = Some(Settings::DEFAULT);
#[cfg(not(feature = "adapt"))]
const DEFAULT: Option<Settings<'static>> = None;
