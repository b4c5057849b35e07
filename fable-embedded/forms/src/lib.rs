//! One text, two forms: an `impl` block of asynchronous functions that is compiled a second time as plain, blocking ones.
//!
//! A state machine over a driver that never waits takes flash and stack for nothing. The attribute repeats the block below it
//! under another head, without `async` and `.await`:
//!
//! ```
//! # use fable_forms::blocking;
//! # use core::convert::Infallible as Never;
//! struct Lamp<P>(P);
//! struct Blocking<P>(P);
//!
//! # trait Port { async fn put(&mut self, on: bool) -> Result<(), Never>; }
//! # trait BlockingPort { fn put(&mut self, on: bool) -> Result<(), Never>; }
//! # impl<P: BlockingPort> Blocking<P> { fn put(&mut self, on: bool) -> Result<(), Never> { self.0.put(on) } }
//! #[blocking(impl<P: BlockingPort> Lamp<Blocking<P>>)]
//! impl<P: Port> Lamp<P> {
//!     /// On, and off again.
//!     async fn blink(&mut self) -> Result<(), Never> {
//!         self.0.put(true).await?;
//!         self.0.put(false).await
//!     }
//! }
//!
//! # struct Pin(u8);
//! # impl BlockingPort for Pin { fn put(&mut self, on: bool) -> Result<(), Never> { self.0 += 1; Ok(()) } }
//! let mut lamp = Lamp(Blocking(Pin(0)));
//! lamp.blink()?; // no future
//! # assert_eq!(lamp.0.0.0, 2);
//! # Ok::<(), Never>(())
//! ```
//!
//! In the `impl` of a trait the functions stay as the trait declares them, and only `.await` is left out.

use proc_macro::{Group, TokenStream, TokenTree};

/// Repeats an `impl` block under the head given, without `async` and `.await`.
#[proc_macro_attribute]
pub fn blocking(head: TokenStream, block: TokenStream) -> TokenStream {
    let of_trait = head.clone().into_iter().any(|token| is(&token, "for"));
    let body = block.clone().into_iter().last().into_iter().collect();
    block.into_iter().chain(head).chain(plain(body, of_trait)).collect()
}

/// The tokens without `.await` and, unless it is kept, `async`.
fn plain(tokens: TokenStream, keep_async: bool) -> TokenStream {
    let mut tokens = tokens.into_iter().peekable();
    let mut out = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dot) if dot.as_char() == '.' && tokens.peek().is_some_and(|next| is(next, "await")) => {
                tokens.next();
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), plain(group.stream(), keep_async));
                inner.set_span(group.span());
                out.push(inner.into());
            }
            token if !keep_async && is(&token, "async") => {}
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}

fn is(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident.to_string() == word)
}
