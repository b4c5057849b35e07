//! A user in memory of the caller: initialization, start, decisions and feedback.

use crate::borrow::{reference, reference_mut, slice};
use crate::layout::{
    Context as CContext, Decision as CDecision, DecisionId as CDecisionId, Progress, Request as CRequest, Set,
};
use crate::policy::{self, policy};
use crate::status::{Status, number};
use core::ffi::{c_char, c_void};
use core::ptr::NonNull;
use fable_core::{
    Catalog, Context, Decision, DecisionId, Feasible, Learner, Policy, Request, User, user_hash,
};

/// Capacity of the ring of waiting decisions and of the profile.
pub const CAPACITY: usize = 8;
/// Alignment of all memory.
pub const ALIGNMENT: usize = 8;
/// Mark of a user, combined with its address.
const MARK: usize = 0x4641_4255;

/// Storage of a user's numbers, in the memory after its [`Handle`].
#[derive(Debug)]
pub(crate) struct Numbers {
    start: NonNull<f32>,
    length: usize,
}

impl AsRef<[f32]> for Numbers {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: `fable_user_init` checked the size and set these numbers to 0. They belong to this user
        // alone.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl AsMut<[f32]> for Numbers {
    fn as_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the exclusive reference gives exclusive access to the user.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

/// A `fable_user`.
#[derive(Debug)]
#[repr(C)]
pub struct Handle {
    mark: usize,
    policy: *const policy::Handle,
    workspace: NonNull<f32>,
    workspace_length: usize,
    learner: Learner<f32, Numbers, CAPACITY>,
}

const _: () =
    assert!(align_of::<Handle>() <= ALIGNMENT && size_of::<Handle>().is_multiple_of(align_of::<f32>()));

/// Bytes of a user of a catalog.
pub(crate) const fn user_size(catalog: &Catalog<'_>) -> usize {
    size_of::<Handle>() + catalog.state_len() * size_of::<f32>()
}

/// Checks that memory of the caller is large enough and aligned.
fn memory(memory: *mut c_void, size: usize, needed: usize) -> Result<NonNull<c_void>, Status> {
    let memory = NonNull::new(memory).ok_or(Status::NULL)?;
    if !memory.addr().get().is_multiple_of(ALIGNMENT) {
        Err(Status::MISALIGNED)
    } else if size < needed {
        Err(Status::TOO_SMALL)
    } else {
        Ok(memory)
    }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_init(
    memory: *mut c_void,
    size: usize,
    policy: *const policy::Handle,
    workspace: *mut c_void,
    workspace_size: usize,
    user: *mut *mut Handle,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy_used, user) = unsafe { (self::policy(policy)?, reference_mut(user)?) };
        let catalog = policy_used.catalog();
        let (state_length, workspace_length) = (catalog.state_len(), catalog.workspace_len());
        let memory = self::memory(memory, size, user_size(catalog))?;
        let workspace =
            self::memory(workspace, workspace_size, workspace_length * size_of::<f32>())?.cast::<f32>();
        let (first, second) = (memory.addr().get(), workspace.addr().get());
        if first < second + workspace_length * size_of::<f32>() && second < first + user_size(catalog) {
            return Err(Status::OVERLAP);
        }
        let handle = memory.cast::<Handle>();
        // SAFETY: the memory has at least `user_size` bytes, so the numbers fit after the handle. A handle's
        // size is a multiple of their alignment. The workspace was checked too.
        let start = unsafe {
            let start = memory.byte_add(size_of::<Handle>()).cast::<f32>();
            start.write_bytes(0, state_length);
            workspace.write_bytes(0, workspace_length);
            start
        };
        let learner = Learner::from_storage(Numbers { start, length: state_length });
        let mark = handle.addr().get() ^ MARK;
        // SAFETY: the memory is aligned, and large enough for a handle.
        unsafe { handle.write(Handle { mark, policy, workspace, workspace_length, learner }) };
        *user = handle.as_ptr();
        Ok(())
    })())
}

/// The handle behind a pointer.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to readable memory of a handle's size. If the
/// memory has the mark, `fable_user_init` made the user, and no other reference uses the user or its
/// workspace.
#[inline(never)]
unsafe fn handle_mut<'u>(handle: *mut Handle) -> Result<&'u mut Handle, Status> {
    if handle.is_null() {
        return Err(Status::NULL);
    }
    if !handle.is_aligned() {
        return Err(Status::NOT_A_USER);
    }
    // SAFETY: the pointer is aligned and the memory is readable.
    if unsafe { (&raw const (*handle).mark).read() } != handle.addr() ^ MARK {
        return Err(Status::NOT_A_USER);
    }
    // SAFETY: the mark shows that this library wrote the handle.
    unsafe { reference_mut(handle) }
}

/// The learner of a user.
///
/// # Safety
/// See [`handle_mut`].
#[cfg(feature = "record")]
pub(crate) unsafe fn learner<'u>(handle: *mut Handle) -> Result<&'u Learner<f32, Numbers, CAPACITY>, Status> {
    // SAFETY: guaranteed by the caller.
    Ok(&unsafe { handle_mut(handle) }?.learner)
}

/// Policy, learner and workspace of a user.
type Parts<'u> = (&'static Policy<'static, f32>, &'u mut Learner<f32, Numbers, CAPACITY>, &'u mut [f32]);

/// # Safety
/// See [`handle_mut`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that the compiler sees a constant policy")]
pub(crate) unsafe fn parts<'u>(handle: *mut Handle) -> Result<Parts<'u>, Status> {
    // SAFETY: guaranteed by the caller; the handle has the workspace's length.
    unsafe {
        let handle = handle_mut(handle)?;
        let workspace = core::slice::from_raw_parts_mut(handle.workspace.as_ptr(), handle.workspace_length);
        Ok((policy(handle.policy)?, &mut handle.learner, workspace))
    }
}

/// The user of a handle, joined with its policy and workspace.
///
/// # Safety
/// See [`handle_mut`].
#[cfg(any(feature = "runtime", not(builtin)))]
#[inline(never)]
pub(crate) unsafe fn user<'u>(handle: *mut Handle) -> Result<User<'u, f32>, Status> {
    // SAFETY: guaranteed by the caller.
    let (policy, learner, workspace) = unsafe { parts(handle) }?;
    Ok(learner.bind(policy, workspace)?)
}

/// The user of a handle. With only one policy, the compiler sees a constant in every call.
///
/// # Safety
/// See [`handle_mut`].
#[cfg(all(builtin, not(feature = "runtime")))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
pub(crate) unsafe fn user<'u>(handle: *mut Handle) -> Result<User<'u, f32>, Status> {
    // SAFETY: guaranteed by the caller.
    let (policy, learner, workspace) = unsafe { parts(handle) }?;
    Ok(learner.bind(policy, workspace)?)
}

/// Converts a context.
///
/// # Safety
/// See the header.
pub(crate) unsafe fn context(catalog: &Catalog<'_>, context: &CContext) -> Result<Context, Status> {
    // SAFETY: guaranteed by the caller.
    let signals = unsafe { slice(context.signals, usize::from(context.signal_count)) }?;
    Ok(Context::new(catalog, usize::from(context.task).checked_sub(1), signals)?)
}

/// Default scores, if given.
///
/// # Safety
/// See the header.
pub(crate) unsafe fn defaults<'d>(defaults: *const f64, count: usize) -> Result<Option<&'d [f64]>, Status> {
    if defaults.is_null() && count == 0 {
        return Ok(None);
    }
    if !cfg!(feature = "defaults") {
        return Err(Status::UNSUPPORTED);
    }
    // SAFETY: guaranteed by the caller.
    unsafe { slice(defaults, count) }.map(Some)
}

/// All actions; a set of the caller is refused.
#[cfg(not(feature = "sets"))]
fn feasible(catalog: &Catalog<'_>, set: *const Set) -> Result<Feasible, Status> {
    if set.is_null() { Ok(Feasible::all(catalog)) } else { Err(Status::UNSUPPORTED) }
}

/// A set of the caller, or all actions.
///
/// Not inlined: otherwise the compiler copies the set with a call for overlapping memory, which takes more
/// than a kilobyte.
///
/// # Safety
/// See the header.
#[cfg(feature = "sets")]
#[inline(never)]
unsafe fn feasible(catalog: &Catalog<'_>, set: *const Set) -> Result<Feasible, Status> {
    if set.is_null() {
        return Ok(Feasible::all(catalog));
    }
    // SAFETY: guaranteed by the caller.
    Ok(Feasible::from_set(
        catalog,
        fable_core::catalog::ActionSet::from_words(unsafe { reference(set) }?.words),
    )?)
}

/// Converts a request and calls `body` with the user and the request.
///
/// # Safety
/// See the header.
pub(crate) unsafe fn with_request<R>(
    handle: *mut Handle,
    request: *const CRequest,
    body: impl FnOnce(&mut User<'_, f32>, &Request<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    // SAFETY: guaranteed by the caller.
    let (mut user, asked) = unsafe { (user(handle)?, reference(request)?) };
    let catalog = user.policy().catalog();
    // SAFETY: guaranteed by the caller.
    let (context, defaults) = unsafe {
        (context(catalog, &asked.context)?, defaults(asked.defaults, usize::from(asked.default_count))?)
    };
    // SAFETY: guaranteed by the caller.
    #[cfg(feature = "sets")]
    let feasible = unsafe { feasible(catalog, asked.feasible) }?;
    #[cfg(not(feature = "sets"))]
    let feasible = feasible(catalog, asked.feasible)?;
    body(&mut user, &Request { defaults, time: asked.now, ..Request::new(&context, &feasible) })
}

pub(crate) const fn id(id: &CDecisionId) -> DecisionId {
    DecisionId { user: id.user, incarnation: id.incarnation, site: id.site, round: id.round }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_hash(name: *const c_char, hash: *mut u64) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (name, hash) = unsafe { (crate::borrow::text(name)?, reference_mut(hash)?) };
        *hash = user_hash(name);
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_start(user: *mut Handle, hash: u64) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (policy, learner, _) = unsafe { parts(user) }?;
        Ok(learner.start(policy, hash)?)
    })())
}

/// See the header.
#[cfg(feature = "forget")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_forget(user: *mut Handle) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    number(unsafe { self::user(user) }.and_then(|mut user| Ok(user.forget()?)))
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_decide(
    user: *mut Handle,
    request: *const CRequest,
    decision: *mut CDecision,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let out = unsafe { reference_mut(decision) }?;
        let decide = |user: &mut User<'_, f32>, request: &Request<'_>| {
            let Decision { id, action, baseline } = user.decide(request)?;
            let mut values = [0; 8];
            for (slot, value) in
                values.iter_mut().zip(&user.policy().catalog().values(action).unwrap_or_default())
            {
                *slot = *value;
            }
            let DecisionId { user, incarnation, site, round } = id;
            Ok(CDecision {
                id: CDecisionId { user, incarnation, site, round },
                baseline,
                action: action.0,
                values,
            })
        };
        // SAFETY: guaranteed by the caller, see the header.
        *out = unsafe { with_request(user, request, decide) }?;
        Ok(())
    })())
}

/// # Safety
/// See the header.
unsafe fn feedback(user: *mut Handle, id: *const CDecisionId, reward: f64, weight: f32, now: u32) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller.
        let (mut user, id) = unsafe { (self::user(user)?, reference(id)?) };
        user.feedback_weighted(self::id(id), reward, weight, now)?;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_feedback(user: *mut Handle, id: *const CDecisionId, reward: f64) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { feedback(user, id, reward, 1.0, 0) }
}

/// See the header.
#[cfg(feature = "expire")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_feedback_with(
    user: *mut Handle,
    id: *const CDecisionId,
    reward: f64,
    weight: f32,
    now: u32,
) -> i32 {
    // SAFETY: guaranteed by the caller, see the header.
    unsafe { feedback(user, id, reward, weight, now) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_progress_of(user: *mut Handle, progress: *mut Progress) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (user, progress) = unsafe { (self::user(user)?, reference_mut(progress)?) };
        *progress = Progress {
            user: user.state().user(),
            incarnation: user.state().incarnation(),
            rounds: user.state().rounds(),
            observations: user.state().observations(),
            voided: u8::from(user.state().is_voided()),
        };
        Ok(())
    })())
}
