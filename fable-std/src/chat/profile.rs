//! What is known about a person, in words.

use super::person::Person;
use super::{ChatError, Reply};
use crate::rules;
use crate::text::wording;
use fable_core::preference::Standing;
use fable_core::{Catalog, Context, Promotion, UserError};

/// Leanings smaller than this, on the scale of rewards, are not worth a word.
const WORTH_SAYING: f64 = 0.03;

/// Most leanings that are shown.
const LEANINGS: usize = 6;

/// A signal above this is said.
const HIGH: f32 = 0.5;

/// Rules, what is certain, and what the person seems to like.
pub(super) fn write(person: &mut Person<'_>, reply: &mut Reply) -> Result<(), ChatError> {
    if person.is_new() {
        reply.plain("Nothing is known about you yet.");
        return Ok(());
    }
    let catalog = person.policy().catalog();
    for constraint in &person.wishes.rules {
        reply.add("rule", rules::described(catalog, constraint));
    }
    let mut user = person.user()?;
    let promotions: Vec<Promotion> = user.profile().to_vec();
    for promotion in &promotions {
        reply.add("certain", certain(catalog, promotion, user.standing(promotion)?));
    }
    for (contrast, index) in catalog.contrasts().iter().zip(0..) {
        let trial = user.trial(index)?;
        let promoted = promotions.iter().any(|promotion| usize::from(promotion.contrast) == index);
        if trial.trials > 0 && !promoted {
            reply.add("tried", format!("{}: {}", contrast.name, wording::trial(&trial)));
        }
    }
    let mut mean = vec![0.0; catalog.dimension()];
    let (posterior, scratch) = user.posterior_and_scratch();
    posterior.mean(scratch, &mut mean).map_err(UserError::from)?;
    let mut leanings: Vec<(String, f64)> = Vec::new();
    for (coordinate, weight) in
        mean.into_iter().enumerate().filter(|(_, weight)| weight.abs() >= WORTH_SAYING)
    {
        leanings.extend(catalog.coordinate_name(coordinate).map(|name| (name.to_string(), weight)));
    }
    leanings.retain(|(name, _)| is_a_value(name));
    leanings.sort_by(|(_, one), (_, other)| other.abs().total_cmp(&one.abs()));
    let leanings: Vec<String> =
        leanings.iter().take(LEANINGS).map(|(name, weight)| format!("{name} {weight:+.2}")).collect();
    if !leanings.is_empty() {
        reply.add("leaning", leanings.join(", "));
    }
    let kept = if person.may_remember() {
        "is kept, /memory shows it"
    } else {
        "is not kept, except the words of a rule"
    };
    reply.plain(format!("{}. What you wrote {kept}.", counts(person)));
    Ok(())
}

/// A promoted preference: by which rule, and what has become of it.
pub(super) fn certain(catalog: &Catalog<'_>, promotion: &Promotion, standing: Standing) -> String {
    let standing = match standing {
        Standing::Holds => String::new(),
        other => format!("; {}", wording::standing(other)),
    };
    format!("{} ({}{standing})", wording::promotion(catalog, promotion), wording::provenance(promotion))
}

/// How much there was.
pub(super) fn counts(person: &Person<'_>) -> String {
    let (rounds, learned) = (person.state().rounds(), person.state().observations());
    format!("{rounds} request{}, learned from {learned}", if rounds == 1 { "" } else { "s" })
}

/// Whether the coordinate with this name is the main effect of one value.
fn is_a_value(name: &str) -> bool {
    !name.contains('*') && name.contains('=') && !name.starts_with("task=")
}

/// Each value and its instruction.
pub(super) fn values(catalog: &Catalog<'_>, reply: &mut Reply) {
    for component in catalog.definition().components {
        for value in component.values {
            let name = format!("{}={}", component.name, value.name);
            reply.plain(format!("{name:24} {}", value.instruction).trim_end());
        }
    }
}

/// A request in the catalog's terms: the task, and the signals that are high.
pub(super) fn context(catalog: &Catalog<'_>, context: &Context) -> String {
    let definition = catalog.definition();
    let task =
        context.task().and_then(|task| definition.tasks.get(task)).map_or("no particular task", |task| task);
    let high = definition.signals.iter().zip(context.signals()).filter(|(_, level)| **level > HIGH);
    [task.to_owned()]
        .into_iter()
        .chain(high.map(|(name, level)| format!("{name} {level:.1}")))
        .collect::<Vec<_>>()
        .join(", ")
}
