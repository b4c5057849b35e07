//! Adapters with a language model.
