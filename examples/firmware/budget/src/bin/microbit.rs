//! Shows: what a round with `tau2` costs on this board.

#![no_std]
#![no_main]

budget::budget!(boards::Microbit, TAU2);
