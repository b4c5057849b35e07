//! One text, two forms: asynchronous code that is compiled a second time as plain, blocking code.
//!
//! A state machine over a driver that never waits wastes flash and stack. The attribute repeats a trait, an
//! `impl` block or a function without everything asynchronous: the keyword, `.await`, and the word in names.
//! `AsyncPort` becomes `Port`, `blink_async` becomes `blink` and `embedded_io_async` becomes `embedded_io`.
//!
//! ```
//! # use fable_forms::blocking;
//! # use core::convert::Infallible as Never;
//! # #[allow(async_fn_in_trait)]
//! #[blocking]
//! trait AsyncPort {
//!     async fn put(&mut self, on: bool) -> Result<(), Never>;
//! }
//!
//! struct Lamp<P>(P);
//!
//! #[blocking]
//! impl<P: AsyncPort> Lamp<P> {
//!     /// On, and off again.
//!     async fn blink_async(&mut self) -> Result<(), Never> {
//!         self.0.put(true).await?;
//!         self.0.put(false).await
//!     }
//! }
//!
//! # struct Pin(u8);
//! impl Port for Pin {
//! #   /*
//!     ...
//! #   */ fn put(&mut self, on: bool) -> Result<(), Never> { self.0 += 1; Ok(()) }
//! }
//! let mut lamp = Lamp(Pin(0));
//! lamp.blink()?; // no future
//! # assert_eq!(lamp.0.0, 2);
//! # Ok::<(), Never>(())
//! ```
//!
//! If the form depends on the type and not on the name, the attribute takes the head of the blocking block:
//! `#[blocking(impl<P: Port> Lamp<Blocking<P>>)]`.

use proc_macro::{Group, Ident, TokenStream, TokenTree};

/// Repeats an item without everything asynchronous, under the given head or its own. Both forms keep its
/// attributes, except those about `async` (`#[expect(async_fn_in_trait)]`).
#[proc_macro_attribute]
pub fn blocking(head: TokenStream, item: TokenStream) -> TokenStream {
    let mut own: Vec<TokenTree> = item.clone().into_iter().collect();
    let body = own.pop();
    let mut attributes = vec![];
    while let [TokenTree::Punct(mark), TokenTree::Group(what), ..] = &own[..]
        && mark.as_char() == '#'
    {
        let text = what.to_string();
        let attribute = own.drain(..2);
        if text.starts_with("[doc") || !text.contains("async") {
            attributes.extend(attribute);
        }
    }
    let head = if head.is_empty() { plain(own.into_iter().collect()) } else { head };
    let body = plain(body.into_iter().collect());
    item.into_iter().chain(attributes).chain(head).chain(body).collect()
}

/// The tokens without `async`, `.await`, and `Async` or `_async` in names.
fn plain(tokens: TokenStream) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut out: Vec<TokenTree> = vec![];
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dot)
                if dot.as_char() == '.' && tokens.peek().is_some_and(|next| is(next, "await")) =>
            {
                tokens.next();
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), plain(group.stream()));
                inner.set_span(group.span());
                out.push(inner.into());
            }
            token if is(&token, "async") => {}
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                let plain = name
                    .strip_prefix("Async")
                    .or_else(|| name.strip_suffix("_async"))
                    .filter(|plain| !plain.is_empty());
                out.push(plain.map_or(ident.clone(), |plain| Ident::new(plain, ident.span())).into());
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}
