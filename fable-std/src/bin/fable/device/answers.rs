//! What the device answered, as text for a person and as JSON for a script.

use super::Output;
use super::names::named;
use crate::failure::Failure;
use fable_core::explain::Source;
use fable_core::preference::{Assessment, ProbeOutcome, Trial, Verdict};
use fable_core::record::Header;
use fable_core::{Action, Catalog, Context, DecisionId, Feasible, Policy, Settings};
use fable_std::catalogs;
use fable_std::device::Device;
use fable_std::text::wording;
use fable_wire::MAX_DEFAULTS;
use serde_json::{Value, json};
use std::fmt::{Display, Write as _};
use std::io::{Read, Write};

/// Which priors the present user began from and the next one begins from.
pub(super) fn priors<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let (now, next) = (device.prior_header(false)?, device.prior_header(true)?);
    let name = |header: Option<Header>| header.map(|header| format!("{:016x}", header.user));
    let told = |header: Option<Header>| {
        name(header).map_or_else(|| "the base prior".to_owned(), |name| format!("prior {name}"))
    };
    let text = format!("this user began from {}\nthe next one begins from {}\n", told(now), told(next));
    Ok((text, json!({ "now": name(now), "next": name(next) })))
}

pub(super) fn hello<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let prior = device.prior_header(false)?;
    let hello = device.hello();
    let base = prior.map_or(hello.fingerprint, |header| header.fingerprint);
    let scalar = if hello.digits == 24 { "f32" } else { "f64" };
    let catalog = device.catalog();
    let settings = match catalog.as_ref().map(|catalog| Policy::<f32>::new(catalog, Settings::default())) {
        Ok(Ok(policy)) if policy.fingerprint() == base => "default",
        Ok(_) => "other than the defaults",
        Err(_) => "unknown",
    };
    let mut text = String::new();
    let mut put = |head: &str, value: &dyn Display| {
        let _ = writeln!(text, "{head:<12} {value}"); // writing to a String cannot fail
    };
    put("protocol", &hello.protocol);
    put("records", &hello.record);
    put("catalog", &device.name());
    put("sizes", &format!("{} actions, dimension {}, in {scalar}", hello.actions, hello.dimension));
    put("settings", &settings);
    put("prior", &if prior.is_some() { "of a population" } else { "base" });
    put("fingerprint", &format!("{:016x}", hello.fingerprint));
    put("user", &format!("{:016x}", hello.user));
    put("incarnation", &hello.incarnation);
    put("site", &hello.site);
    put("rounds", &hello.rounds);
    put("observations", &hello.observations);
    let value = json!({
        "protocol": hello.protocol,
        "record": hello.record,
        "catalog": device.name(),
        "actions": hello.actions,
        "dimension": hello.dimension,
        "scalar": scalar,
        "settings": settings,
        "prior": if prior.is_some() { "population" } else { "base" },
        "fingerprint": format!("{:016x}", hello.fingerprint),
        "promise": format!("{:08x}", hello.guarantee_fingerprint),
        "ring": hello.ring,
        "user": format!("{:016x}", hello.user),
        "incarnation": hello.incarnation,
        "site": hello.site,
        "rounds": hello.rounds,
        "observations": hello.observations,
    });
    Ok((text, value))
}

/// What is feasible, and default scores of one's own.
pub(super) type Terms<'t> = (Option<&'t Feasible>, Option<&'t [f32]>);

/// Default scores, if there are any.
pub(super) fn scores<'d>(catalog: &Catalog<'_>, defaults: &'d [f32]) -> Result<Option<&'d [f32]>, Failure> {
    let actions = catalog.actions();
    match defaults.len() {
        0 => Ok(None),
        _ if actions > MAX_DEFAULTS => Err(Failure::Mistake(format!(
            "--defaults are for catalogs of at most {MAX_DEFAULTS} actions, and this one has {actions}"
        ))),
        count if count == actions => Ok(Some(defaults)),
        count => Err(Failure::Mistake(format!(
            "--defaults has {count} numbers, and the catalog {actions} actions"
        ))),
    }
}

fn instructed(catalog: &Catalog<'_>, action: Action) -> String {
    let mut instruction = String::new();
    let _ = catalog.instruct(action, &mut instruction); // writing to a String cannot fail
    instruction
}

pub(super) fn recommend<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    context: &Context,
    (feasible, defaults): Terms<'_>,
) -> Result<Output, Failure> {
    let (action, score) = device.recommend(context, feasible, defaults)?;
    let instruction = instructed(catalog, action);
    let text = format!(
        "action       {}\ninstruction  {instruction}\nscore        {}\n",
        named(catalog, action),
        fixed3(score)
    );
    Ok((
        text,
        json!({ "action": catalogs::action(catalog, action), "instruction": instruction, "score": score }),
    ))
}

pub(super) fn decide<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    context: &Context,
    (feasible, defaults): Terms<'_>,
    at: u32,
) -> Result<Output, Failure> {
    let (decision, probes) = device.decide_against(context, feasible, defaults, at)?;
    let instruction = instructed(catalog, decision.action);
    let (name, id) = (named(catalog, decision.action), decision.id.to_string());
    let mut text = format!("decision     {id}\naction       {name}\ninstruction  {instruction}\n");
    let mut value = json!({ "decision": id, "action": catalogs::action(catalog, decision.action), "instruction": instruction, "baseline": decision.baseline });
    if !probes.is_empty() {
        let probed = probes.iter().map(|probe| usize::from(probe.contrast));
        let _ = writeln!(text, "probe        {}", wording::probe(catalog, decision.action, probed));
        let told = |probe: &ProbeOutcome| json!({ "contrast": contrast_name(catalog, probe.contrast.into()), "preferred": probe.preferred, "expected": f64::from(probe.expected) });
        value["probes"] = probes.iter().map(told).collect();
    }
    Ok((text, value))
}

pub(super) fn explain<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    decision: DecisionId,
    against: Option<Action>,
) -> Result<Output, Failure> {
    let why = device.explain(decision, against)?;
    let probed: Vec<&str> = why.probed.iter().map(|contrast| contrast_name(catalog, contrast)).collect();
    let mut text = format!(
        "chosen {} {}{}\n{}not    {} {}{}\n",
        fixed3(why.chosen_score.into()),
        named(catalog, why.chosen),
        match (why.intended == why.chosen, why.explored) {
            (false, _) => ", the other way, to be sure",
            (true, true) => ", to explore",
            (true, false) => "",
        },
        probed.iter().map(|name| format!("a coin was tossed for {name}\n")).collect::<Vec<_>>().concat(),
        fixed3(why.other_score.into()),
        named(catalog, why.other),
        if why.feasible { "" } else { ", not feasible" },
    );
    let coordinate = |index: Option<u16>| {
        index.and_then(|index| catalog.coordinate_name(usize::from(index))).map(|name| name.to_string())
    };
    let mut shares = Vec::new();
    for share in &why.shares {
        let names = [share.chosen_coordinate, share.other_coordinate].map(coordinate);
        let part = match share.source() {
            Source::Default => "default score".to_owned(),
            Source::Cost => "cost".to_owned(),
            Source::Draw => "the draw".to_owned(),
            Source::Bonus => "bonus for what is uncertain".to_owned(),
            Source::Block(_) => {
                let [chosen, other] = names.clone().map(|name| name.unwrap_or_else(|| "nothing".into()));
                format!("{chosen} against {other}")
            }
        };
        let _ = writeln!(text, "  {} {} {part}", fixed3(share.chosen.into()), fixed3(share.other.into()));
        let [chosen, other] = names;
        shares.push(json!({
            "part": match share.source() { Source::Default => "default", Source::Cost => "cost", Source::Draw => "draw", Source::Bonus => "bonus", Source::Block(_) => "block" },
            "chosen": share.chosen,
            "other": share.other,
            "chosen_coordinate": chosen,
            "other_coordinate": other,
        }));
    }
    let mut value = json!({
        "chosen": catalogs::action(catalog, why.chosen),
        "other": catalogs::action(catalog, why.other),
        "feasible": why.feasible,
        "explored": why.explored,
        "chosen_score": why.chosen_score,
        "other_score": why.other_score,
        "shares": shares,
    });
    if !probed.is_empty() {
        value["intended"] = catalogs::action(catalog, why.intended);
        value["probed"] = probed.into();
    }
    Ok((text, value))
}

pub(super) fn profile<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let (mut text, mut entries) = (String::new(), Vec::new());
    for (promotion, standing) in device.profile()? {
        let trial = device.trial(promotion.contrast)?;
        let (standing, sentence) = (wording::standing(standing), wording::promotion(catalog, &promotion));
        let _ = writeln!(text, "{standing:<9} {sentence} ({})", wording::provenance(&promotion));
        let mut entry = json!({
            "contrast": contrast_name(catalog, promotion.contrast.into()),
            "verdict": promotion.verdict.sign(),
            "standing": standing,
            "sentence": sentence,
            "by": wording::certifier(promotion.by),
            "valid": promotion.valid,
            "round": promotion.round,
            "at": promotion.time,
            "evidence": promotion.evidence,
            "lower": promotion.lower,
            "upper": promotion.upper,
        });
        add(&mut entry, tried(&trial));
        entries.push(entry);
    }
    if entries.is_empty() {
        text.push_str("nothing is promoted\n");
    }
    Ok((text, Value::Array(entries)))
}

pub(super) fn contrasts<P: Read + Write>(
    device: &mut Device<P>,
    catalog: &Catalog<'_>,
    name: Option<&str>,
) -> Result<Output, Failure> {
    let (mut text, mut values) = (String::new(), serde_json::Map::new());
    for (index, contrast) in (0_u8..).zip(catalog.contrasts()) {
        if name.is_none_or(|name| name == contrast.name) {
            let (assessment, trial) = (device.assess(index)?, device.trial(index)?);
            text.push_str(&line(contrast.name, &assessment));
            if trial.trials > 0 {
                let _ = writeln!(text, "{:<32} {}", "", wording::trial(&trial));
            }
            let mut value = assessed(&assessment);
            add(&mut value, tried(&trial));
            values.insert(contrast.name.to_owned(), value);
        }
    }
    match name {
        Some(name) if values.is_empty() => {
            let known: Vec<&str> = catalog.contrasts().iter().map(|contrast| contrast.name).collect();
            Err(Failure::Mistake(format!(
                "there is no contrast '{name}'; the catalog declares {}",
                known.join(", ")
            )))
        }
        Some(name) => Ok((text, values.remove(name).unwrap_or_default())),
        None => Ok((text, Value::Object(values))),
    }
}

/// What coins have shown about a declared contrast, with the keys of `fable serve`.
fn tried(trial: &Trial) -> Value {
    let Trial { trials, e_value, needed, average, certified, .. } = *trial;
    let average = json!({ "mean": average.mean, "lower": average.lower, "upper": average.upper });
    json!({ "trials": trials, "e_value": e_value, "needed": needed, "average": average, "certified": certified.sign() })
}

/// Adds the keys of one object to another.
fn add(object: &mut Value, more: Value) {
    if let (Some(object), Value::Object(mut more)) = (object.as_object_mut(), more) {
        object.append(&mut more);
    }
}

fn contrast_name<'c>(catalog: &Catalog<'c>, contrast: usize) -> &'c str {
    catalog.contrasts().get(contrast).map_or("?", |contrast| contrast.name)
}

pub(super) fn line(name: &str, assessment: &Assessment) -> String {
    let Assessment { mean, lower, upper, evidence, verdict, valid, .. } = *assessment;
    let verdict = match verdict {
        Verdict::For => "for",
        Verdict::Against => "against",
        Verdict::Open => "open",
    };
    let valid = if valid { "" } else { ", no guarantee" };
    let [mean, lower, upper] = [mean, lower, upper].map(fixed3);
    format!("{name:<32} {verdict:<8} {mean} from {lower} to {upper}, {evidence} observations{valid}\n")
}

/// Signed thousandths.
fn fixed3(number: f64) -> String {
    format!("{number:+.3}")
}

pub(super) fn assessed(assessment: &Assessment) -> Value {
    json!({
        "mean": assessment.mean,
        "sd": assessment.sd,
        "probability": assessment.probability,
        "lower": assessment.lower,
        "upper": assessment.upper,
        "beta": assessment.beta,
        "evidence": assessment.evidence,
        "valid": assessment.valid,
        "promoted": assessment.verdict.sign(),
    })
}

pub(super) fn statistics<P: Read + Write>(device: &mut Device<P>) -> Result<Output, Failure> {
    let counts = device.statistics()?;
    let rows = [
        ("rounds", counts.rounds),
        ("observations", counts.observations),
        ("waiting", counts.waiting.into()),
        ("promotions", counts.promotions.into()),
        ("answered", counts.answered),
        ("refused", counts.refused),
        ("snapshots", counts.store.generation),
        ("events", counts.store.events),
        ("free_bytes", counts.store.free),
        ("erases", counts.store.erases),
    ];
    let text = rows.map(|(name, count)| format!("{name:<12} {count}\n")).concat();
    let value = rows.into_iter().map(|(name, count)| (name.to_owned(), Value::from(count))).collect();
    Ok((text, Value::Object(value)))
}

pub(super) fn replayed<P: Read + Write>(
    device: &mut Device<P>,
    settings: Settings<'_>,
) -> Result<Output, Failure> {
    let catalog = device.catalog()?;
    let tape = device.tape()?;
    let replay = tape.replay(catalog, settings).map_err(|error| Failure::Trouble(error.to_string()))?;
    let mut contrasts = 0;
    for ((index, here), trial) in (0_u8..).zip(&replay.contrasts).zip(&replay.trials) {
        contrasts += usize::from(device.assess(index)? != *here || device.trial(index)? != *trial);
    }
    if !tape.agrees(&replay) || contrasts > 0 {
        return Err(Failure::Trouble(format!(
            "{} of {} decisions and {contrasts} of {} contrasts come out differently here; are the settings the device's, --seed, --probe and exploration too?",
            replay.different.len(),
            replay.decisions,
            replay.contrasts.len()
        )));
    }
    let text = format!(
        "{} events replayed: {} decisions and {} contrasts are the same, bit for bit\n",
        replay.events,
        replay.decisions,
        replay.contrasts.len()
    );
    Ok((
        text,
        json!({ "events": replay.events, "decisions": replay.decisions, "contrasts": replay.contrasts.len(), "same": true }),
    ))
}
