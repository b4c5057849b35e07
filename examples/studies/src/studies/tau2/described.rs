//! What the study is made of, in words and tables: the protocol, the host, the recorded runs, and what each policy is given.

use super::bench::{Bench, CALIBRATION, HOST, TRAINED};
use super::experiment::METHODS;
use super::host::{DOMAINS, PROFILES, Told};
use crate::policies::Actor;
use crate::report::{Report, Table};
use crate::statistics::{mean, wilson};

/// Who plays, how long, on which tasks.
pub fn protocol(report: &mut Report, bench: &Bench) {
    let [airline, ..] = &bench.domains;
    let (train, test) = airline.tasks();
    report.text(&format!(
        "Four domains, two profiles and three seeds are 24 trajectories of ten learning and ten frozen rounds; the 20 + 20 tasks
         of a domain are shared by the two profiles, ten each, and are the same for every seed and policy. They are the tasks of
         tau2-bench: {CALIBRATION} for calibration and 20 to learn from are drawn from its training tasks, 20 to evaluate with from its test
         tasks (airline has exactly {train} and {test}; banking knowledge is not split and was halved). The paper says of the {CALIBRATION} that they are
         excluded and nothing more, and so they are here: nothing is fitted to them and nothing learned from them. 18 actions, catalog
         `tau2` (d = 29) with its costs, no default scores, weight of costs 0.2 as in the paper's signal, otherwise
         `Settings::PAPER`. A policy sees neither the task nor its features (the paper hides them), so there is no context. Frozen
         rounds use the posterior mean: the paper says so of Math500 and says nothing here. Onboarding is one statement: the profile's style
         over the opposite one (response 1, precision 4)."
    ));
}

/// What the host is, and where an action can change what it does.
pub fn host(report: &mut Report, bench: &Bench) {
    let hosts = bench.hosts(bench.reach());
    let of = |told: Told| {
        let mean_of = |profile| mean(&hosts.each_ref().map(|host| host.expected_alignment(profile, told)));
        PROFILES.map(|profile| format!("{:.2}", mean_of(profile))).join(" and ")
    };
    let table = [Told::Nothing, Told::Preference(PROFILES[0]), Told::Preference(PROFILES[1])].map(of);
    report.text(&format!(
        "There is no model to call. **The host is simulated**, and its numbers are aggregates of recorded runs, computed when the study
         runs. Success and words per turn, with their spread, are those of {HOST} by domain, in the benchmark's own branches and tags ({} runs of
         pull requests, whose licence is not certain, are left out). Which tasks are solved always or never follows from the leaderboard's
         pass^1 and pass^2 of {HOST}, and a task that was recorded is decided as recorded. Banking knowledge has no recorded runs: its success is
         the leaderboard's of Claude Opus 4.8, the model of the paper's host, its lengths are the mean of the other domains. No log says what
         the paper's style sentences do. What such sentences do to the length of answers is known from gpt-35-turbo and gpt-4 on exams (the
         data of the study `prompts`): asking for brevity multiplied it by {:.2}, asking for a plan and a summary by {:.2}; these are
         `concise` and `guided` here, and `direct` is half way to `concise` (assumed). How alignment follows from words is as in the first
         edition: the efficient profile falls from 1 at 40 words to 0 at 140; the guided one rises from 0 at 60 to 1 at 160 and falls from
         240 to 400. So the host alone has {} (efficient and guided; the paper's mean is 0.435), {} when it writes briefly and {} when it guides.",
        bench.left_out, bench.concise, bench.guided, table[0], table[1], table[2]
    ));
    let compared = |domain: usize, mode: &str, name: &str| {
        let find = |mode: &str, name: &str| {
            bench
                .arms
                .iter()
                .find(|arm| (arm.domain, arm.mode.as_str(), arm.name.as_str()) == (domain, mode, name))
        };
        find(mode, name).zip(find("default", HOST)).map_or((f64::NAN, f64::NAN, f64::NAN), |(arm, host)| {
            (arm.words / host.words, arm.calls / host.calls, arm.p())
        })
    };
    let long = [compared(0, "default", "toolorchestra"), compared(1, "default", "toolorchestra")];
    let (alone, trained) = (compared(2, "no-user", HOST), compared(2, "default", TRAINED));
    let [manual, workflow, plan] = bench.steps;
    report.text(&format!(
        "**An action can change success where recorded arms differ.** An agent that writes {:.1} and {:.1} times as much (toolorchestra, airline
         and retail) cannot be told from {HOST} in success (p = {:.2} and {:.2}): style changes nothing. Where nobody can be asked (`no-user`,
         telecom) the difference cannot be told from luck either (p = {:.2}): `ask_if_missing` changes nothing. Training {HOST} changed success in
         telecom (p = {:.4}), where it then makes {:.1} times as many tool calls, and nothing that the runs tell from luck elsewhere (qwen2.5-7b solves
         less in airline, but no sentence makes one model of another):
         `verify` has a part of that effect, on tasks that fail, in telecom only. Which part is read off the steps of telecom tasks that
         {HOST} did: {manual:.3} with the policy as a manual, {workflow:.3} as a workflow, {plan:.3} with the whole plan in the prompt. Another text
         brought {:.2} of what the plan brought, and that is the part. That a sentence does such a part of what training did is an assumption,
         which the section on the host and the settings varies from nothing to all of it. Every policy has its own luck, as if the model had been called.",
        long[0].0,
        long[1].0,
        long[0].2,
        long[1].2,
        alone.2,
        trained.2,
        trained.1,
        bench.reach()
    ));
    report.text("This is a consistency check, not a replication.");
}

/// The aggregates of the recorded runs.
pub fn recorded(report: &mut Report, bench: &Bench) {
    let heads = [
        "runs",
        "mode",
        "number",
        "solved",
        "words per turn",
        "spread of the logarithm",
        "tool calls",
        "only the host solved",
        "only this one",
        "p",
    ];
    let mut table = Table::new("recorded", &heads);
    for arm in &bench.arms {
        let (share, interval) = (arm.solved as f64 / arm.runs as f64, wilson(arm.solved, arm.runs));
        let name = DOMAINS.get(arm.domain).map_or("", |(name, _)| *name);
        let itself = (arm.name.as_str(), arm.mode.as_str()) == (HOST, "default");
        let pair = |count: usize| {
            if arm.paired > 0 && !itself { format!("{count} of {}", arm.paired) } else { String::new() }
        };
        table.row([
            format!("{name}, {}", arm.name),
            arm.mode.clone(),
            arm.runs.to_string(),
            format!("{share:.3} ({:.2} to {:.2})", interval.0, interval.1),
            // Where there is nobody to talk to nothing is said.
            if arm.spread > 0.0 { format!("{:.0}", arm.words) } else { String::new() },
            if arm.spread > 0.0 { format!("{:.2}", arm.spread) } else { String::new() },
            format!("{:.1}", arm.calls),
            pair(arm.only_host),
            pair(arm.only_this),
            if pair(0).is_empty() { String::new() } else { format!("{:.4}", arm.p()) },
        ]);
        report.number(format!("recorded.{name}.{}.{}", arm.name, arm.mode), share);
    }
    report.table(table);
    report.text(
        "One run of a task each, with the exact test of McNemar against the host on the same tasks. What the host is made of:",
    );
    let heads = [
        "",
        "tasks to learn, to evaluate",
        "success",
        "decided",
        "words per turn",
        "spread",
        "of the task",
        "training added",
        "verifying adds",
    ];
    let mut table = Table::new("host", &heads);
    for ((domain, (name, _)), host) in bench.domains.iter().zip(DOMAINS).zip(bench.hosts(bench.reach())) {
        let (train, test) = domain.tasks();
        let trained =
            if domain.runs == 0 { "not recorded".into() } else { format!("{:+.3}", domain.trained) };
        let adds = host.verify * (1.0 - domain.rate);
        table.row([
            name.to_owned(),
            format!("{train}, {test}"),
            format!("{:.3}", domain.rate),
            format!("{:.2}", domain.decided),
            format!("{:.0}", host.own),
            format!("{:.2}", domain.spread),
            format!("{:.2}", domain.same),
            trained,
            format!("{adds:+.3}"),
        ]);
        report.number(format!("host.{name}.decided"), domain.decided);
        report.number(format!("host.{name}.words"), host.own);
        report.number(format!("host.{name}.verify"), adds);
    }
    report.table(table);
}

/// What each policy starts with and listens to.
pub fn given(report: &mut Report) {
    let heads = ["given to", "statement", "rewards", "costs", "promotion", "state of", "a coordinate per"];
    let mut table = Table::new("given", &heads);
    let yes = |is: bool| if is { "yes" } else { "no" };
    for method in METHODS.iter().filter(|method| method.actor == Actor::Learner) {
        table.row([
            method.name,
            yes(method.onboarded),
            yes(method.learns),
            yes(method.costs),
            yes(method.promotes),
            if method.shared { "the domain" } else { "the user" },
            if method.factorized { "value and pair" } else { "complete action" },
        ]);
    }
    report.table(table);
    report.text(
        "Who hears a statement hears the same one with the same precision; in the flat model it is spread over the complete actions. A flat
         model has the prior spread of a score that the factorized one has (its precision is divided by six), but for _surer prior_, which has
         the factorized precision as it is. Costs are those of the action in the choice and in the reward. Per-user LinTS is Fable without
         onboarding and promotion, so with a statement it would be _no promotion_, and _no onboarding_ differs from it by promotion alone.",
    );
}
