//! What `fable inspect` shows: every number against a dense oracle, the same report wherever a life comes from, and the
//! command as a person uses it.

use fable_core::catalog::Direction;
use fable_core::catalog::rubric::{self, Level, RUBRIC};
use fable_core::catalog::{AGENT, Block, BlockSet, Component, Contrast, Definition, TAU2, Value as Setting};
use fable_core::host::HostLearner;
use fable_core::journal::{Event, Observation};
use fable_core::record::decode_event;
use fable_core::{
    Action, Catalog, Context, Feasible, HostUser, Policy, Scalar, Settings, Statement, user_hash,
};
use fable_std::inspect::{Guarantee, Inspection, Question, inspect};
use fable_std::replay::Tape;
use fable_std::serve::{Options, serve};
use fable_std::store::transfer;
use nalgebra::{Cholesky, DMatrix, DVector};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Cursor, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// Every kind of block: main effects, per task, scaled by a signal, both, a pair without its null value.
const MIXED: Catalog<'static> = Catalog::new(Definition {
    name: "mixed",
    components: &[
        Component::new("a", &[Setting::new("a0", "", 0.0), Setting::new("a1", "", 0.3)]),
        Component::new(
            "b",
            &[Setting::new("b0", "", 0.1), Setting::new("b1", "", 0.0), Setting::new("b2", "", 0.2)],
        )
        .with_null(1),
    ],
    tasks: &["x", "y", "z"],
    signals: &["s", "t"],
    blocks: &[
        Block::main(0),
        Block::main(1),
        Block::main(0).per_task(),
        Block::main(1).scaled_by(0),
        Block::main(1).per_task().scaled_by(1),
        Block::pair(0, 1).without_null(),
    ],
    contrasts: &[
        Contrast::new("b0_over_b2_in_y", &[0, 0], &[0, 2]).when(Some(1), &[0.5, 0.25]),
        Contrast::new("a1_over_a0", &[1, 0], &[0, 0]).when(None, &[1.0, 0.0]),
    ],
    ..Definition::EMPTY
});

/// Numbers from 0 to 1 without a generator that is under test: the golden ratio's multiples.
fn spread(index: usize, step: usize) -> f64 {
    (0.618_033_988_749_895 * (1 + index * step) as f64).fract()
}

/// phi(c, a) spelled out from the coordinate names alone.
fn features(catalog: &Catalog<'_>, context: &Context, action: Action) -> DVector<f64> {
    let values = catalog.values(action).unwrap();
    DVector::from_fn(catalog.dimension(), |index, _| {
        let name = catalog.coordinate_name(index).unwrap().to_string();
        let factors = name.split('*').map(|factor| match factor.split_once('=') {
            Some(("task", task)) => {
                f64::from(context.task().is_some_and(|own| catalog.definition().tasks[own] == task))
            }
            Some((component, value)) => {
                let component = catalog.component(component).unwrap();
                f64::from(catalog.value(component, value) == Some(values[component]))
            }
            None => f64::from(context.signal(catalog.signal(factor).unwrap()).unwrap()),
        });
        factors.product()
    })
}

/// Dense Lambda and h, and how often each coordinate was used.
struct Dense {
    lambda: DMatrix<f64>,
    h: DVector<f64>,
    used: Vec<u32>,
    /// ln det Lambda after onboarding.
    started: f64,
}

type Host<'p, T> = HostUser<'p, T, 8>;

fn start<'p, T: Scalar>(policy: &Policy<'p, T>, user: u64) -> Host<'p, T> {
    let mut learner = HostLearner::for_policy(policy);
    learner.start(policy, user).unwrap();
    HostUser::from_learner(policy, learner).unwrap()
}

fn log_det(lambda: &DMatrix<f64>) -> f64 {
    Cholesky::new(lambda.clone()).unwrap().l().diagonal().iter().map(|pivot| 2.0 * pivot.ln()).sum()
}

/// One onboarding statement and eighty rewards, learned by Fable and by the oracle.
fn learned<'p, T: Scalar>(policy: &Policy<'p, T>) -> (Host<'p, T>, Dense) {
    let (catalog, settings) = (policy.catalog(), *policy.settings());
    let mut host = start(policy, 7);
    let d = catalog.dimension();
    let mut dense = Dense {
        lambda: DMatrix::identity(d, d) * policy.base_precision(),
        h: DVector::zeros(d),
        used: vec![0; d],
        started: 0.0,
    };
    let v = DVector::from_fn(d, |index, _| {
        f64::from(u8::from(index == d - 1)) - f64::from(u8::from(index == d - 2))
    });
    let direction = Direction::new(catalog, [(d - 1, 1.0), (d - 2, -1.0)]).unwrap();
    host.user().onboard(&Statement { direction, response: 0.5, precision: 4.0 }).unwrap();
    dense.lambda += &v * v.transpose() * 4.0;
    dense.h += &v * (4.0 * 0.5);
    dense.started = log_det(&dense.lambda);
    for round in 0..80 {
        let tasks = catalog.definition().tasks.len();
        let task = (tasks > 0)
            .then(|| (spread(round, 3) * (tasks + 1) as f64) as usize)
            .filter(|task| *task < tasks);
        let signals: Vec<f32> =
            (0..catalog.definition().signals.len()).map(|signal| spread(round, 5 + signal) as f32).collect();
        let context = Context::new(catalog, task, &signals).unwrap();
        let action = Action((spread(round, 7) * catalog.actions() as f64) as u16);
        let reward = 2.0 * spread(round, 11) - 1.0;
        host.user().observe(&context, action, reward).unwrap();
        let phi = features(catalog, &context, action);
        let residual =
            reward - (catalog.default_score(&context, action) - settings.cost_weight * catalog.cost(action));
        let active: Vec<usize> = (0..d).filter(|index| phi[*index] != 0.0).collect();
        for &i in &active {
            for &j in &active {
                dense.lambda[(i, j)] += phi[i] * phi[j] / settings.noise_variance;
            }
            dense.h[i] += phi[i] * residual / settings.noise_variance;
            dense.used[i] += 1;
        }
    }
    (host, dense)
}

fn agrees<T: Scalar>(catalog: &Catalog<'_>) {
    let settings =
        Settings { prior_radius: Some(1.5), noise_proxy: Some(0.5), alpha: 0.1, ..Settings::DEFAULT };
    let policy = Policy::<T>::new(catalog, settings).unwrap();
    let (mut host, dense) = learned(&policy);
    let component = &catalog.definition().components[1];
    let asked = format!("{}={}:{}", component.name, component.values[2].name, component.values[0].name);
    let asked = Question::parse(catalog, &asked).unwrap();
    let report = inspect(&mut host.user(), std::slice::from_ref(&asked)).unwrap();

    let tolerance = if T::DIGITS == 53 { 1e-10 } else { 1e-4 };
    let close = |what: &str, found: f64, expected: f64| {
        assert!(
            (found - expected).abs() <= tolerance * (1.0 + expected.abs()),
            "{what}: {found}, expected {expected}"
        );
    };
    let factor = Cholesky::new(dense.lambda.clone()).unwrap();
    let (mean, sigma) = (factor.solve(&dense.h), factor.inverse());
    let mut seen = vec![false; catalog.dimension()];
    for block in &report.blocks {
        assert!(block.weights.is_sorted_by(|one, other| one.mean.abs() >= other.mean.abs()));
        for weight in &block.weights {
            let index = catalog.coordinate(&weight.name).unwrap();
            assert!(!std::mem::replace(&mut seen[index], true));
            close(&weight.name, weight.mean, mean[index]);
            close(&weight.name, weight.sd, sigma[(index, index)].sqrt());
            assert!(
                weight.evidence >= dense.used[index]
                    && (!weight.exact || weight.evidence == dense.used[index])
            );
            assert_eq!(weight.exact, !weight.name.contains('*') || weight.evidence == 0, "{}", weight.name);
        }
    }
    assert!(seen.iter().all(|seen| *seen));

    let ratio = log_det(&dense.lambda) - dense.started;
    let beta = 1.5 + (0.5 / 0.25_f64).sqrt() * (ratio + 2.0 * (1.0 / 0.1_f64).ln()).sqrt();
    close("information", report.state.log_det_ratio, ratio);
    close("beta", report.state.beta, beta);
    close(
        "learned",
        report.state.learned.unwrap(),
        catalog.dimension() as f64 - policy.base_precision() * sigma.trace(),
    );
    assert_eq!(report.contrasts.len(), catalog.contrasts().len() + 1);
    for (index, found) in report.contrasts.iter().enumerate() {
        let compared =
            fable_core::preference::Comparison::declared(catalog, index).unwrap_or(asked.comparison);
        let w = features(catalog, &compared.context, compared.prefer)
            - features(catalog, &compared.context, compared.over);
        let (estimate, sd) = (w.dot(&mean), w.dot(&(&sigma * &w)).sqrt());
        close(&found.name, found.mean, estimate);
        close(&found.name, found.sd, sd);
        close(&found.name, found.lower, estimate - beta * sd);
        close(&found.name, found.upper, estimate + beta * sd);
        close(&found.name, found.distance, beta * sd - estimate.abs());
        assert_eq!(found.declared, index < catalog.contrasts().len());
    }
    let pivots = factor.l().diagonal().map(|root| root * root);
    close("least pivot", report.state.pivots.least, pivots.min());
    close("largest pivot", report.state.pivots.most, pivots.max());
    assert!(report.state.sound && report.state.guarantee == Guarantee::Holds);
    assert_eq!((report.state.rewards, report.state.movable), (80, None));
}

#[test]
fn every_number_is_the_oracles() {
    for catalog in [&MIXED, &TAU2, &RUBRIC, &AGENT] {
        agrees::<f64>(catalog);
        agrees::<f32>(catalog);
    }
}

#[test]
fn promotions_stand_fall_and_turn_over() {
    let settings = Settings { base_precision: Some(1.0), ..Settings::DEFAULT };
    let policy = Policy::<f64>::new(&RUBRIC, settings).unwrap();
    let mut learner = start(&policy, 7);
    let context = Context::new(&RUBRIC, None, &[]).unwrap();
    let live = |learner: &mut Host<'_, f64>, times: u32, liked: f64| {
        for _ in 0..times {
            for (level, reward) in [(Level::Five, liked), (Level::One, -liked)] {
                // An event by itself promotes nothing.
                let action = rubric::action([level, Level::Three, Level::Three]);
                let baseline = policy.baseline(&context, action, None);
                let observation = Observation { context, action, baseline, reward, weight: 1.0 };
                learner.user().check(&Event::Observation(observation)).unwrap().apply();
            }
        }
        inspect(&mut learner.user(), &[]).unwrap()
    };
    let first = |report: &Inspection| report.contrasts[0].clone();
    let few = live(&mut learner, 3, 0.9);
    assert_eq!((first(&few).verdict, first(&few).evidence), (0, 6));
    assert!(
        first(&few).needs.starts_with("about ") && first(&few).needs.ends_with(" more rewards"),
        "{}",
        first(&few).needs
    );
    let certain = live(&mut learner, 60, 0.9);
    assert_eq!(
        (first(&certain).verdict, first(&certain).needs.as_str()),
        (1, "nothing: certain, and can be promoted")
    );
    assert!(first(&certain).distance < 0.0 && first(&certain).rewards_to_go == Some(0));
    assert!(learner.user().promote(3).unwrap() > 0);
    let promoted = first(&live(&mut learner, 0, 0.0)).promotion.unwrap();
    assert_eq!((promoted.standing, promoted.verdict, promoted.evidence, promoted.at), ("holds", 1, 126, 3));
    assert_eq!(promoted.sentence, "The user prefers rigor=level_5 to rigor=level_1.");
    assert!(
        (promoted.lower - first(&certain).lower).abs() < 1e-6
            && (promoted.upper - first(&certain).upper).abs() < 1e-6
    );
    assert_eq!(first(&live(&mut learner, 55, -0.9)).promotion.unwrap().standing, "doubtful");
    let revoked = first(&live(&mut learner, 400, -0.9));
    assert_eq!(revoked.promotion.as_ref().unwrap().standing, "revoked");
    assert_eq!(revoked.needs, "promoted by the model, 126 rewards, since round 0: revoked");
}

#[test]
fn the_end_of_the_guarantee_has_a_reason() {
    let of = |started: Settings<'static>, now: Settings<'static>, unlearn: bool| {
        let (before, after) =
            (Policy::<f64>::new(&TAU2, started).unwrap(), Policy::<f64>::new(&TAU2, now).unwrap());
        let mut learner = start(&before, 7);
        let context = Context::new(&TAU2, None, &[]).unwrap();
        learner.user().observe(&context, Action(2), 0.5).unwrap();
        if unlearn {
            let baseline = before.baseline(&context, Action(2), None);
            let observation = Observation { context, action: Action(2), baseline, reward: 0.5, weight: 1.0 };
            learner.user().unlearn(observation).unwrap();
        }
        inspect(&mut Host::from_learner(&after, learner.into_learner()).unwrap().user(), &[]).unwrap()
    };
    let (usual, strict) = (Settings::DEFAULT, Settings { alpha: 0.01, ..Settings::DEFAULT });
    let mains = Settings { retained: BlockSet::first(3), base_precision: Some(16.0), ..Settings::DEFAULT };
    assert_eq!(of(usual, usual, false).state.guarantee, Guarantee::Holds);
    assert_eq!(of(usual, usual, true).state.guarantee, Guarantee::Voided);
    assert_eq!(of(usual, strict, false).state.guarantee, Guarantee::SettingsChanged);
    let sparse = of(mains, mains, false);
    assert_eq!(sparse.state.guarantee, Guarantee::BlocksLeftOut);
    assert!(sparse.blocks.iter().map(|block| block.retained).eq([true, true, true, false, false, false]));
    assert!(sparse.blocks[3].weights.iter().all(|weight| weight.mean == 0.0 && weight.sd == 0.25));
}

#[test]
fn questions_are_read_or_told_what_is_wrong() {
    let question = Question::parse(&AGENT, "tool=web_search:no_tool@factual").unwrap();
    assert_eq!(question.comparison.context.task(), AGENT.task("factual").ok());
    for (text, wrong) in [
        ("", "a contrast is COMPONENT=VALUE:VALUE"),
        ("tool", "a contrast is COMPONENT=VALUE:VALUE"),
        ("tool=web_search", "a contrast is COMPONENT=VALUE:VALUE"),
        (
            "tol=web_search:no_tool",
            "there is no component 'tol'; did you mean 'tool'? Known: memory, tool, style",
        ),
        (
            "tool=web:no_tool",
            "'tool' has no value 'web'; did you mean 'web_search'? Known: no_tool, web_search",
        ),
        ("tool=no_tool:no_tool", "two different values"),
        ("tool=web_search:no_tool@golf", "there is no task 'golf'; known: coding"),
        ("tool=web_search:no_tool@", "there is no task ''"),
    ] {
        let error = Question::parse(&AGENT, text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text}: ")) && error.contains(wrong), "{error}");
    }
    assert_eq!(
        Question::parse(&TAU2, "style=concise:guided@x").unwrap_err().to_string().matches("known").count(),
        0
    );
}

/// Runs the command in a folder: exit code, standard output, standard error.
fn fable(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_fable")).current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn readme() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

/// The text between two marks.
fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    text.split_once(from).unwrap().1.split_once(to).unwrap().0
}

/// The README's lamp and a user of it who likes warm light, and at dinner silence: 400 rounds in home.fable.
fn lamp(folder: &Path, scalar: &str) {
    std::fs::write(folder.join("lamp.toml"), between(&readme(), "```toml\n", "```")).unwrap();
    let serve = [
        "serve",
        "--catalog",
        "lamp.toml",
        "--store",
        "home.fable",
        "--nu",
        "8",
        "--scalar",
        scalar,
        "--durability",
        "none",
    ];
    let mut command = Command::new(env!("CARGO_BIN_EXE_fable"));
    let mut service =
        command.current_dir(folder).args(serve).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) =
        (service.stdin.take().unwrap(), BufReader::new(service.stdout.take().unwrap()));
    let mut ask = |request: Value| -> Value {
        writeln!(input, "{request}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    };
    for round in 0..400 {
        let (task, daylight) = (["reading", "dinner"][round % 2], (round % 5) as f64 / 8.0);
        let decided =
            ask(json!({ "op": "decide", "user": "ana", "context": { "task": task, "daylight": daylight } }));
        let light = match decided["action"]["light"].as_str().unwrap() {
            "warm" => 0.75,
            "cold" => -0.75,
            _ => -0.25,
        };
        let speech = if task == "dinner" && decided["action"]["speech"] == "spoken" { -0.5 } else { 0.0 };
        let mood = ((round * 7 % 5) as f64 - 2.0) / 16.0;
        let reward = (light + speech + mood).clamp(-1.0, 1.0);
        if round < 399 {
            ask(json!({ "op": "feedback", "decision": decided["decision"], "reward": reward }));
        }
    }
    let profile = ask(json!({ "op": "profile", "user": "ana" }));
    assert_eq!(profile["text"], "The user likes warm light at dinner.");
    drop(input);
    assert!(service.wait().unwrap().success());
}

const HOME: [&str; 6] = ["inspect", "home.fable", "--user", "ana", "--catalog", "lamp.toml"];

const STATE: &str = "
State
  rounds       400 decisions, 399 rewards, 1 waiting
  learned      7.6 of 13 directions; 12 of 13 weights are movable
  information  28.03; beta is 9.30
  guarantee    holds, if radius and noise are as the settings say
  surprise     1.00 times what is expected; no change noticed
  numbers      finite, pivots from 23.1640 to 572.0000
  size         800 bytes in f64
  catalog      lamp, fingerprint 2b9d6260dac21365
  settings     fingerprint 31d19aa5cc31d482
  user         e6f79c19051ffb05, incarnation 0
  version      records 4, arithmetic 1
`fable inspect --help` explains the words.
";

/// The whole command over one life, which takes the most time to make.
#[test]
fn a_life_is_told_as_the_readme_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lamp(folder, "f64");
    let run = |more: &[&str]| {
        let (code, out, error) = fable(folder, &[&HOME, more].concat());
        assert!(code == 0 && error.is_empty(), "{error}");
        out
    };
    let whole = run(&[]);
    let shown = between(&readme(), "```text\nana in home.fable\n", "```").to_owned();
    assert_eq!(whole, format!("ana in home.fable\n{shown}{STATE}"));
    assert!(whole.contains("\n  and 2 more\n") && !whole.contains('\u{1b}'));
    labels_are_explained(folder, &whole);

    let all = run(&["--all", "--contrast", "light=warm:off@reading"]);
    assert!(!all.contains(" more\n") && all.contains("\n  off with silent "), "{all}");
    let (code, other, _) =
        fable(folder, &["inspect", "ana", "--store", "home.fable", "--catalog", "lamp.toml"]);
    assert_eq!((code, other), (0, whole));
    let asked = all.lines().skip_while(|line| !line.starts_with("  light=warm:off@reading ")).nth(1).unwrap();
    assert!(asked.starts_with("    needs "), "{all}");
    let block = run(&["--block", "light*speech,light"]);
    assert!(
        block.contains("off with silent") && !block.contains("spoken for dinner") && !block.contains("State"),
        "{block}"
    );

    shape(&serde_json::from_str(&run(&["--json"])).unwrap());
    picture(folder, &run);
    mistakes(folder);
}

/// The same events in a store, in an exported file and on a device with room for eight decisions give the same report.
fn the_same_everywhere<T: Scalar>(scalar: &str) {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    lamp(folder, scalar);
    let report = |arguments: &[&str]| {
        let (code, out, error) =
            fable(folder, &[&["inspect"], arguments, &["--catalog", "lamp.toml", "--json"]].concat());
        assert_eq!((code, error.as_str()), (0, ""));
        let mut report: Value = serde_json::from_str(&out).unwrap();
        (report["source"].take(), report)
    };
    let (_, stored) = report(&["home.fable", "--user", "ana"]);
    assert_eq!(stored["state"]["scalar"], scalar);
    assert_eq!(fable(folder, &["export", "ana", "ana.user", "--store", "home.fable"]).0, 0);
    assert_eq!(report(&["ana.user"]), ("ana in ana.user".into(), stored.clone()));

    let catalog = fable_std::catalogs::open(folder.join("lamp.toml").to_str().unwrap()).unwrap();
    let policy = Policy::<T>::new(catalog, Settings::DEFAULT).unwrap();
    let mut device = start(&policy, user_hash("ana"));
    let tape =
        Tape::of_user(&transfer::read(&std::fs::read(folder.join("ana.user")).unwrap()).unwrap()).unwrap();
    let snapshot =
        |device: &Host<'_, T>, name: &str| std::fs::write(folder.join(name), device.to_bytes()).unwrap();
    let mut journal = Vec::new();
    for (index, record) in tape.events.iter().enumerate() {
        if index == 500 {
            snapshot(&device, "half.snapshot");
            journal.clear();
        }
        let event = decode_event(catalog, record).unwrap();
        device.user().check(&event).unwrap().apply();
        journal.extend_from_slice(&u16::try_from(record.len()).unwrap().to_le_bytes());
        journal.extend_from_slice(record);
    }
    snapshot(&device, "board.snapshot");
    std::fs::write(folder.join("board.journal"), &journal).unwrap();
    assert_eq!(report(&["board.snapshot"]), ("board.snapshot".into(), stored.clone()));
    assert_eq!(report(&["half.snapshot", "--journal", "board.journal"]).1, stored);
    assert_ne!(report(&["half.snapshot"]).1, stored);

    let (code, _, error) = fable(folder, &["inspect", "board.snapshot"]);
    assert_eq!(
        (code, error.as_str()),
        (2, "fable: board.snapshot belongs to another catalog or other settings\n")
    );
    std::fs::write(folder.join("board.journal"), &journal[..journal.len() - 1]).unwrap();
    let torn =
        fable(folder, &["inspect", "half.snapshot", "--journal", "board.journal", "--catalog", "lamp.toml"]);
    assert!(torn.0 == 1 && torn.2.contains("the journal: the record ends too early"), "{}", torn.2);
}

#[test]
fn the_same_report_wherever_the_life_is_kept() {
    the_same_everywhere::<f32>("f32");
    the_same_everywhere::<f64>("f64");
}

/// A name can be anything: a terminal is told nothing by it, and a picture stays well-formed.
#[test]
fn a_name_with_tags_and_escapes_is_only_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let name = "<b>&ana \u{1b}[31m\u{7}\u{fffe}";
    let options =
        Options { store: Some(folder.join("store")), durable: true, cache: 0, ..Options::default() };
    let line = json!({ "op": "decide", "user": name, "context": { "task": null } }).to_string();
    serve::<f64>(&TAU2, Settings::DEFAULT, &options, Cursor::new(line), std::io::sink(), |_| ()).unwrap();
    let (code, out, _) =
        fable(folder, &["inspect", "store", "--user", name, "--catalog", "tau2", "--svg", "x.svg"]);
    assert!(code == 0 && out.starts_with("<b>&ana \\u{1b}[31m\\u{7}") && !out.contains('\u{1b}'), "{out}");
    let picture = std::fs::read_to_string(folder.join("x.svg")).unwrap();
    let tree = roxmltree::Document::parse(&picture).unwrap();
    let title = tree.descendants().find(|node| node.has_tag_name("title")).unwrap();
    assert!(title.text().unwrap().starts_with("What Fable believes about <b>&ana "));
    let (code, _, error) = fable(folder, &["inspect", "store", "--user", "\u{1b}[31m", "--catalog", "tau2"]);
    assert_eq!((code, error.as_str()), (3, "fable: store has no user '\\u{1b}[31m'\n"));
}

/// A user of a catalog that ships, with decisions under permissions; nothing that is printed is wider than 80 columns.
#[test]
fn screens_of_80_columns_are_wide_enough() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (catalog, context) in [
        (
            &AGENT,
            Context::new(&AGENT, AGENT.task("simple_preference").ok(), &[0.25, 0.5, 0.75, 1.0]).unwrap(),
        ),
        (&TAU2, Context::new(&TAU2, None, &[]).unwrap()),
        (&RUBRIC, Context::new(&RUBRIC, None, &[]).unwrap()),
    ] {
        let policy = Policy::<f32>::new(
            catalog,
            Settings { base_precision: Some(0.001), noise_variance: 0.0001, ..Settings::DEFAULT },
        )
        .unwrap();
        let mut learner = start(&policy, 7);
        let name = catalog.definition().name;
        for life in ["new", "old"] {
            std::fs::write(folder.join(life), learner.to_bytes()).unwrap();
            let (code, out, error) = fable(
                folder,
                &[
                    "inspect",
                    life,
                    "--catalog",
                    name,
                    "--all",
                    "--base-precision",
                    "0.001",
                    "--noise-variance",
                    "0.0001",
                ],
            );
            assert_eq!((code, error.as_str()), (0, ""));
            for line in out.lines() {
                assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
            }
            assert_eq!(out.contains(" weights are movable"), life == "old");
            let (_, first, _) = fable(
                folder,
                &[
                    "inspect",
                    life,
                    "--catalog",
                    name,
                    "--base-precision",
                    "0.001",
                    "--noise-variance",
                    "0.0001",
                ],
            );
            assert_eq!(first.contains("  nothing yet\n"), life == "new", "{first}");
            for round in 0..40_u16 {
                let action = Action(round * 7 % u16::try_from(catalog.actions()).unwrap());
                learner.user().observe(&context, action, if round % 3 == 0 { 1.0 } else { -1.0 }).unwrap();
            }
            learner.decide(&context, &Feasible::all(catalog)).unwrap();
        }
    }
}

/// Every word that stands on the screen as a label is explained by --help.
fn labels_are_explained(folder: &Path, whole: &str) {
    let (code, help, _) = fable(folder, &["inspect", "--help"]);
    let terms: Vec<&str> =
        help.lines().filter_map(|line| line.strip_prefix("  ")?.split("  ").next()).collect();
    assert!(
        code == 0 && help.contains("\nExamples:\n  fable inspect ") && help.contains("Exit codes: 0 "),
        "{help}"
    );
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let (beliefs, state) = whole.split_once("\nState\n").unwrap();
    let heads =
        beliefs.lines().filter(|line| line.starts_with("Weights (") || line.starts_with("Contrasts ("));
    let columns = heads.flat_map(|line| {
        [line.split(' ').next().unwrap()]
            .into_iter()
            .chain(line.split(')').nth(1).unwrap().split_whitespace())
    });
    let rows = state.lines().filter_map(|line| line.strip_prefix("  ")?.split("  ").next());
    let labels: Vec<&str> = columns.chain(rows).chain(["Profile", "State", "needs"]).collect();
    assert_eq!(labels.len(), 2 + 3 + 3 + 11 + 3, "{labels:?}");
    for label in labels {
        assert!(terms.contains(&label), "{label} is not explained");
    }
    for word in [
        "holds",
        "doubtful",
        "revoked",
        "waiting",
        "movable",
        "beta",
        "pivots",
        "fingerprint",
        "incarnation",
        "a full bar",
        "a full side",
        "<=",
    ] {
        assert!(words.contains(word), "{word} is not explained");
    }
}

fn shape(report: &Value) {
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(report), ["source", "state", "blocks", "contrasts"]);
    assert_eq!(report["source"], "ana in home.fable");
    assert_eq!(keys(&report["blocks"][0]), ["name", "words", "retained", "weights"]);
    let weight = &report["blocks"][1]["weights"][0];
    assert_eq!(keys(weight), ["name", "words", "mean", "sd", "evidence", "exact"]);
    assert_eq!(
        (&weight["name"], &weight["words"]),
        (&json!("task=dinner*speech=spoken"), &json!("spoken for dinner"))
    );
    let counts: Vec<usize> =
        report["blocks"].as_array().unwrap().iter().map(|b| b["weights"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [3, 4, 6]);
    let contrast = &report["contrasts"][0];
    assert_eq!(
        (&contrast["verdict"], &contrast["task"], &contrast["promotion"]["standing"]),
        (&json!(1), &json!("dinner"), &json!("holds"))
    );
    assert!(
        contrast["lower"].as_f64() > Some(0.0) && contrast["upper"].as_f64() > contrast["lower"].as_f64()
    );
    let state = &report["state"];
    assert_eq!(
        (&state["rounds"], &state["guarantee"], &state["sound"]),
        (&json!(400), &json!("holds"), &json!(true))
    );
}

fn picture(folder: &Path, run: &impl Fn(&[&str]) -> String) {
    run(&["--svg", "one.svg"]);
    run(&["--svg", "two.svg", "--json"]);
    let [one, two] = ["one.svg", "two.svg"].map(|name| std::fs::read_to_string(folder.join(name)).unwrap());
    assert_eq!(one, two);
    let tree = roxmltree::Document::parse(&one).unwrap();
    let count =
        |class: &str| tree.descendants().filter(|node| node.attribute("class") == Some(class)).count();
    // 11 weights are shown, a contrast that is certain, and the axes of three blocks and of the contrasts.
    assert_eq!((count("range"), count("range sure"), count("zero"), count("grid")), (11, 1, 4, 16));
    let words: Vec<&str> =
        tree.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    for word in [
        "What Fable believes about ana in home.fable",
        "light with speech",
        "4 of 6",
        "warm",
        "warm_over_cold_at_dinner",
        "0",
    ] {
        assert!(words.contains(&word), "{word}: {words:?}");
    }
}

fn mistakes(folder: &Path) {
    let exported = fable(folder, &["export", "ana", "ana.user", "--store", "home.fable"]);
    assert_eq!(exported.0, 0);
    let bytes = std::fs::read(folder.join("ana.user")).unwrap();
    std::fs::write(folder.join("torn.user"), &bytes[..bytes.len() - 9]).unwrap();
    std::fs::write(folder.join("noise"), b"nothing of Fable's").unwrap();
    std::fs::write(folder.join("empty"), b"").unwrap();
    std::fs::write(folder.join("short.snapshot"), b"FABS").unwrap();
    let lamp = ["--catalog", "lamp.toml"];
    let wrong: [(&[&str], i32, &str); 18] = [
        (&["home.fable", "--user", "bob"], 3, "home.fable has no user 'bob'"),
        (&["home.fable"], 2, "home.fable is a store (users: 1); name one of them with --user"),
        (
            &["home.fable", "--user", "ana", "--catalog", "tau2"],
            2,
            "the store was made with catalog \"lamp\", not \"tau2\"",
        ),
        (
            &["home.fable", "--user", "ana", "--noise-variance", "1"],
            2,
            "the store was made with noise_variance 0.25, not 1.0",
        ),
        (
            &["home.fable", "--user", "ana", "--block", "golf"],
            2,
            "no block 'golf'; known: light, task*speech, light*speech",
        ),
        (
            &["home.fable", "--user", "ana", "--contrast", "light=warm"],
            2,
            "a contrast is COMPONENT=VALUE:VALUE",
        ),
        (&["home.fable", "--user", "ana", "--svg", "home.fable"], 2, "--svg would replace it"),
        (&["home.fable", "--user", "ana", "--svg", "none/x.svg"], 1, "none/x.svg: "),
        (&["home.fable", "--user", "ana", "--journal", "x"], 2, "cannot be used with"),
        (&["home.fable", "--journal", "x"], 2, "home.fable is no snapshot"),
        (&["ana.user", "--user", "ana"], 2, "ana.user has one user; --user is for a store"),
        (
            &["ana.user", "--base-precision", "1"],
            2,
            "ana in ana.user belongs to another catalog or other settings\n",
        ),
        (&["torn.user"], 1, "torn.user: the file is damaged or not complete"),
        (&["short.snapshot"], 1, "short.snapshot: the record ends too early"),
        (&["noise"], 1, "noise: neither a store nor an exported user nor a snapshot"),
        (&["empty"], 1, "empty: neither a store nor an exported user nor a snapshot"),
        (&["missing"], 1, "missing: No such file"),
        (&[], 2, "<FILE>"),
    ];
    for (arguments, wanted, message) in wrong {
        let catalog = if arguments.contains(&"--catalog") { &[][..] } else { &lamp };
        let (code, out, error) = fable(folder, &[&["inspect"], arguments, catalog].concat());
        assert!(
            code == wanted && out.is_empty() && error.contains(message),
            "{arguments:?}: {code} {out}{error}"
        );
    }
    assert!(fable(folder, &["inspect", "."]).0 == 1);
    // A flipped bit is found wherever it is.
    for place in (0..bytes.len()).step_by(bytes.len() / 12) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 4;
        std::fs::write(folder.join("torn.user"), damaged).unwrap();
        assert_eq!(fable(folder, &["inspect", "torn.user", "--catalog", "lamp.toml"]).0, 1, "{place}");
    }
}
