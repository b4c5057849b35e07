//! A user to be looked at: the report of `fable inspect`, and its picture.

use crate::fault::{Answer, Fault};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use fable_core::{Scalar, User};
use fable_std::inspect::{Inspection, Selection, inspect, picture};
use serde_json::Value;

/// The report.
pub fn report<T: Scalar>(user: &mut User<'_, T>) -> Answer<Inspection> {
    Ok(inspect(user, &[])?)
}

/// The report in the keys of `fable inspect --json`.
pub fn table(report: &Inspection) -> Answer<Value> {
    serde_json::to_value(report).map_err(Fault::internal)
}

/// The picture of `fable inspect --svg`.
pub fn svg(name: &str, report: &Inspection) -> String {
    picture::draw(name, report, Selection::Strongest)
}

/// The picture for a notebook: an image, so that its styles stay its own.
pub fn html(name: &str, report: &Inspection) -> String {
    let picture = BASE64_STANDARD.encode(svg(name, report));
    format!(
        "<img alt=\"What Fable believes about a user\" style=\"max-width:100%\" src=\"data:image/svg+xml;base64,{picture}\"/>"
    )
}
