// What a catalog with its settings holds and does. The same text is compiled into the test and into what it generates.

use fable_core::{Action, Catalog, Context, Feasible, HostUser, Policy, Scalar, Settings};
use std::fmt::Write;

/// Everything in the definition and the settings, the sizes, the fingerprints, and what a user of it comes to.
#[must_use]
pub fn report(catalog: &Catalog<'_>, settings: Settings<'_>) -> String {
    let mut text = String::new();
    let fingerprint = Policy::<f32>::new(catalog, settings).map(|policy| policy.fingerprint());
    let _ = writeln!(text, "{:?}\n{settings:?}", catalog.definition());
    let _ = writeln!(text, "{:x} {fingerprint:x?}", catalog.fingerprint());
    let _ = writeln!(text, "{} {} {}", catalog.actions(), catalog.state_len(), catalog.workspace_len());
    let _ = play::<f32>(&mut text, catalog, settings);
    let _ = play::<f64>(&mut text, catalog, settings);
    text
}

/// What is decided over some rounds, and the mean at their end: numbers as text that tells every bit.
fn play<T: Scalar>(text: &mut String, catalog: &Catalog<'_>, settings: Settings<'_>) -> Option<()> {
    let policy = Policy::<T>::new(catalog, settings).ok()?;
    let mut ana = HostUser::<T>::new(&policy, "ana").ok()?;
    let (tasks, signals) = (catalog.definition().tasks.len(), catalog.definition().signals.len());
    for round in 0..24_u16 {
        let task = if tasks == 0 || round % 5 == 4 { None } else { Some(usize::from(round) % tasks) };
        let levels: Vec<f32> =
            (0..signals).map(|signal| ((signal * 7 + usize::from(round) * 3) % 11) as f32 / 10.0).collect();
        let context = Context::new(catalog, task, &levels).ok()?;
        match ana.decide(&context, &Feasible::all(catalog)) {
            Err(error) => drop(writeln!(text, "{error}")),
            Ok(decision) => {
                let reward = f64::from((decision.action.0 * 7 + round * 3) % 9) / 4.0 - 1.0;
                let learned = ana.feedback(decision.id, reward);
                let _ = writeln!(text, "{decision:?} {learned:?}");
            }
        }
    }
    let mut mean = vec![T::ZERO; catalog.dimension()];
    let mut user = ana.user();
    let (posterior, scratch) = user.posterior_and_scratch();
    posterior.mean(scratch, &mut mean).ok()?;
    let _ = writeln!(text, "{:?}", mean.iter().map(|number| number.to_f64()).collect::<Vec<_>>());
    let last = Action(u16::try_from(catalog.actions() - 1).ok()?);
    let _ = writeln!(text, "{:?}", catalog.action_name(last).map(|name| name.to_string()));
    Some(())
}
