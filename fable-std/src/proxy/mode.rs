//! For whom the layer does how much.

use fable_core::user_hash;

/// What is done with requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Decides, tells the assistant, and learns from what the user says next.
    #[default]
    Apply,
    /// Decides and says what was decided, in the answer and in the log. Requests go on as they came, so nothing is learned from what the
    /// user says next; only an application that acts on the decision itself gives feedback.
    Observe,
    /// Does nothing.
    Bypass,
}

/// A part of the users, from 0 to 1. Who is in it stays in it when it grows, and those who came last leave it first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserShare(f64);

impl UserShare {
    /// Everyone.
    pub const ALL: Self = Self(1.0);

    /// A share; `None` unless it is from 0 to 1.
    #[must_use]
    pub fn new(share: f64) -> Option<Self> {
        (0.0..=1.0).contains(&share).then_some(Self(share))
    }

    /// Whether a user is in it.
    ///
    /// ```
    /// use fable_std::proxy::UserShare;
    /// let (some, more) = (UserShare::new(0.2).unwrap(), UserShare::new(0.4).unwrap());
    /// let names = || (0..10_000).map(|number| format!("user-{number}"));
    /// let count = names().filter(|name| some.has(name)).count();
    /// assert!((1_800..2_200).contains(&count), "{count}");
    /// assert!(names().all(|name| more.has(&name) || !some.has(&name)));
    /// assert!(names().all(|name| UserShare::ALL.has(&name) && !UserShare::new(0.0).unwrap().has(&name)));
    /// ```
    #[must_use]
    pub fn has(self, user: &str) -> bool {
        // The finalizer of SplitMix64: names that differ in a letter are far apart.
        let mut mixed = user_hash(user).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let place = ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64;
        place < self.0
    }
}
