//! Explanations in words say what core's explanation says.

use fable_core::catalog::{AGENT, Part as Pattern, RUBRIC, agent};
use fable_core::preference::{Average, Trial, Verdict};
use fable_core::{Feasible, HostUser, Policy, Rule, Settings};
use fable_simulate::SimulatedUser;
use fable_text::wording;

#[test]
fn names_are_unambiguous() {
    let name = |name: &str| wording::coordinate(&AGENT, AGENT.coordinate(name).unwrap());
    assert_eq!(name("style=concise"), "concise");
    assert_eq!(name("risk*style=direct"), "direct given risk");
    assert_eq!(name("memory=recent_memory*tool=web_search"), "recent_memory with web_search");
    assert_eq!(wording::coordinate(&AGENT, 254), "");
    // In `rubric` three components have values of the same names.
    assert_eq!(wording::coordinate(&RUBRIC, 0), "rigor=level_1");
    assert_eq!(
        wording::action(&RUBRIC, fable_core::Action(5)),
        "rigor=level_1, steps=level_3, examples=level_5"
    );
    assert_eq!(wording::action(&RUBRIC, fable_core::Action(27)), "");
}

/// 200 decisions: the largest share comes first, what it is worth is right, and exploration is told; a tie is one.
#[test]
fn reasons_are_the_largest_shares() {
    let user = SimulatedUser::new(&AGENT, 3);
    let policy = Policy::new(&AGENT, Settings::default()).unwrap();
    let mut host = HostUser::<f64>::new(&policy, "ana").unwrap();
    let everything = Feasible::all(&AGENT);
    let (mut explored, mut alike) = ([0, 0], [0, 0]);
    for round in 1..=200 {
        let context = user.request(round).unwrap().context;
        let decision = host.decide(&context, &everything).unwrap();
        let mut asked = host.user();
        let why = asked.explain(decision.id, None, None).unwrap();
        let said = wording::reasons(&AGENT, &why, 2);
        let largest = why.shares().map(|share| share.chosen - share.other).fold(f64::MIN, f64::max);
        let (head, reasons) = said.split_once(": ").unwrap();
        if largest >= 0.01 {
            assert!(
                reasons.split_once('(').unwrap().1.starts_with(&format!("{largest:+.2})")),
                "{said}\n{why}"
            );
        } else {
            let tie = why.chosen_score == why.other_score;
            assert_eq!(
                reasons,
                if tie { "they are alike, and it comes first" } else { "they are almost alike" }
            );
            alike[usize::from(tie)] += 1;
        }
        assert!(reasons.matches('(').count() <= 2);
        assert!(head.starts_with("rather than "));
        assert_eq!(head.ends_with(", to try it"), why.explored);
        explored[usize::from(why.explored)] += 1;
        host.feedback(decision.id, user.reward(round, &context, decision.action)).unwrap();
    }
    assert!(
        explored.iter().all(|count| *count > 10) && alike.iter().sum::<i32>() < 20,
        "{explored:?} {alike:?}"
    );
}

#[test]
fn one_allowed_action_needs_no_reasons() {
    let user = SimulatedUser::new(&AGENT, 3);
    let policy = Policy::new(&AGENT, Settings::default()).unwrap();
    let mut host = HostUser::<f64>::new(&policy, "ana").unwrap();
    let parts = [agent::MEMORY, agent::TOOL, agent::STYLE].map(|component| Pattern::new(component, &[0]));
    let one = Feasible::new(&AGENT, &[Rule::require("one", &parts)]).unwrap();
    let context = user.request(1).unwrap().context;
    let decision = host.decide(&context, &one).unwrap();
    let mut asked = host.user();
    let why = asked.explain(decision.id, None, None).unwrap();
    assert_eq!(wording::reasons(&AGENT, &why, 2), "nothing else is allowed");
}

/// Probed rounds are told as such, after the fact: which way it went by the reasons, and before it alike.
#[test]
fn probed_rounds_are_told() {
    let user = SimulatedUser::new(&AGENT, 3);
    let policy = Policy::new(&AGENT, Settings { probe: 1.0, ..Settings::default() }).unwrap();
    let mut host = HostUser::<f64>::new(&policy, "ana").unwrap();
    let everything = Feasible::all(&AGENT);
    let mut counts = [0; 3];
    for round in 1..=300 {
        let context = user.request(round).unwrap().context;
        let decision = host.decide(&context, &everything).unwrap();
        let mut asked = host.user();
        let probed: Vec<usize> =
            asked.probe_outcomes(decision.id).map(|probe| probe.contrast.into()).collect();
        let why = asked.explain(decision.id, None, None).unwrap();
        let said = wording::reasons(&AGENT, &why, 2);
        let way = if why.chosen == why.intended {
            assert_eq!(said.ends_with("; a coin agreed"), !probed.is_empty(), "{said}");
            usize::from(!probed.is_empty())
        } else {
            assert!(said.ends_with(": trying it the other way, to be sure"), "{said}");
            2
        };
        counts[way] += 1;
        if way > 0 {
            let told = wording::probe(&AGENT, decision.action, probed.iter().copied());
            let coins = if probed.len() == 1 { "a coin fell for " } else { "coins fell for " };
            assert!(told.starts_with(&format!("trying it both ways, to be sure: {coins}")), "{told}");
            assert_eq!(told.matches(", not ").count(), probed.len(), "{told}");
        }
        host.feedback(decision.id, user.reward(round, &context, decision.action)).unwrap();
    }
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
}

#[test]
fn a_trial_in_words() {
    let average = Average { mean: 0.314, lower: -0.1, upper: 0.72 };
    let mut trial =
        Trial { trials: 31, e_value: 12.41, needed: 480.0, average, certified: Verdict::Open, valid: true };
    assert_eq!(wording::trial(&trial), "31 coins, 12.4 of 480 needed, on average +0.31 (-0.10 to +0.72)");
    (trial.e_value, trial.certified, trial.trials) = (1.25e9, Verdict::Against, 1);
    assert_eq!(
        wording::trial(&trial),
        "1 coin, 1e9 of 480 needed, certain, on average +0.31 (-0.10 to +0.72)"
    );
    trial.trials = 0;
    assert_eq!(wording::trial(&trial), "no coin yet");
}
