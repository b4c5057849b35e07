//! What JavaScript calls. Numbers are arguments, text and files go through one buffer in the module's memory.
//!
//! JavaScript asks for [`room`], writes there, calls, and reads the answer where [`address`] says. A call returns the length
//! of its answer, or the length of an error message as a negative number less one; on an error nothing has changed; the least number of all means that an
//! earlier call was cut short. Answers are
//! written with postcard, or the bytes of a file. The names are the module's own on WebAssembly only: elsewhere `read` is the system's. `who` is 0 for the visitor and 1 for the simulated user.
#![allow(unsafe_code, reason = "a name that the linker keeps counts as unsafe; nothing else in here does")]
#![allow(clippy::must_use_candidate, reason = "JavaScript does not see it")]

use crate::answer::Words;
use crate::{Page, PageError, Who};
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use fable_core::Action;
use fable_core::record::RecordError;
use serde::Serialize;
use spin::Mutex;

/// The page, and the buffer that it shares with JavaScript.
struct Module {
    /// In a box: a static of its own size would be zeros in the module's file.
    page: Option<Box<Page>>,
    buffer: Vec<u8>,
}

static MODULE: Mutex<Module> = Mutex::new(Module { page: None, buffer: Vec::new() });

impl Module {
    /// Leaves an answer in the buffer.
    fn answer(&mut self, answer: Result<Vec<u8>, PageError>) -> i32 {
        let (bytes, failed) = match answer {
            Ok(bytes) => (bytes, false),
            Err(error) => (error.to_string().into_bytes(), true),
        };
        self.buffer = bytes;
        let length = i32::try_from(self.buffer.len()).unwrap_or(i32::MAX);
        if failed { -length - 1 } else { length }
    }
}

/// Runs a call that answers with bytes.
fn call(work: impl FnOnce(&mut Page, &[u8]) -> Result<Vec<u8>, PageError>) -> i32 {
    // There is one thread: whoever holds the lock was cut short and will never come back.
    let Some(mut module) = MODULE.try_lock() else { return i32::MIN };
    let Module { page, buffer } = &mut *module;
    let answer = match page {
        Some(page) => work(page, buffer),
        None => Page::new(0).and_then(|new| work(page.insert(Box::new(new)), buffer)),
    };
    module.answer(answer)
}

/// Runs a call that answers with a value.
fn tell<A: Serialize>(work: impl FnOnce(&mut Page, &[u8]) -> Result<A, PageError>) -> i32 {
    call(|page, buffer| postcard::to_allocvec(&work(page, buffer)?).map_err(|_| PageError::Record(RecordError::Buffer)))
}

fn who(who: u32) -> Result<Who, PageError> {
    match who {
        0 => Ok(Who::Visitor),
        1 => Ok(Who::Simulated),
        _ => Err(PageError::Unknown),
    }
}

/// Makes room for what JavaScript is going to write, and returns where.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn room(length: usize) -> *const u8 {
    MODULE.try_lock().map_or(core::ptr::null(), |mut module| {
        module.buffer.clear();
        module.buffer.resize(length, 0);
        module.buffer.as_ptr()
    })
}

/// Where the answer is.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn address() -> *const u8 {
    MODULE.try_lock().map_or(core::ptr::null(), |module| module.buffer.as_ptr())
}

/// Names, texts and lists.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn words() -> i32 {
    tell(|_, _| Ok(Words::new()))
}

/// Meets the simulated user of a seed.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn meet(seed: u32) -> i32 {
    tell(|page, _| page.meet(u64::from(seed)))
}

/// Reads the request in the buffer.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn read(person: u32) -> i32 {
    tell(|page, text| page.read(who(person)?, core::str::from_utf8(text).map_err(|_| PageError::Text)?))
}

/// The simulated user asks.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn ask() -> i32 {
    tell(|page, _| page.ask())
}

/// Sets the switches.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn permit(person: u32, switches: u32) -> i32 {
    tell(|page, _| page.permit(who(person)?, switches))
}

/// Decides.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn decide(person: u32) -> i32 {
    tell(|page, _| page.decide(who(person)?))
}

/// Explains the decision against an action, or against the runner-up if it is negative.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn explain(person: u32, other: i32) -> i32 {
    tell(|page, _| {
        let other = if other < 0 { None } else { Some(Action(u16::try_from(other).map_err(|_| PageError::Unknown)?)) };
        page.explain(who(person)?, other)
    })
}

/// Learns a reward.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn react(person: u32, reward: f64) -> i32 {
    tell(|page, _| page.react(who(person)?, reward))
}

/// The simulated user reacts.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn respond() -> i32 {
    tell(|page, _| page.respond())
}

/// Plays rounds of the simulated user.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn play(rounds: u32) -> i32 {
    tell(|page, _| page.play(rounds))
}

/// Takes what a slider says.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn state(person: u32, slider: u32, response: f64) -> i32 {
    tell(|page, _| page.state(who(person)?, usize::try_from(slider).map_err(|_| PageError::Unknown)?, response))
}

/// What is believed: in general, or for the request at hand.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn beliefs(person: u32, here: bool) -> i32 {
    tell(|page, _| page.beliefs(who(person)?, here))
}

/// Explores with this optimism from now on.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn explore(person: u32, optimism: f64) -> i32 {
    tell(|page, _| page.explore(who(person)?, optimism))
}

/// Forgets a person.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn forget(person: u32) -> i32 {
    tell(|page, _| page.forget(who(person)?))
}

/// The state as a file.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn save(person: u32) -> i32 {
    call(|page, _| Ok(page.save(who(person)?)))
}

/// Goes on from the file in the buffer.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn load(person: u32) -> i32 {
    tell(|page, bytes| page.load(who(person)?, bytes))
}

/// The file that the tape begins with.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn tape_start(person: u32) -> i32 {
    call(|page, _| Ok(page.tape(who(person)?).0.to_vec()))
}

/// The journal after it.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn journal(person: u32) -> i32 {
    call(|page, _| Ok(page.tape(who(person)?).1.to_vec()))
}
