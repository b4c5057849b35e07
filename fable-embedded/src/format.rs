//! `defmt::Format` for the types that deriving would print byte by byte: a line that says which one it is.

use crate::flash::{Blocking, FlashStore, Seed};
use crate::{Device, Server, Volatile};
use defmt::{Format, Formatter, write};
use fable_core::Scalar;

impl<T: Scalar, K> Format for Device<'_, T, K> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "device of {}", self.user());
    }
}

impl<T: Scalar, K> Format for Server<'_, T, K> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "server, {}", self.device);
    }
}

impl<const STAGE: usize> Format for Volatile<STAGE> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "volatile, {=usize} bytes of stage", STAGE);
    }
}

impl<F, const PRIOR: bool> Format for FlashStore<F, PRIOR> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "store, {}, {}", self.layout(), self.statistics());
    }
}

/// Nothing secret in logs.
impl Format for Seed {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "a seed, settled: {=bool}", self.settled);
    }
}

impl<F: embedded_storage::nor_flash::ReadNorFlash> Format for Blocking<F> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "blocking flash of {=usize} bytes", self.0.capacity());
    }
}

#[cfg(feature = "mock")]
impl<const WORD: usize, const PAGE: usize> Format for crate::mock::Mock<WORD, PAGE> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "mock flash, words of {=usize} and pages of {=usize} bytes", WORD, PAGE);
    }
}
