//! What JavaScript calls; `module.js` is the other side. Numbers are arguments, the rest goes through the buffer.
//!
//! The names are the module's own on WebAssembly only.
#![allow(unsafe_code, reason = "a name that the linker keeps counts as unsafe; nothing else in here does")]
#![allow(clippy::must_use_candidate, reason = "JavaScript does not see it")]

use crate::module;
#[cfg(feature = "users")]
use crate::{
    Module, Refusal, ask,
    module::{call, read, tell},
};

macro_rules! exports {
    ($($(#[$about:meta])* fn $name:ident($($argument:ident: $kind:ty),*) -> $answer:ty { $body:expr })+) => {
        $($(#[$about])*
        #[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
        pub extern "C" fn $name($($argument: $kind),*) -> $answer {
            $body
        })+
    };
}

exports! {
    /// Makes room for what JavaScript is going to write, and returns where.
    fn fable_room(length: usize) -> *const u8 { module::room(length) }

    /// Where the answer is.
    fn fable_address() -> *const u8 { module::address() }
}

#[cfg(feature = "users")]
exports! {
    /// The number of the catalog that ships under the name in the buffer.
    fn fable_catalog() -> i32 { tell(Module::shipped) }

    /// The number of the catalog that the buffer describes.
    #[cfg(feature = "full")]
    fn fable_describe() -> i32 { tell(describe) }

    /// Names and lists of a catalog.
    fn fable_words(catalog: u32) -> i32 { tell(|module, _| module.words(catalog)) }

    /// Checks the settings in the buffer, and tells the fingerprint of the policy.
    fn fable_policy(catalog: u32) -> i32 {
        tell(|module, asked| Ok(module.policy(catalog, &read::<ask::SettingsAsk<'_>>(asked)?)?.fingerprint()))
    }

    /// A new user.
    fn fable_begin(catalog: u32) -> i32 { tell(|module, asked| module.begin(catalog, asked)) }

    /// A user who goes on from a snapshot.
    fn fable_restore(catalog: u32) -> i32 { tell(|module, asked| module.restore(catalog, asked)) }

    /// Goes on under the settings in the buffer.
    fn fable_adopt(user: u32, catalog: u32) -> i32 {
        tell(|module, asked| {
            let policy = module.policy(catalog, &read::<ask::SettingsAsk<'_>>(asked)?)?;
            module.life(user)?.adopt(&policy)
        })
    }

    /// Lets go of a user.
    fn fable_free(user: u32) -> i32 { tell(|module, _| { module.free(user); Ok(()) }) }

    /// What a user has been through.
    fn fable_facts(user: u32) -> i32 { tell(|module, _| Ok(module.life(user)?.facts())) }

    /// Decides.
    fn fable_decide(user: u32) -> i32 { tell(|module, asked| module.life(user)?.decide(asked)) }

    /// What a user would be served best with.
    #[cfg(feature = "full")]
    fn fable_recommend(user: u32) -> i32 { tell(|module, asked| module.life(user)?.recommend(asked)) }

    /// What may be chosen.
    fn fable_feasible(user: u32) -> i32 { tell(|module, asked| module.life(user)?.feasible(asked)) }

    /// Learns the reward of a decision.
    fn fable_feedback(user: u32) -> i32 { tell(|module, asked| module.life(user)?.feedback(asked)) }

    /// Learns the reward of an action that was chosen elsewhere.
    #[cfg(feature = "full")]
    fn fable_observe(user: u32) -> i32 { tell(|module, asked| module.life(user)?.observe(asked)) }

    /// Takes stated preferences.
    fn fable_onboard(user: u32) -> i32 { tell(|module, asked| module.life(user)?.onboard(asked)) }

    /// Promotes what is certain.
    #[cfg(feature = "full")]
    fn fable_promote(user: u32, at: u32) -> i32 { tell(|module, _| module.life(user)?.promote(at)) }

    /// Explains a decision.
    fn fable_explain(user: u32) -> i32 { tell(|module, asked| module.life(user)?.explain(asked)) }

    /// Compares two actions.
    fn fable_contrast(user: u32) -> i32 { tell(|module, asked| module.life(user)?.contrast(asked)) }

    /// What is certain.
    fn fable_profile(user: u32) -> i32 { tell(|module, _| module.life(user)?.profile()) }

    /// The decisions that wait for their reward.
    #[cfg(feature = "full")]
    fn fable_waiting(user: u32, at: u32) -> i32 { tell(|module, _| Ok(module.life(user)?.waiting(at))) }

    /// Forgets everything about a user.
    fn fable_forget(user: u32) -> i32 { tell(|module, _| module.life(user)?.forget()) }

    /// The state as a snapshot record.
    fn fable_snapshot(user: u32) -> i32 { call(|module, _| Ok(module.life(user)?.save())) }

    /// The snapshot that the tape begins with.
    fn fable_tape_start(user: u32) -> i32 { call(|module, _| tape(module, user).map(|tape| tape.start.clone())) }

    /// The events since.
    fn fable_tape_journal(user: u32) -> i32 { call(|module, _| tape(module, user).map(|tape| tape.journal.clone())) }
}

#[cfg(feature = "users")]
fn tape(module: &mut Module, user: u32) -> Result<&crate::life::Tape, Refusal> {
    let none = || Refusal::new("bad_request", "this user has no journal; ask for one when the user begins");
    module.life(user)?.tape().ok_or_else(none)
}

#[cfg(feature = "full")]
fn describe(module: &mut Module, asked: &[u8]) -> Result<u32, Refusal> {
    let catalog = read::<crate::catalogs::Document<'_>>(asked)?.keep()?;
    Ok(module.number(catalog))
}
