//! Device adapters for [`fable_core`]: what a microcontroller has to supply. No rule of the method lives here.

#![no_std]

pub mod entropy;
