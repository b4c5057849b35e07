//! How large the radius has to be: promotions that are right and wrong, for users whose length it covers and others.

use super::lives::HORIZONS;
use crate::parallel;
use crate::policies::{Agent, PER_USER};
use crate::report::Table;
use crate::setup::{Setup, StudyError};
use fable_core::catalog::{AGENT, RUBRIC, TAU2};
use fable_core::preference::{Comparison, Verdict};
use fable_core::{Catalog, Exploration, Feasible, Policy, Request, Settings};
use fable_simulate::SimulatedUser;

/// The radius in parts of sqrt(base precision), that is, the length of theta* that it covers.
const COVERED: [f64; 4] = [0.0, 0.25, 0.5, 1.0];
/// Rounds between two looks at the contrasts.
const LOOK: u32 = 10;

/// Right and wrong promotions of one user, for each radius.
type Promoted = [(usize, bool); COVERED.len()];

fn live(
    catalog: &'static Catalog<'static>,
    policies: &[Policy<'_, f64>],
    acting: &Policy<'_, f64>,
    length: f64,
    number: u64,
) -> Result<Promoted, StudyError> {
    let theta = SimulatedUser::new(catalog, number).theta().iter().map(|weight| length * weight).collect();
    let user = SimulatedUser::with_theta(catalog, theta, number)?;
    let contrasts: Vec<Comparison> = (0..catalog.contrasts().len())
        .filter_map(|contrast| Comparison::declared(catalog, contrast))
        .collect();
    let mut workspace = vec![0.0; catalog.workspace_len()];
    let (mut agent, everything) = (Agent::new(acting, PER_USER, number)?, Feasible::all(catalog));
    let mut right = vec![[false; COVERED.len()]; contrasts.len()];
    let mut wrong = [false; COVERED.len()];
    for round in 1..=HORIZONS[HORIZONS.len() - 1] {
        let context = user.request(round)?.context;
        let action = agent.choose(&Request::new(&context, &everything), |_| 0.0)?.unwrap_or_default();
        agent.learn(user.reward(round, &context, action))?;
        if round % LOOK != 0 {
            continue;
        }
        // The radius changes no decision: one life serves all.
        let mut learner = agent.learner().clone();
        for (index, policy) in policies.iter().enumerate() {
            let mut seen = learner.bind(policy, &mut workspace)?;
            for (comparison, right) in contrasts.iter().zip(&mut right) {
                let truth = user.contrast(comparison);
                match seen.assess(comparison)?.verdict {
                    Verdict::Open => {}
                    Verdict::For if truth > 0.0 => right[index] = true,
                    Verdict::Against if truth < 0.0 => right[index] = true,
                    _ => wrong[index] = true,
                }
            }
        }
    }
    Ok(std::array::from_fn(|index| (right.iter().filter(|right| right[index]).count(), wrong[index])))
}

/// The table, and its numbers by name.
pub(super) fn table(setup: &Setup) -> Result<(Table, Vec<(String, f64)>), StudyError> {
    let columns = ["users, exploration".to_owned()]
        .into_iter()
        .chain(COVERED.iter().map(|covered| format!("length covered: {covered}")))
        .collect::<Vec<_>>();
    let (mut table, mut numbers) = (Table::new("radius", &columns), Vec::new());
    let catalogs: [(&'static Catalog<'static>, usize); 3] =
        [(&RUBRIC, setup.scale(200, 6)), (&TAU2, setup.scale(200, 6)), (&AGENT, setup.scale(60, 2))];
    for (catalog, count) in catalogs {
        for length in [1.0, 2.0] {
            for (name, nu) in [("default nu = 0.3", 0.3), ("nu = 5", 5.0)] {
                let settings = Settings { exploration: Exploration::Constant(nu), ..Settings::PAPER };
                let radius =
                    |covered: &f64| settings.base_precision.map(|precision| covered * precision.sqrt());
                let policies =
                    COVERED.iter().map(|covered| Settings { prior_radius: radius(covered), ..settings });
                let policies =
                    policies.map(|settings| Policy::new(catalog, settings)).collect::<Result<Vec<_>, _>>()?;
                let acting = Policy::new(catalog, settings)?;
                let label = format!("defaults, radius, {}", catalog.definition().name);
                let users = parallel::map(setup, &label, count, |user| {
                    live(catalog, &policies, &acting, length, 50_000 + user as u64)
                })?;
                let users_name = format!("`{}`, length {length}, {name}", catalog.definition().name);
                let mut cells = vec![users_name.clone()];
                for (index, covered) in COVERED.iter().enumerate() {
                    let right = users.iter().map(|user| user[index].0).sum::<usize>() as f64 / count as f64;
                    let wrong = users.iter().filter(|user| user[index].1).count() as f64 / count as f64;
                    cells.push(format!("{right:.2} right, {:.1}% ever wrong", 100.0 * wrong));
                    numbers.push((format!("radius {covered}, {users_name}: right"), right));
                    numbers.push((format!("radius {covered}, {users_name}: wrong"), wrong));
                }
                table.row(cells);
            }
        }
    }
    Ok((table, numbers))
}
