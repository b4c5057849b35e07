//! The page of the seed: kept as it was written, through power cuts, and never another one.

use embedded_storage_async::nor_flash::NorFlash;
use fable_embedded::flash::{Blocking, FlashError, Seed, block_on};
use fable_embedded::flash::{
    confirm_seed, confirm_seed_async, read_seed, read_seed_async, write_seed, write_seed_async,
};
use fable_embedded::mock::Mock;

const SEEDS: [u64; 4] = [1, u64::MAX, 0x0123_4567_89ab_cdef, 0xffff_ffff_0000_0000];

const fn begun(number: u64) -> Seed {
    Seed { number, confirmed: false }
}

const fn confirmed(number: u64) -> Seed {
    Seed { number, confirmed: true }
}

/// Words of every size, in both forms, leave the same bytes. A page can be rewritten any number of times.
fn keeps<const WORD: usize>() {
    let (mut plain, mut waiting) =
        (Blocking(Mock::<WORD, 1024>::new(2).strict()), Mock::<WORD, 1024>::new(2).strict());
    assert_eq!(read_seed(&mut plain, 1024), Ok(None));
    assert_eq!(confirm_seed(&mut plain, 1024), Err(FlashError::Closed));
    for seed in SEEDS {
        write_seed(&mut plain, 1024, seed).unwrap();
        block_on(write_seed_async(&mut waiting, 1024, seed)).unwrap();
        assert_eq!(read_seed(&mut plain, 1024), Ok(Some(begun(seed))));
        assert_eq!(block_on(read_seed_async(&mut waiting, 1024)), Ok(Some(begun(seed))));
        for _ in 0..2 {
            confirm_seed(&mut plain, 1024).unwrap();
            block_on(confirm_seed_async(&mut waiting, 1024)).unwrap();
            assert_eq!(read_seed(&mut plain, 1024), Ok(Some(confirmed(seed))));
            assert_eq!(block_on(read_seed_async(&mut waiting, 1024)), Ok(Some(confirmed(seed))));
        }
        assert_eq!(plain.0.bytes(), waiting.bytes());
        assert!(plain.0.bytes()[..1024].iter().all(|byte| *byte == 0xff), "the page before is not touched");
    }
    assert_eq!(plain.0.bytes()[1024..1040], *b"fable seed\0\0\0\0\0\0");
    assert_eq!(plain.0.bytes()[1040..1048], SEEDS[3].to_le_bytes());
    assert_eq!(plain.0.bytes()[1056..1072], *b"fable settled\0\0\0");
    assert!(plain.0.bytes()[1088..].iter().all(|byte| *byte == 0xff), "one mark is enough");
}

#[test]
fn a_seed_is_kept() {
    keeps::<1>();
    keeps::<4>();
    keeps::<8>();
    keeps::<32>();
}

/// A cut at any byte, with any remains, leaves the old seed, the new seed or none. The seed can be written
/// again.
#[test]
fn a_power_cut_leaves_a_seed_or_none() {
    let (old, new) = (SEEDS[2], 0xfedc_ba98_7654_3210);
    let mut seen = [0; 3];
    for cut in 0..48 {
        for garbage in 1..40 {
            let mut flash = Blocking(Mock::<4, 1024>::new(1));
            write_seed(&mut flash, 0, old).unwrap();
            flash.0.seed(garbage);
            flash.0.cut_after(cut);
            let written = write_seed(&mut flash, 0, new);
            flash.0.power_on();
            let kept = read_seed(&mut flash, 0).unwrap();
            match kept {
                Some(seed) if seed == begun(old) => seen[0] += 1,
                Some(seed) if seed == begun(new) => seen[1] += 1,
                Some(other) => panic!("cut {cut}: {:#x}", other.number),
                None => seen[2] += 1,
            }
            assert!(written.is_err() || kept == Some(begun(new)), "what was acknowledged is there");
            write_seed(&mut flash, 0, new).unwrap();
            assert_eq!(read_seed(&mut flash, 0), Ok(Some(begun(new))));
        }
    }
    assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
}

/// A cut during confirmation leaves the seed, confirmed or not, and the confirmation can be repeated several
/// times. This also holds if the cut words refuse to be written.
#[test]
fn a_power_cut_in_settling_leaves_the_seed() {
    for garbage in 1..200 {
        let mut flash = Blocking(Mock::<8, 1024>::new(1).strict());
        write_seed(&mut flash, 0, SEEDS[2]).unwrap();
        flash.0.seed(garbage);
        for cut in 0..8 {
            flash.0.cut_after((cut * 11 + garbage) % 32);
            let done = confirm_seed(&mut flash, 0);
            flash.0.power_on();
            let kept = read_seed(&mut flash, 0).unwrap();
            assert_eq!(kept.map(|seed| seed.number), Some(SEEDS[2]));
            assert!(done.is_err() || kept == Some(confirmed(SEEDS[2])));
        }
        confirm_seed(&mut flash, 0).unwrap();
        assert_eq!(read_seed(&mut flash, 0), Ok(Some(confirmed(SEEDS[2]))));
    }
}

/// Each bit of the record is looked at, and each of the mark.
#[test]
fn a_damaged_seed_is_none() {
    let mut flash = Blocking(Mock::<1, 1024>::new(1));
    write_seed(&mut flash, 0, SEEDS[2]).unwrap();
    confirm_seed(&mut flash, 0).unwrap();
    for bit in 0..512 {
        let left = if bit < 256 { None } else { Some(begun(SEEDS[2])) };
        flash.0.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(read_seed(&mut flash, 0), Ok(left), "bit {bit}");
        flash.0.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
    }
    assert_eq!(read_seed(&mut flash, 0), Ok(Some(confirmed(SEEDS[2]))));
}

#[test]
fn a_flash_that_fails_is_reported() {
    let mut flash = Blocking(Mock::<4, 1024>::new(1));
    flash.0.fail_reads(true);
    assert!(matches!(read_seed(&mut flash, 0), Err(FlashError::Driver(_))));
    assert!(matches!(write_seed(&mut flash, 0, 1), Err(FlashError::Driver(_))));
    flash.0.fail_reads(false);
    assert!(matches!(write_seed(&mut flash, 1024, 1), Err(FlashError::Driver(_))), "outside");
    // No place for a mark is left.
    write_seed(&mut flash, 0, 1).unwrap();
    block_on(flash.0.write(32, &[0; 1024 - 32])).unwrap();
    assert!(matches!(confirm_seed(&mut flash, 0), Err(FlashError::Driver(_))));
}

#[test]
fn a_seed_is_not_in_a_log() {
    let text = format!("{:?} {:#?}", confirmed(SEEDS[2]), begun(SEEDS[2]));
    assert!(!text.contains(&SEEDS[2].to_string()) && !text.contains("0x"), "{text}");
}
