//! What may be kept of what users and assistants exchange.

use clap::Args;
use fable_std::memory::Bounds;

#[derive(Args)]
pub(crate) struct MemoryArguments {
    /// Keeps what is exchanged with users, within bounds and per user, for the memory modes; `forget` erases it. Without this nothing
    /// that anybody says is kept.
    #[arg(long)]
    memory: bool,
    /// Exchanges that are kept of a user, the newest, and at most 64 KiB of them.
    #[arg(long, value_name = "N", default_value_t = Bounds::default().exchanges as u16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    memory_exchanges: u16,
}

impl MemoryArguments {
    pub(crate) const fn is_on(&self) -> bool {
        self.memory
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { exchanges: self.memory_exchanges.into(), ..Bounds::default() }
    }
}
