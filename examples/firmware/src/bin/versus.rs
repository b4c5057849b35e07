//! Shows: the same rounds of `agent` with Fable and with nalgebra on a Cortex-M4F, counted.

#![no_std]
#![no_main]

firmware::firmware!(firmware::versus::run::<firmware::boards::Here>);
