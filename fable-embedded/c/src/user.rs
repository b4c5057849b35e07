//! A user in memory of the caller: made, started, asked to decide, taught.

use crate::borrow::{many, one, place};
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

/// Decisions that can wait, and promotions.
pub const ROOM: usize = 8;
/// What all memory is aligned to.
pub const ALIGNMENT: usize = 8;
/// What tells a user from other memory, together with its address.
const MARK: usize = 0x4641_4255;

/// The numbers of a user, in the memory after its [`Handle`].
#[derive(Debug)]
pub(crate) struct Numbers {
    start: NonNull<f32>,
    length: usize,
}

impl AsRef<[f32]> for Numbers {
    fn as_ref(&self) -> &[f32] {
        // SAFETY: `fable_user_init` has found room for so many numbers there and made them 0; they belong to this user alone.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl AsMut<[f32]> for Numbers {
    fn as_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and whoever has this has the user for itself.
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
    learner: Learner<f32, Numbers, ROOM>,
}

const _: () =
    assert!(align_of::<Handle>() <= ALIGNMENT && size_of::<Handle>().is_multiple_of(align_of::<f32>()));

/// Bytes that a user of a catalog takes.
pub(crate) const fn user_size(catalog: &Catalog<'_>) -> usize {
    size_of::<Handle>() + catalog.state_len() * size_of::<f32>()
}

/// Memory of the caller that is large enough and well aligned.
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
        // SAFETY: the promise of the caller, as in the header.
        let (policy_used, user) = unsafe { (self::policy(policy)?, place(user)?) };
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
        // SAFETY: `user_size` has room for the numbers after the handle, and a handle's size is a multiple of their alignment. Both
        // memories are large enough for what is written, and the caller's.
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

/// The handle that a pointer is to.
///
/// # Safety
/// A pointer that is neither null nor misaligned is to readable memory of a handle's size; if it has its mark, it was made by
/// `fable_user_init` and nobody else uses it, nor its workspace, as long as the reference is used.
#[inline(never)]
unsafe fn opened<'u>(handle: *mut Handle) -> Result<&'u mut Handle, Status> {
    if handle.is_null() {
        return Err(Status::NULL);
    }
    if !handle.is_aligned() {
        return Err(Status::NOT_A_USER);
    }
    // SAFETY: the pointer is aligned, and what it is to can be read.
    if unsafe { (&raw const (*handle).mark).read() } != handle.addr() ^ MARK {
        return Err(Status::NOT_A_USER);
    }
    // SAFETY: as the mark says, the handle was written by this library.
    unsafe { place(handle) }
}

/// What is known, and nothing else.
///
/// # Safety
/// As for [`opened`].
#[cfg(feature = "record")]
pub(crate) unsafe fn learner<'u>(handle: *mut Handle) -> Result<&'u Learner<f32, Numbers, ROOM>, Status> {
    // SAFETY: the caller's promise.
    Ok(&unsafe { opened(handle) }?.learner)
}

/// What belongs together: policy, learner and workspace.
type Parts<'u> = (&'static Policy<'static, f32>, &'u mut Learner<f32, Numbers, ROOM>, &'u mut [f32]);

/// # Safety
/// As for [`opened`].
#[inline(always)]
#[expect(clippy::inline_always, reason = "so that a policy which is a constant is seen to be one")]
pub(crate) unsafe fn parts<'u>(handle: *mut Handle) -> Result<Parts<'u>, Status> {
    // SAFETY: the caller's promise; the workspace has the length that the handle says.
    unsafe {
        let handle = opened(handle)?;
        let workspace = core::slice::from_raw_parts_mut(handle.workspace.as_ptr(), handle.workspace_length);
        Ok((policy(handle.policy)?, &mut handle.learner, workspace))
    }
}

/// A user with all the verbs.
///
/// # Safety
/// As for [`opened`].
#[cfg(any(feature = "runtime", not(builtin)))]
#[inline(never)]
pub(crate) unsafe fn user<'u>(handle: *mut Handle) -> Result<User<'u, f32>, Status> {
    // SAFETY: the caller's promise.
    let (policy, learner, workspace) = unsafe { parts(handle) }?;
    Ok(learner.bind(policy, workspace)?)
}

/// The same where there is only one policy: every call sees that it is a constant.
///
/// # Safety
/// As for [`opened`].
#[cfg(all(builtin, not(feature = "runtime")))]
#[inline(always)]
#[expect(clippy::inline_always, reason = "as above")]
pub(crate) unsafe fn user<'u>(handle: *mut Handle) -> Result<User<'u, f32>, Status> {
    // SAFETY: the caller's promise.
    let (policy, learner, workspace) = unsafe { parts(handle) }?;
    Ok(learner.bind(policy, workspace)?)
}

/// A context by positions.
///
/// # Safety
/// As the header says.
pub(crate) unsafe fn context(catalog: &Catalog<'_>, context: &CContext) -> Result<Context, Status> {
    // SAFETY: the caller's promise.
    let signals = unsafe { many(context.signals, usize::from(context.signal_count)) }?;
    Ok(Context::new(catalog, usize::from(context.task).checked_sub(1), signals)?)
}

/// Default scores, if there are some.
///
/// # Safety
/// As the header says.
pub(crate) unsafe fn defaults<'d>(defaults: *const f64, count: usize) -> Result<Option<&'d [f64]>, Status> {
    if defaults.is_null() && count == 0 {
        return Ok(None);
    }
    if !cfg!(feature = "defaults") {
        return Err(Status::UNSUPPORTED);
    }
    // SAFETY: the caller's promise.
    unsafe { many(defaults, count) }.map(Some)
}

/// A set of the caller, or everything.
#[cfg(not(feature = "sets"))]
fn feasible(catalog: &Catalog<'_>, set: *const Set) -> Result<Feasible, Status> {
    if set.is_null() { Ok(Feasible::all(catalog)) } else { Err(Status::UNSUPPORTED) }
}

/// A set of the caller, or everything. A function of its own: a compiler that sees both ends of the copy makes one of it that minds
/// overlaps, which takes more than a kilobyte.
///
/// # Safety
/// As the header says.
#[cfg(feature = "sets")]
#[inline(never)]
unsafe fn feasible(catalog: &Catalog<'_>, set: *const Set) -> Result<Feasible, Status> {
    if set.is_null() {
        return Ok(Feasible::all(catalog));
    }
    // SAFETY: the caller's promise.
    Ok(Feasible::from_set(catalog, fable_core::catalog::ActionSet::from_words(unsafe { one(set) }?.words))?)
}

/// What a request asks for, handed to a body.
///
/// # Safety
/// As the header says.
pub(crate) unsafe fn requested<R>(
    handle: *mut Handle,
    request: *const CRequest,
    body: impl FnOnce(&mut User<'_, f32>, &Request<'_>) -> Result<R, Status>,
) -> Result<R, Status> {
    // SAFETY: the caller's promise.
    let (mut user, asked) = unsafe { (user(handle)?, one(request)?) };
    let catalog = user.policy().catalog();
    // SAFETY: the caller's promise.
    let (context, defaults) = unsafe {
        (context(catalog, &asked.context)?, defaults(asked.defaults, usize::from(asked.default_count))?)
    };
    // SAFETY: the caller's promise.
    #[cfg(feature = "sets")]
    let feasible = unsafe { feasible(catalog, asked.feasible) }?;
    #[cfg(not(feature = "sets"))]
    let feasible = feasible(catalog, asked.feasible)?;
    body(&mut user, &Request { defaults, time: asked.now, ..Request::new(&context, &feasible) })
}

pub(crate) const fn id(id: &CDecisionId) -> DecisionId {
    DecisionId { user: id.user, incarnation: id.incarnation, site: id.origin, round: id.round }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_user_hash(name: *const c_char, hash: *mut u64) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (name, hash) = unsafe { (crate::borrow::text(name)?, place(hash)?) };
        *hash = user_hash(name);
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_start(user: *mut Handle, hash: u64) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (policy, learner, _) = unsafe { parts(user) }?;
        Ok(learner.start(policy, hash)?)
    })())
}

/// See the header.
#[cfg(feature = "forget")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_forget(user: *mut Handle) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
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
        // SAFETY: the promise of the caller, as in the header.
        let out = unsafe { place(decision) }?;
        let decide = |user: &mut User<'_, f32>, request: &Request<'_>| {
            let Decision { id, action, baseline } = user.decide(request)?;
            let mut values = [0; 8];
            for (slot, value) in
                values.iter_mut().zip(&user.policy().catalog().values(action).unwrap_or_default())
            {
                *slot = *value;
            }
            let DecisionId { user, incarnation, site: origin, round } = id;
            Ok(CDecision {
                id: CDecisionId { user, incarnation, origin, round },
                baseline,
                action: action.0,
                values,
            })
        };
        // SAFETY: the promise of the caller, as in the header.
        *out = unsafe { requested(user, request, decide) }?;
        Ok(())
    })())
}

/// # Safety
/// As the header says.
unsafe fn feedback(user: *mut Handle, id: *const CDecisionId, reward: f64, weight: f32, now: u32) -> i32 {
    number((|| {
        // SAFETY: the caller's promise.
        let (mut user, id) = unsafe { (self::user(user)?, one(id)?) };
        user.feedback_weighted(self::id(id), reward, weight, now)?;
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_feedback(user: *mut Handle, id: *const CDecisionId, reward: f64) -> i32 {
    // SAFETY: the promise of the caller, as in the header.
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
    // SAFETY: the promise of the caller, as in the header.
    unsafe { feedback(user, id, reward, weight, now) }
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_progress_of(user: *mut Handle, progress: *mut Progress) -> i32 {
    number((|| {
        // SAFETY: the promise of the caller, as in the header.
        let (user, progress) = unsafe { (self::user(user)?, place(progress)?) };
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
