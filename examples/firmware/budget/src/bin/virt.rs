//! Shows: what a round with `agent` costs on this board.

#![no_std]
#![no_main]

budget::budget!(boards::Virt, AGENT);
