//! fable-forms from its archive: one text of an asynchronous function, called as a blocking one.

use core::convert::Infallible;
use fable_forms::blocking;

#[allow(async_fn_in_trait)]
#[blocking]
trait AsyncPort {
    async fn put(&mut self, on: bool) -> Result<(), Infallible>;
}

struct Lamp<P>(P);

#[blocking]
impl<P: AsyncPort> Lamp<P> {
    #[allow(dead_code)] // the form that waits is not called
    async fn blink_async(&mut self) -> Result<(), Infallible> {
        self.0.put(true).await?;
        self.0.put(false).await
    }
}

impl Port for Vec<bool> {
    fn put(&mut self, on: bool) -> Result<(), Infallible> {
        self.push(on);
        Ok(())
    }
}

fn main() -> Result<(), Infallible> {
    let mut lamp = Lamp(vec![]);
    lamp.blink()?;
    assert_eq!(lamp.0, [true, false]);
    println!("on and off, without a future");
    Ok(())
}
