//! The OpenAPI document, made of the table of routes, the keys of the ops, the catalog and the metrics that are served.

use super::fault::Fault;
use super::routes::{Kind, ROUTES, Route};
use super::schemas::{self, object};
use super::tokens::Role;
use crate::rewards::Metrics;
use axum::http::StatusCode;
use fable_core::Catalog;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The document of a service.
pub(super) fn document(catalog: &Catalog<'_>, metrics: &Metrics, tokens: bool) -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let method = route.method().as_str().to_ascii_lowercase();
        paths.insert(route.path.into(), json!({ method: operation(catalog, metrics, tokens, route) }));
    }
    let mut components = json!({"schemas": schemas::shared(catalog)});
    if tokens && let Some(components) = components.as_object_mut() {
        components.insert("securitySchemes".into(), json!({"token": {"type": "http", "scheme": "bearer"}}));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fable",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Personalization around a frozen assistant: decide, and say how it went.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "paths": paths,
        "components": components,
    })
}

fn operation(catalog: &Catalog<'_>, metrics: &Metrics, tokens: bool, route: &Route) -> Value {
    let (content, answer) = match route.kind {
        Kind::Op(op) => ("application/json", schemas::answer(catalog, op)),
        Kind::Feedback => ("application/json", schemas::metric_answer(metrics)),
        Kind::Metrics => ("text/plain", json!({"type": "string"})),
        Kind::Health => ("application/json", object(&["status"], json!({"status": {"const": "ok"}}))),
        Kind::Document => ("application/json", json!({"type": "object", "required": ["openapi", "paths"]})),
    };
    let mut responses = Map::new();
    let mut done = json!({"description": "Done", "content": {content: {"schema": answer}}});
    let links: Map<String, Value> =
        links(route.kind).iter().map(|(to, key, from)| (format!("{to} it"), link(to, key, from))).collect();
    if let (Some(done), false) = (done.as_object_mut(), links.is_empty()) {
        done.insert("links".into(), links.into());
    }
    responses.insert("200".into(), done);
    let guarded = tokens && route.role != Role::Anyone;
    let own = guarded.then_some(Fault::Unauthorized).into_iter();
    let mut by_status: BTreeMap<u16, Vec<Fault>> = BTreeMap::new();
    for fault in own.chain(route.faults()) {
        by_status.entry(fault.status().as_u16()).or_default().push(fault);
    }
    for (status, faults) in by_status {
        responses.insert(status.to_string(), refused(status, &faults, matches!(route.kind, Kind::Op(_))));
    }
    let mut operation = json!({"operationId": route.label, "summary": route.summary, "responses": responses});
    let request = match route.kind {
        Kind::Op(op) => Some(schemas::request(op)),
        Kind::Feedback => Some(schemas::metric_request(metrics)),
        _ => None,
    };
    if let Some(fields) = operation.as_object_mut() {
        if let Some(schema) = request {
            fields.insert(
                "requestBody".into(),
                json!({"required": true, "content": {"application/json": {"schema": schema}}}),
            );
        }
        if guarded {
            fields.insert("security".into(), json!([{"token": []}]));
        }
    }
    operation
}

/// Where an answer leads: an operation, the key that it takes from here, and what that is.
fn links(kind: Kind) -> &'static [(&'static str, &'static str, &'static str)] {
    const DECIDED: &str = "$response.body#/decision";
    const LEARNED: &str = "$request.body#/decision";
    match kind {
        Kind::Op("decide") => &[
            ("feedback", "decision", DECIDED),
            ("explain", "decision", DECIDED),
            ("unlearn", "decision", DECIDED),
            ("metric", "inference_id", DECIDED),
        ],
        Kind::Op("feedback") => &[("unlearn", "decision", LEARNED), ("feedback", "decision", LEARNED)],
        _ => &[],
    }
}

fn link(to: &str, key: &str, from: &str) -> Value {
    json!({"operationId": to, "requestBody": {key: from}})
}

/// The answer of a status, with the codes that it can have here.
fn refused(status: u16, faults: &[Fault], echoes: bool) -> Value {
    let codes: Vec<String> = faults.iter().map(|fault| fault.name()).collect();
    let error = object(&["code", "message"], json!({"code": {"enum": codes}, "message": {"type": "string"}}));
    let mut fields = json!({"error": error});
    if echoes && let Some(fields) = fields.as_object_mut() {
        fields.insert("id".into(), json!({}));
    }
    let reason =
        StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Refused");
    let mut response = json!({"description": reason, "content": {"application/json": {"schema": object(&["error"], fields)}}});
    let header = match status {
        401 => Some("WWW-Authenticate"),
        405 => Some("Allow"),
        503 => Some("Retry-After"),
        _ => None,
    };
    if let (Some(header), Some(fields)) = (header, response.as_object_mut()) {
        fields.insert("headers".into(), json!({header: {"required": true, "schema": {"type": "string"}}}));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use fable_core::catalog::{AGENT, RUBRIC, TAU2};

    /// Every reference leads somewhere, and every object is closed.
    fn check(document: &Value, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    let target = document.pointer(reference.strip_prefix('#').unwrap());
                    assert!(target.is_some(), "{reference}");
                }
                if fields.get("type") == Some(&json!("object")) && fields.contains_key("properties") {
                    assert_eq!(fields.get("additionalProperties"), Some(&json!(false)), "{value}");
                }
                fields.values().for_each(|value| check(document, value));
            }
            Value::Array(items) => items.iter().for_each(|value| check(document, value)),
            _ => {}
        }
    }

    #[test]
    fn references_lead_somewhere_and_objects_are_closed() {
        for catalog in [&AGENT, &TAU2, &RUBRIC] {
            for tokens in [false, true] {
                let document = document(catalog, &Metrics::default(), tokens);
                check(&document, &document);
                assert_eq!(document["paths"].as_object().unwrap().len(), ROUTES.len());
                assert_eq!(document["paths"]["/metrics"]["get"].get("security").is_some(), tokens);
                assert!(document["paths"]["/healthz"]["get"].get("security").is_none());
            }
        }
    }
}
