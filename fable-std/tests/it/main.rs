//! All integration tests of fable-std in one program: it is linked once, and every subject is a module of it.
//!
//! `cargo test -p fable-std --test it chat::` runs one subject. Modules that belong together stand together.

// Catalogs and settings.
mod adapter_versions;
mod catalog_c;
mod catalog_files;
mod catalog_limits;
mod catalog_mistakes;
mod catalog_rust;
mod settings;

// The store, in files and in PostgreSQL.
mod crash;
mod damage;
mod damage_command;
mod faults;
mod merge;
mod migrate;
mod postgres;
mod rules;
mod store;
mod store_file;

// The service: lines of JSON, HTTP, MCP.
mod http;
mod http_limits;
mod http_metrics;
mod lines;
mod mcp;
mod memory;
mod reading;
mod serve;

// `fable proxy`.
mod proxy;
mod proxy_connections;
mod proxy_limits;
mod proxy_people;

// `fable chat` and adapters with a model.
mod chat;
mod chat_memory;
mod llm;
mod spca;

// Devices.
mod device;
mod device_line;
mod device_prior;

// Studies of logs, journals and priors.
mod demo;
mod evaluate;
mod evaluate_log;
mod identify;
mod inspect;
mod prior;
mod prior_journeys;
mod prior_served;
mod probes;
mod replay;

// The command as a whole.
mod command;
mod files;

// What several subjects use.
mod endpoint;
mod proxying;
#[path = "../../../fable-embedded/tests/wire/mod.rs"]
mod wire;
