//! Prints what can panic in a firmware image, a line each: the place, what panics there, and the function it is in.
//!
//! `panics IMAGE`; how the image is made stands in `fable_image::panics`, and `examples/firmware/panics.sh` does it.

use fable_image::panics::sites;
use std::process::ExitCode;

fn main() -> ExitCode {
    let image = std::env::args_os().nth(1).unwrap_or_default();
    match std::fs::read(&image).map_err(Into::into).and_then(|image| sites(&image)) {
        Ok(sites) => {
            for site in sites {
                println!("{}\t{}\t{}", site.place, site.what, site.function);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", image.display());
            ExitCode::FAILURE
        }
    }
}
