//! Schemas of what is asked and answered. The keys of an op come from the parser, so that none can be left out here.

use crate::memory::COMPONENT;
use crate::rewards::{Kind, Metrics};
use crate::serve::incoming::keys;
use crate::serve::op::{MAX_DRAWS, MAX_NAME};
use fable_core::Catalog;
use serde_json::{Map, Value, json};

/// An object with these keys and no others.
pub(super) fn object(required: &[&str], properties: Value) -> Value {
    let fixed =
        [("type", "object".into()), ("required", required.into()), ("additionalProperties", false.into())];
    fixed
        .into_iter()
        .chain([("properties", properties)])
        .map(|(key, value)| (key.to_owned(), value))
        .collect::<Map<_, _>>()
        .into()
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// What the catalog says and several ops use.
pub(super) fn shared(catalog: &Catalog<'_>) -> Value {
    let definition = catalog.definition();
    let names = |component: &fable_core::catalog::Component<'_>| -> Vec<String> {
        component.values.iter().map(|value| value.name.to_owned()).collect()
    };
    let components: Vec<&str> = definition.components.iter().map(|component| component.name).collect();
    let each = |schema: &dyn Fn(Vec<String>) -> Value| -> Value {
        definition
            .components
            .iter()
            .map(|component| (component.name.to_owned(), schema(names(component))))
            .collect::<Map<_, _>>()
            .into()
    };
    let signal = json!({"type": "number", "minimum": 0, "maximum": 1});
    let mut context: Map<String, Value> =
        definition.signals.iter().map(|name| ((*name).to_owned(), signal.clone())).collect();
    let tasks: Vec<Value> = definition.tasks.iter().map(|task| json!(task)).chain([Value::Null]).collect();
    context.insert("task".into(), json!({"enum": tasks}));
    let one = each(&|values| json!({"enum": values}));
    let some = |values: Vec<String>| {
        let list =
            json!({"type": "array", "minItems": 1, "uniqueItems": true, "items": {"enum": values.clone()}});
        json!({"anyOf": [{"enum": values}, list]})
    };
    let mut pattern = object(&[], each(&some));
    let mut part = object(&[], one.clone());
    if let (Some(pattern), Some(part)) = (pattern.as_object_mut(), part.as_object_mut()) {
        pattern.insert("minProperties".into(), 1.into());
        part.extend([("minProperties".to_owned(), 1.into()), ("maxProperties".to_owned(), 2.into())]);
    }
    let named = |component: &fable_core::catalog::Component<'_>| -> Vec<String> {
        component.values.iter().map(|value| format!("{}={}", component.name, value.name)).collect()
    };
    let values: Vec<String> = definition.components.iter().flat_map(named).collect();
    let places = definition.tasks.iter().map(|task| format!("task={task}"));
    let places: Vec<String> =
        places.chain(definition.signals.iter().map(|signal| (*signal).to_owned())).collect();
    let coordinates = (0..catalog.dimension())
        .filter_map(|index| catalog.coordinate_name(index))
        .map(|name| name.to_string());
    let coordinates: Vec<String> = coordinates.collect();
    let numbers: Map<String, Value> =
        coordinates.iter().map(|name| (name.clone(), json!({"type": "number"}))).collect();
    let all: Vec<&str> = coordinates.iter().map(String::as_str).collect();
    json!({
        "Action": object(&components, one),
        "Pattern": pattern,
        "Part": part,
        "Context": object(definition.signals, context.into()),
        "When": {"oneOf": [
            object(&["task"], json!({"task": {"enum": definition.tasks}})),
            object(&["signal"], json!({"signal": {"enum": definition.signals}})),
        ]},
        "Value": {"enum": values},
        "Place": {"enum": places},
        "Direction": {
            "type": "object",
            "minProperties": 1,
            "maxProperties": fable_core::catalog::MAX_DIRECTION,
            "propertyNames": {"enum": coordinates},
            "additionalProperties": {"type": "number", "minimum": -100, "maximum": 100},
        },
        "Coordinates": object(&all, numbers.into()),
        "Scores": {
            "type": "array",
            "minItems": catalog.actions(),
            "maxItems": catalog.actions(),
            "items": {"type": "number", "minimum": -100, "maximum": 100},
        },
        "Contrast": {"enum": definition.contrasts.iter().map(|contrast| contrast.name).collect::<Vec<_>>()},
        "Decision": {"type": "string", "pattern": "^[0-9a-f]{16}-(0|[1-9][0-9]{0,9})-(0|[1-9][0-9]{0,9})$"},
        "Mode": modes(catalog),
        "Exchange": object(&["request", "answer", "at"], json!({
            "request": {"type": "string"}, "answer": {"type": "string"}, "at": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
        })),
        "User": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
        "Count": {"type": "integer", "minimum": 0},
        "Sign": {"enum": [-1, 0, 1]},
        "Average": object(&["mean", "lower", "upper"], json!({
            "mean": {"type": ["number", "null"]}, "lower": {"type": ["number", "null"]}, "upper": {"type": ["number", "null"]},
        })),
    })
}

/// The values of the component `memory`; any text where there is none.
fn modes(catalog: &Catalog<'_>) -> Value {
    let component = catalog.component(COMPONENT).and_then(|index| catalog.definition().components.get(index));
    let names = |component: &fable_core::catalog::Component<'_>| -> Vec<String> {
        component.values.iter().map(|value| value.name.to_owned()).collect()
    };
    component.map_or_else(|| json!({"type": "string"}), |component| json!({"enum": names(component)}))
}

/// The schema of a key, which is the same in every op that has it.
fn key(name: &str) -> Value {
    let patterns = || json!({"type": "array", "items": reference("Pattern")});
    match name {
        "user" => reference("User"),
        "decision" => reference("Decision"),
        "context" => reference("Context"),
        "action" | "prefer" | "over" | "against" => reference("Action"),
        "forbid" | "require" | "only" => patterns(),
        "defaults" => reference("Scores"),
        "propensities" => json!({"type": "integer", "minimum": 0, "maximum": MAX_DRAWS}),
        "at" => json!({"type": "integer", "minimum": 0, "maximum": u32::MAX}),
        "reward" => json!({"type": "number", "minimum": -1, "maximum": 1}),
        "weight" => json!({"type": "number", "minimum": 0.001, "maximum": 100}),
        "name" => reference("Contrast"),
        "total" | "layer" | "memory" => json!({"type": "boolean"}),
        "values" => json!({"type": "array", "minItems": 1, "items": reference("Value")}),
        "when" => reference("Place"),
        "words" => json!({"type": "string", "maxLength": 1_024}),
        "text" | "background" | "answer" => json!({"type": "string"}),
        "history" => {
            let nothing = json!({"type": "null"});
            let turn = json!({
                "request": {"type": "string"},
                "answer": {"type": ["string", "null"]},
                "action": {"oneOf": [reference("Action"), nothing]},
                "reward": {"oneOf": [key("reward"), nothing]},
            });
            json!({"type": "array", "items": object(&["request"], turn)})
        }
        "as" => json!({"enum": ["context", "preferences", "reward"]}),
        "file" => json!({"type": "string", "minLength": 1}),
        "mode" => reference("Mode"),
        "statements" => {
            let sure = |first: &str, schema: Value, more: Value| {
                let mut fields = json!({
                    first: schema,
                    "response": {"type": "number", "minimum": -1, "maximum": 1},
                    "precision": {"type": "number", "minimum": 0, "maximum": 1_000_000},
                });
                if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
                    fields.extend(more);
                }
                object(&[first, "response", "precision"], fields)
            };
            let words = sure(
                "prefer",
                reference("Part"),
                json!({"over": reference("Part"), "when": reference("When")}),
            );
            json!({"type": "array", "items": {"oneOf": [words, sure("direction", reference("Direction"), json!({}))]}})
        }
        _ => json!({}),
    }
}

/// The keys that an op cannot do without.
fn required(op: &str) -> &'static [&'static str] {
    match op {
        "onboard" => &["user", "statements"],
        "decide" | "recommend" => &["user", "context"],
        "read" => &["text", "as"],
        "feedback" => &["decision", "reward"],
        "observe" => &["user", "context", "action", "reward"],
        "unlearn" | "explain" => &["decision"],
        "waiting" | "posterior" | "profile" | "forget" | "promote" | "rules" | "switch" | "memories"
        | "unremember" | "export" => &["user"],
        "forbid" | "require" | "allow" => &["user", "values"],
        "remember" => &["user", "request", "answer"],
        "recall" => &["user", "mode"],
        _ => &[],
    }
}

/// The body of an op.
pub(super) fn request(op: &str) -> Value {
    let form = |required: &[&str], keys: &mut dyn Iterator<Item = &&str>| {
        let mut properties: Map<String, Value> = keys.map(|name| ((*name).to_owned(), key(name))).collect();
        if let Some(request) = properties.get_mut("request") {
            *request = json!({"type": "string", "minLength": u8::from(op == "remember")});
        }
        properties.insert("id".into(), json!({}));
        object(required, properties.into())
    };
    let keys = keys(op).unwrap_or_default();
    if op == "contrast" {
        let compared = ["context", "prefer", "over", "total"];
        let named = form(&["user", "name"], &mut keys.iter().filter(|key| !compared.contains(*key)));
        let compared =
            form(&["user", "context", "prefer", "over"], &mut keys.iter().filter(|key| **key != "name"));
        return json!({"oneOf": [named, compared]});
    }
    form(required(op), &mut keys.iter())
}

/// An answer: the keys that are always there, and those that may be.
fn answered(mut always: Value, sometimes: Value) -> Value {
    let required: Vec<String> = always.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    if let (Some(all), Value::Object(more)) = (always.as_object_mut(), sometimes) {
        all.extend(more);
        all.insert("id".into(), json!({}));
    }
    object(&required.iter().map(String::as_str).collect::<Vec<_>>(), always)
}

/// What a user wishes.
fn wished(text: &Value, flag: &Value) -> Value {
    let values = json!({"type": "array", "minItems": 1, "items": reference("Value")});
    let rule = ruled();
    let declared = object(
        &["name", "effect", "values", "when"],
        json!({
            "name": text, "effect": {"enum": ["forbid", "require", "only"]}, "values": values,
            "when": {"type": ["string", "null"]},
        }),
    );
    let list = |items: Value| json!({"type": "array", "items": items});
    let memory = json!({"type": ["boolean", "null"]});
    answered(
        json!({"rules": list(rule), "catalog": list(declared), "layer": flag, "memory": memory}),
        json!({}),
    )
}

/// What an op is answered with when it is not refused.
#[expect(clippy::too_many_lines, reason = "one schema after the other")]
pub(super) fn answer(catalog: &Catalog<'_>, op: &str) -> Value {
    let (number, text, flag, count) = (
        json!({"type": "number"}),
        json!({"type": "string"}),
        json!({"type": "boolean"}),
        reference("Count"),
    );
    let maybe = json!({"type": ["number", "null"]}); // what is infinite is null
    let share = json!({"type": "number", "minimum": 0, "maximum": 1});
    let actions = catalog.actions();
    let all = json!({"type": "array", "minItems": actions, "maxItems": actions, "items": share});
    let tried = json!({
        "trials": count, "e_value": maybe, "needed": maybe, "average": reference("Average"), "certified": reference("Sign"),
    });
    match op {
        "onboard" => answered(json!({"accepted": count}), json!({})),
        "decide" => {
            let probe = object(
                &["contrast", "preferred", "expected"],
                json!({
                    "contrast": reference("Contrast"), "preferred": flag, "expected": number,
                }),
            );
            let always = json!({
                "decision": reference("Decision"), "action": reference("Action"), "instruction": text, "explored": flag,
                "score": number, "sampled_score": number, "feasible": {"type": "integer", "minimum": 1, "maximum": actions},
            });
            let probes = json!({"type": "array", "minItems": 1, "items": probe});
            answered(always, json!({"probes": probes, "propensity": share, "propensities": all}))
        }
        "recommend" => {
            let feasible = json!({"type": "integer", "minimum": 1, "maximum": actions});
            let action = reference("Action");
            answered(
                json!({"action": action, "instruction": text, "score": number, "feasible": feasible}),
                json!({}),
            )
        }
        "read" => read(),
        "feedback" | "observe" => {
            answered(json!({"observations": count}), json!({"changed": {"const": true}}))
        }
        "unlearn" => answered(json!({"observations": count}), json!({})),
        "waiting" => {
            answered(json!({"waiting": {"type": "array", "items": reference("Decision")}}), json!({}))
        }
        "posterior" => answered(
            json!({
                "rounds": count, "observations": count, "mean": reference("Coordinates"), "sd": reference("Coordinates"),
                "log_det_ratio": number,
            }),
            json!({}),
        ),
        "contrast" => answered(
            json!({
                "mean": number, "sd": number, "probability": share, "lower": maybe, "upper": maybe, "beta": maybe, "evidence": count,
                "valid": flag, "promoted": reference("Sign"),
            }),
            with(tried, "identifiable", flag),
        ),
        "explain" => {
            let name = json!({"type": ["string", "null"]});
            let part = json!({"enum": ["default", "cost", "block", "draw", "bonus"]});
            let share = object(
                &["part", "chosen", "other", "chosen_coordinate", "other_coordinate"],
                json!({
                    "part": part, "chosen": number, "other": number, "chosen_coordinate": name, "other_coordinate": name,
                }),
            );
            let always = json!({
                "chosen": reference("Action"), "other": reference("Action"), "feasible": flag, "explored": flag,
                "chosen_score": number, "other_score": number, "shares": {"type": "array", "items": share},
            });
            let probed = json!({"type": "array", "minItems": 1, "items": reference("Contrast")});
            answered(always, json!({"intended": reference("Action"), "probed": probed, "rule": text}))
        }
        "profile" => {
            let mut fields = json!({
                "contrast": reference("Contrast"), "verdict": reference("Sign"), "standing": text, "sentence": text, "by": text,
                "valid": flag, "round": count, "at": count, "evidence": count, "lower": maybe, "upper": maybe,
            });
            if let (Some(fields), Value::Object(tried)) = (fields.as_object_mut(), tried) {
                fields.extend(tried);
            }
            let required: Vec<String> = fields.as_object().into_iter().flat_map(Map::keys).cloned().collect();
            let promoted = object(&required.iter().map(String::as_str).collect::<Vec<_>>(), fields);
            answered(json!({"profile": {"type": "array", "items": promoted}, "text": text}), json!({}))
        }
        "rules" | "forbid" | "require" | "allow" | "switch" => wished(&text, &flag),
        "promote" => answered(json!({"promoted": count}), json!({})),
        "forget" => answered(json!({"forgotten": flag}), json!({})),
        "remember" | "recall" | "memories" | "unremember" => remembered(op),
        "export" => {
            answered(json!({"export": {"type": ["string", "null"], "contentEncoding": "base64"}}), json!({}))
        }
        "backup" => {
            let state = json!({"enum": ["running", "done", "failed"]});
            answered(
                json!({"backup": text, "state": state, "users": count, "of": count}),
                json!({"bytes": count, "error": text}),
            )
        }
        _ => {
            let mut always = json!({
                "catalog": {"const": catalog.definition().name}, "dimension": {"const": catalog.dimension()},
                "scalar": {"enum": ["f32", "f64"]}, "prior": {"type": ["string", "null"]}, "probe": number,
            });
            let counts = [
                "users",
                "damaged",
                "cached",
                "cached_bytes",
                "requests",
                "errors",
                "events",
                "changes",
                "bytes",
            ];
            if let Some(always) = always.as_object_mut() {
                always.extend(counts.into_iter().map(|name| (name.to_owned(), count.clone())));
            }
            answered(always, json!({}))
        }
    }
}

/// The same fields and one more.
fn with(mut fields: Value, name: &str, schema: Value) -> Value {
    if let Some(fields) = fields.as_object_mut() {
        fields.insert(name.into(), schema);
    }
    fields
}

/// What is answered about memory.
fn remembered(op: &str) -> Value {
    let (count, exchanges) = (reference("Count"), json!({"type": "array", "items": reference("Exchange")}));
    let always = match op {
        "remember" => json!({"remembered": {"type": "boolean"}, "exchanges": count}),
        "recall" => json!({"text": {"type": "string"}, "exchanges": exchanges}),
        "memories" => json!({"memory": {"enum": ["on", "off"]}, "exchanges": exchanges}),
        _ => json!({"unremembered": count}),
    };
    answered(always, json!({}))
}

/// A user's own rule.
fn ruled() -> Value {
    let values = json!({"type": "array", "minItems": 1, "items": reference("Value")});
    let place = json!({"oneOf": [reference("Place"), {"type": "null"}]});
    object(
        &["effect", "values", "when", "words"],
        json!({"effect": {"enum": ["forbid", "require"]}, "values": values, "when": place, "words": {"type": "string"}}),
    )
}

/// What a text can be read as.
fn read() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let rules = json!({"type": "array", "items": ruled()});
    let words =
        object(&["words", "means"], json!({"words": {"type": "string"}, "means": {"type": "string"}}));
    let said = json!({"type": "array", "items": words});
    let reward = json!({"type": ["number", "null"], "minimum": -1, "maximum": 1});
    let counted =
        json!({"reward": reward, "corrections": reference("Count"), "clarifications": reference("Count")});
    json!({"oneOf": [
        answered(json!({"context": reference("Context")}), json!({})),
        answered(json!({"statements": key("statements"), "said": said, "rules": rules, "unused": texts}), json!({})),
        answered(counted, json!({})),
    ]})
}

/// A metric: each kind with the values that it has.
pub(super) fn metric_request(metrics: &Metrics) -> Value {
    let forms = metrics.metrics().iter().flat_map(|metric| {
        let value = match metric.kind {
            Kind::Boolean => json!({"type": "boolean"}),
            Kind::Float { .. } => json!({"type": "number"}),
            Kind::Comment => json!({"type": "string"}),
        };
        ["inference_id", "episode_id"].map(|id| {
            object(
                &[id, "metric_name", "value"],
                json!({
                    id: reference("Decision"),
                    "metric_name": {"const": metric.name},
                    "value": value,
                    "tags": {"type": ["object", "null"], "additionalProperties": {"type": "string"}},
                    "dryrun": {"type": ["boolean", "null"]},
                }),
            )
        })
    });
    json!({"oneOf": forms.collect::<Vec<_>>()})
}

/// What a metric is answered with.
pub(super) fn metric_answer(metrics: &Metrics) -> Value {
    let id = json!({"type": "string", "pattern": "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$"});
    let learned = json!({"type": ["number", "null"], "minimum": -1, "maximum": 1});
    let learned = object(&["feedback_id", "reward"], json!({"feedback_id": id, "reward": learned}));
    if !metrics.waits() {
        return learned;
    }
    let pending = json!({"type": "array", "minItems": 1, "items": {"type": "string"}});
    json!({"oneOf": [learned, object(&["feedback_id", "pending"], json!({"feedback_id": id, "pending": pending}))]})
}
