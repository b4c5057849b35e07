//! Fable for assistants that speak the Model Context Protocol: what is known about one person, and how to act for them, as tools.
//!
//! | tool | does | op |
//! |---|---|---|
//! | `profile` | says what is known | `profile`, `posterior` |
//! | `decide` | how to act for a request; waits for feedback | `read`, `decide` |
//! | `recommend` | the same, with nothing explored and nothing kept | `read`, `recommend` |
//! | `feedback` | how it went, as a number or in words | `read`, `feedback` |
//! | `why` | why it was decided so | `waiting`, `explain` |
//! | `preferences` | takes what the person says to prefer or to forbid; lists it; takes it back | `read`, `onboard`, `forbid`, `require`, `allow`, `rules` |
//! | `forget` | erases the person, with `confirm` | `forget` |
//!
//! A tool is nothing but ops of the [service](crate::serve): a [`Backend`] asks them, either of a service in this process ([`Local`]) or of one that
//! runs elsewhere ([`Remote`]). [`Session`] makes tools of them, for one person, whom no tool can change. [`serve`] speaks the protocol, with
//! the official crate.
//!
//! *Rules.* "Never search the web" is a rule, not a preference: the learner must not weigh it. A service that keeps rules is told; under one that
//! does not they hold for the tools of this session and are told so. What is said as a wish becomes a stated preference, which rewards can revise.

mod backend;
mod server;
mod session;
mod tools;

pub use backend::{Backend, Local, Refused, Remote, RemoteError};
pub use server::{McpError, serve, serve_over};
pub use session::{Fault, Session, Told};
pub use tools::{TOOLS, Tool, ToolKind};
