//! `defmt::Format` for types whose derived format would print bytes. Each prints one line.

#[cfg(feature = "serve")]
use crate::Server;
use crate::{Device, RamStore};
use defmt::{Format, Formatter, write};
use fable_core::Scalar;

impl<T: Scalar, S> Format for Device<'_, T, S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "device of {}", self.user());
    }
}

#[cfg(feature = "serve")]
impl<T: Scalar, S> Format for Server<'_, T, S> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "server, {}", self.device);
    }
}

impl<const STAGE: usize> Format for RamStore<STAGE> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "store in RAM, {=usize} bytes of stage", STAGE);
    }
}

#[cfg(feature = "flash")]
mod flash {
    use crate::flash::{Blocking, FlashStore, Seed};
    use defmt::{Format, Formatter, write};
    use embedded_storage::nor_flash::ReadNorFlash;

    impl<F, const PRIOR: bool> Format for FlashStore<F, PRIOR> {
        fn format(&self, f: Formatter<'_>) {
            write!(f, "store, {}, {}", self.layout(), self.statistics());
        }
    }

    /// The number is secret and is not printed.
    impl Format for Seed {
        fn format(&self, f: Formatter<'_>) {
            write!(f, "a seed, confirmed: {=bool}", self.confirmed);
        }
    }

    impl<F: ReadNorFlash> Format for Blocking<F> {
        fn format(&self, f: Formatter<'_>) {
            write!(f, "blocking flash of {=usize} bytes", self.0.capacity());
        }
    }
}

#[cfg(feature = "mock")]
impl<const WORD: usize, const PAGE: usize> Format for crate::mock::Mock<WORD, PAGE> {
    fn format(&self, f: Formatter<'_>) {
        write!(f, "mock flash, words of {=usize} and pages of {=usize} bytes", WORD, PAGE);
    }
}
