//! The store in PostgreSQL: against the store in a file, against others who write at the same time, against lost connections, servers
//! that stop, and damage.

mod faults;
mod migrating;
mod model;
mod moving;
mod people;
mod sharing;
