//! One line of JSON as it was written: borrowed, strictly typed, not yet looked up in a catalog.

use super::read::ReadAs;
use super::refusal::{Code, Refusal};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A line; which keys belong to which op is for [`super::op`] to say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line<'a> {
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) op: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) user: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) statements: Option<Vec<Object<Statement<'a>>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) context: Option<Context<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) forbid: Option<Vec<Pattern<'a>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) require: Option<Vec<Pattern<'a>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) only: Option<Vec<Pattern<'a>>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) defaults: Option<Vec<f64>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) propensities: Option<u32>,
    #[serde(default, deserialize_with = "given")]
    pub(super) at: Option<u32>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) decision: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) reward: Option<f64>,
    #[serde(default, deserialize_with = "given")]
    pub(super) weight: Option<f64>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) action: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) prefer: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) over: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) total: Option<bool>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) against: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) name: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) file: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) values: Option<Vec<Name<'a>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) when: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) words: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) layer: Option<bool>,
    #[serde(default, deserialize_with = "given")]
    pub(super) memory: Option<bool>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) request: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) answer: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) mode: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) text: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) history: Option<Vec<Object<Past<'a>>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) background: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", rename = "as")]
    pub(super) reading: Option<ReadAs>,
}

impl<'a> Line<'a> {
    pub(super) fn parse(line: &'a [u8]) -> Result<Self, Refusal> {
        serde_json::from_slice::<Object<Self>>(line)
            .map(|object| object.0)
            .map_err(|error| refuse(line, &error))
    }

    /// The keys that are there, `op` and `id` aside.
    pub(super) fn keys(&self) -> impl Iterator<Item = &'static str> {
        [
            ("user", self.user.is_some()),
            ("statements", self.statements.is_some()),
            ("context", self.context.is_some()),
            ("forbid", self.forbid.is_some()),
            ("require", self.require.is_some()),
            ("only", self.only.is_some()),
            ("defaults", self.defaults.is_some()),
            ("propensities", self.propensities.is_some()),
            ("at", self.at.is_some()),
            ("decision", self.decision.is_some()),
            ("reward", self.reward.is_some()),
            ("weight", self.weight.is_some()),
            ("action", self.action.is_some()),
            ("prefer", self.prefer.is_some()),
            ("over", self.over.is_some()),
            ("total", self.total.is_some()),
            ("against", self.against.is_some()),
            ("name", self.name.is_some()),
            ("file", self.file.is_some()),
            ("values", self.values.is_some()),
            ("when", self.when.is_some()),
            ("words", self.words.is_some()),
            ("layer", self.layer.is_some()),
            ("request", self.request.is_some()),
            ("answer", self.answer.is_some()),
            ("mode", self.mode.is_some()),
            ("memory", self.memory.is_some()),
            ("text", self.text.is_some()),
            ("history", self.history.is_some()),
            ("background", self.background.is_some()),
            ("as", self.reading.is_some()),
        ]
        .into_iter()
        .filter_map(|(key, there)| there.then_some(key))
    }
}

/// The id of a line that cannot be used otherwise, so that even its error finds the one who asked.
pub(super) fn id_of(line: &[u8]) -> Option<&RawValue> {
    #[derive(Deserialize)]
    struct Marked<'a> {
        #[serde(default, deserialize_with = "given", borrow)]
        id: Option<&'a RawValue>,
    }
    serde_json::from_slice::<Object<Marked<'_>>>(line).ok().and_then(|object| object.0.id)
}

pub(super) fn refuse(line: &[u8], error: &serde_json::Error) -> Refusal {
    let object = line.trim_ascii_start().first() == Some(&b'{');
    let code = match error.classify() {
        Category::Data if object => Code::BadRequest,
        // It is JSON, but no f64.
        Category::Syntax if object && error.to_string().starts_with("number out of range") => {
            Code::OutOfRange
        }
        _ => Code::BadJson,
    };
    // There is but one line: "at line 1 column 17" is "at column 17".
    Refusal::new(code, error.to_string().replace(" at line 1 column ", " at column "))
}

/// A key that is there has a value: `null` is none.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// A JSON object and nothing else; a derived struct would take a list, too.
#[derive(Debug)]
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Object<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Object)
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// A text, borrowed where it has no escapes.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Name<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// A stated preference: either the words or the coordinates.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Statement<'a> {
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) prefer: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) over: Option<Choice<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) when: Option<Object<When<'a>>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) direction: Option<Pairs<'a, f64>>,
    pub(super) response: f64,
    pub(super) precision: f64,
}

/// An exchange before a request; what is not known of it is left out or `null`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Past<'a> {
    #[serde(borrow)]
    pub(super) request: Name<'a>,
    #[serde(default, borrow)]
    pub(super) answer: Option<Name<'a>>,
    #[serde(default, borrow)]
    pub(super) action: Option<Choice<'a>>,
    #[serde(default)]
    pub(super) reward: Option<f64>,
}

/// Where a stated preference holds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When<'a> {
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) task: Option<Name<'a>>,
    #[serde(default, deserialize_with = "given", borrow)]
    pub(super) signal: Option<Name<'a>>,
}

/// A context: the task, which may be `null`, and the signals.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub(super) task: Option<Name<'a>>,
    pub(super) signals: Vec<(Name<'a>, f64)>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Context<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Context<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a task and signals")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut task, mut signals) = (None, Vec::with_capacity(4));
                while let Some(key) = map.next_key::<Name<'de>>()? {
                    if key.0 == "task" {
                        if task.replace(map.next_value::<Option<Name<'de>>>()?).is_some() {
                            return Err(A::Error::duplicate_field("task"));
                        }
                    } else {
                        signals.push((key, map.next_value()?));
                    }
                }
                Ok(Context { task: task.flatten(), signals })
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// An object with any keys, in order, repeated ones included.
#[derive(Debug)]
pub(super) struct Pairs<'a, V>(pub(super) Vec<(Name<'a>, V)>);

/// One value per component.
pub(super) type Choice<'a> = Pairs<'a, Name<'a>>;

/// Values by component, any of several.
pub(super) type Pattern<'a> = Pairs<'a, Values<'a>>;

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Pairs<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for Fields<V> {
            type Value = Pairs<'de, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(4);
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

/// A value or a list of them.
#[derive(Debug)]
pub(super) struct Values<'a>(pub(super) Vec<Name<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Values<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Values<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or a list of values")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Values(vec![Name(Cow::Borrowed(text))]))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Values(vec![Name(Cow::Owned(text.to_owned()))]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        deserializer.deserialize_any(Items)
    }
}
