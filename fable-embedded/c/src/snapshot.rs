//! Snapshots of a user.

use crate::borrow::{reference_mut, slice, slice_mut};
use crate::status::{Status, number};
use crate::user::{Handle, learner, parts};
use core::ffi::{c_int, c_void};

/// Most bytes per call of a sink.
const CHUNK: usize = 64;

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_save(
    user: *mut Handle,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let (learner, out, length) =
            unsafe { (learner(user)?, slice_mut(buffer.cast::<u8>(), size)?, reference_mut(length)?) };
        let (mut counted, mut needed, mut chunk) = (learner.snapshot()?, 0, [0; CHUNK]);
        while let more @ 1.. = counted.read(&mut chunk) {
            needed += more;
        }
        *length = needed;
        if needed > out.len() {
            return Err(Status::TOO_SMALL);
        }
        learner.snapshot()?.read(out);
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_save_to(
    user: *mut Handle,
    sink: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int>,
    context: *mut c_void,
) -> i32 {
    number((|| {
        let sink = sink.ok_or(Status::NULL)?;
        // SAFETY: guaranteed by the caller, see the header.
        let learner = unsafe { learner(user) }?;
        let mut snapshot = learner.snapshot()?;
        let mut chunk = [0_u8; CHUNK];
        while let written @ 1.. = snapshot.read(&mut chunk) {
            // SAFETY: the caller guarantees the sink, and the chunk has at least `written` bytes.
            if unsafe { sink(context, chunk.as_ptr().cast(), written) } != 0 {
                return Err(Status::SINK);
            }
        }
        Ok(())
    })())
}

/// See the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fable_load(user: *mut Handle, bytes: *const c_void, length: usize) -> i32 {
    number((|| {
        // SAFETY: guaranteed by the caller, see the header.
        let ((policy, learner, _), bytes) = unsafe { (parts(user)?, slice(bytes.cast::<u8>(), length)?) };
        Ok(learner.restore(policy, bytes)?)
    })())
}
