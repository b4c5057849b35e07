//! The seed from sources of each version of `rand_core`, good ones and broken ones.

use core::convert::Infallible;
use core::num::NonZeroU32;
use fable_embedded::entropy::{self, EntropyError, WORDS};
use rand_core_06::RngCore as _;
use rand_core_09::RngCore as _;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use rand_xoshiro_06::rand_core::SeedableRng as _;
use rand_xoshiro_07::rand_core::SeedableRng as _;

/// What a seed is made of, written down a second time: SplitMix64 as its reference code has it.
fn expected(words: impl IntoIterator<Item = u64>) -> u64 {
    words.into_iter().fold(0, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// SplitMix64 from 0: the first three numbers of its reference code, which verify the generator of
/// `expected`.
#[test]
fn the_mixer_is_that_of_splitmix64() {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let numbers = [0, GAMMA, GAMMA.wrapping_mul(2)].map(|state| expected([state]));
    assert_eq!(numbers, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
}

/// The same generator in the crates of three versions has the same words, and so the same seed.
#[test]
fn sources_of_each_version_give_the_seed_of_their_words() {
    type New = rand_xoshiro::Xoshiro256PlusPlus;
    type Middle = rand_xoshiro_07::Xoshiro256PlusPlus;
    type Old = rand_xoshiro_06::Xoshiro256PlusPlus;
    for start in 0..100 {
        let mut words = New::seed_from_u64(start);
        let wanted = expected((0..WORDS).map(|_| words.next_u64()));
        assert_eq!(entropy::seed(&mut New::seed_from_u64(start)), Ok(wanted));
        assert_eq!(entropy::seed_09(&mut Middle::seed_from_u64(start)), Ok(wanted));
        assert_eq!(entropy::seed_06(&mut Old::seed_from_u64(start)).ok(), Some(wanted));
        let (mut middle, mut old) = (Middle::seed_from_u64(start), Old::seed_from_u64(start));
        assert_eq!(middle.next_u64(), old.next_u64());
    }
}

/// Words that a source delivers before it fails, or for ever the last of them.
struct Tape {
    words: Vec<u64>,
    at: usize,
    /// Fails after the words, with this code.
    fails: Option<NonZeroU32>,
}

impl Tape {
    fn new(words: &[u64], fails: Option<u32>) -> Self {
        Self { words: words.to_vec(), at: 0, fails: fails.and_then(NonZeroU32::new) }
    }

    fn next(&mut self) -> Result<u64, NonZeroU32> {
        let word = self.words.get(self.at).copied();
        self.at += 1;
        match (word, self.fails) {
            (Some(word), _) => Ok(word),
            (None, Some(code)) => Err(code),
            (None, None) => Ok(self.words.last().copied().unwrap_or(0)),
        }
    }
}

#[derive(Debug, PartialEq)]
struct Broken(u32);

impl core::fmt::Display for Broken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "broken {}", self.0)
    }
}

impl core::error::Error for Broken {}

struct New(Tape);
struct Middle(Tape);
struct Old(Tape);

impl rand_core::TryRng for New {
    type Error = Broken;

    fn try_next_u32(&mut self) -> Result<u32, Broken> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Broken> {
        self.0.next().map_err(|code| Broken(code.get()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Broken> {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..piece.len()]);
        }
        Ok(())
    }
}

impl rand_core_09::TryRngCore for Middle {
    type Error = Broken;

    fn try_next_u32(&mut self) -> Result<u32, Broken> {
        self.try_next_u64().map(|word| word as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Broken> {
        self.0.next().map_err(|code| Broken(code.get()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Broken> {
        for piece in bytes.chunks_mut(8) {
            piece.copy_from_slice(&self.try_next_u64()?.to_le_bytes()[..piece.len()]);
        }
        Ok(())
    }
}

/// As drivers of that time are: what cannot be said to fail gives zeros.
impl rand_core_06::RngCore for Old {
    fn next_u32(&mut self) -> u32 {
        self.next_u64() as u32
    }

    fn next_u64(&mut self) -> u64 {
        self.0.next().unwrap_or(0)
    }

    fn fill_bytes(&mut self, bytes: &mut [u8]) {
        if self.try_fill_bytes(bytes).is_err() {
            bytes.fill(0);
        }
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), rand_core_06::Error> {
        for piece in bytes.chunks_mut(8) {
            let word = self.0.next().map_err(rand_core_06::Error::from)?;
            piece.copy_from_slice(&word.to_le_bytes()[..piece.len()]);
        }
        Ok(())
    }
}

/// Wherever a source stops, its error comes through and there is no seed.
#[test]
fn a_failing_source_gives_its_error_and_no_seed() {
    for good in 0..WORDS {
        let words: Vec<u64> = (1..=good as u64).collect();
        let tape = || Tape::new(&words, Some(7));
        assert_eq!(entropy::seed(&mut New(tape())), Err(EntropyError::Source(Broken(7))));
        assert_eq!(entropy::seed_09(&mut Middle(tape())), Err(EntropyError::Source(Broken(7))));
        let old = entropy::seed_06(&mut Old(tape()));
        assert!(
            matches!(&old, Err(EntropyError::Source(error)) if error.code() == NonZeroU32::new(7)),
            "{old:?}"
        );
        let mut own = tape();
        assert_eq!(entropy::seed_from(|| own.next()), Err(EntropyError::Source(NonZeroU32::new(7).unwrap())));
    }
    // One that fails only after the last word that is needed has not failed.
    let words: Vec<u64> = (1..=WORDS as u64).collect();
    assert_eq!(entropy::seed(&mut New(Tape::new(&words, Some(7)))), Ok(expected(1..=WORDS as u64)));
}

#[test]
fn a_stuck_source_is_refused() {
    for word in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef] {
        assert_eq!(entropy::seed(&mut New(Tape::new(&[word], None))), Err(EntropyError::Stuck));
        assert_eq!(entropy::seed_09(&mut Middle(Tape::new(&[word], None))), Err(EntropyError::Stuck));
        let old = entropy::seed_06(&mut Old(Tape::new(&[word], None)));
        assert!(matches!(old, Err(EntropyError::Stuck)), "{old:?}");
    }
    // One that gets stuck on the way, at any word but the last.
    for good in 1..WORDS {
        let words: Vec<u64> = (1..=good as u64).collect();
        assert_eq!(
            entropy::seed(&mut New(Tape::new(&words, None))),
            Err(EntropyError::Stuck),
            "after {good}"
        );
    }
}

/// Bits that are ones nine times of ten, as from a poor oscillator. The seeds have no such bias, and no two
/// are equal.
#[test]
fn a_source_that_leans_gives_seeds_that_do_not() {
    const SEEDS: usize = 2000;
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let mut leaning = || {
        Ok::<_, Infallible>(
            (0..64).fold(0, |word, _| (word << 1) | u64::from(!random.next_u64().is_multiple_of(10))),
        )
    };
    let mut seeds: Vec<u64> = (0..SEEDS).map(|_| entropy::seed_from(&mut leaning).unwrap()).collect();
    for bit in 0..64 {
        let ones = seeds.iter().filter(|seed| (*seed >> bit) & 1 == 1).count();
        // Half of 2000 with a standard deviation of 22.4: six of them are 134, missed by chance once in 10^9.
        assert!(ones.abs_diff(SEEDS / 2) < 134, "bit {bit}: {ones}");
    }
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), SEEDS);
}

#[test]
fn the_errors_say_what_is_wrong() {
    assert_eq!(EntropyError::Source(Broken(3)).to_string(), "the entropy source failed: broken 3");
    assert_eq!(EntropyError::<Broken>::Stuck.to_string(), "the entropy source repeats itself");
}
