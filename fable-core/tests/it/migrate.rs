//! A user under another catalog: every mean and variance that can be asked for is what it was.
//!
//! The oracle is dense. It inverts the precision of all observations in `f64` with nalgebra, and takes the
//! rows and columns of the covariance that stay. It knows coordinates only by the text of their names.

use fable_core::catalog::{Block, Component, Contrast, Definition, Rename, RenameKind, Value};
use fable_core::host::HostLearner;
use fable_core::migrate::{MigrateError, Migrated, Migration};
use fable_core::{Action, Catalog, Context, HostUser, Policy, Scalar, Settings};
use nalgebra::{DMatrix, DVector};
use std::collections::BTreeMap;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ z >> 31) % sides as u64).unwrap()
    }

    fn unit(&mut self) -> f64 {
        self.roll(1 << 20) as f64 / f64::from(1 << 20)
    }

    fn shuffle<V>(&mut self, values: &mut [V]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.roll(last + 1));
        }
    }
}

/// A catalog that can still be changed.
#[derive(Clone, Debug)]
struct Draft {
    components: Vec<(String, Vec<String>)>,
    tasks: Vec<String>,
    signals: Vec<String>,
    /// Components by name, whether there is one for each task, the signal.
    blocks: Vec<(Vec<String>, bool, Option<String>)>,
    /// Name, component, its two values.
    contrasts: Vec<(String, String, [String; 2])>,
}

/// Orders values the same way whatever they are called now; new ones come last.
fn usual(value: &str) -> (bool, &str) {
    (value.starts_with("new"), value.trim_start_matches("other_"))
}

fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Draft {
    fn random(dice: &mut Dice) -> Self {
        let named = |prefix: &str, count: usize| {
            (0..count).map(|index| format!("{prefix}{index}")).collect::<Vec<_>>()
        };
        let components: Vec<_> = (0..=dice.roll(3))
            .map(|c| (format!("c{c}"), named(&format!("v{c}"), 2 + dice.roll(3))))
            .collect();
        let (tasks, signals) = (named("t", dice.roll(4)), named("s", dice.roll(3)));
        let contrasts = components
            .iter()
            .map(|(name, values)| {
                (format!("{name}_first"), name.clone(), [values[0].clone(), values[1].clone()])
            })
            .collect();
        let mut draft = Self { components, tasks, signals, blocks: vec![], contrasts };
        let blocks = 2 + dice.roll(4);
        draft.add_blocks(dice, blocks);
        draft
    }

    fn add_blocks(&mut self, dice: &mut Dice, count: usize) {
        for _ in 0..count {
            let mut names: Vec<_> = self.components.iter().map(|(name, _)| name.clone()).collect();
            dice.shuffle(&mut names);
            names.truncate(1 + dice.roll(names.len().min(2)));
            names.sort();
            let per_task = !self.tasks.is_empty() && dice.roll(2) == 0;
            let signal = (dice.roll(3) == 0 && !self.signals.is_empty())
                .then(|| self.signals[dice.roll(self.signals.len())].clone());
            let block = (names, per_task, signal);
            if !self.blocks.contains(&block) {
                self.blocks.insert(dice.roll(self.blocks.len() + 1), block);
            }
        }
    }

    /// Adds values, tasks, signals, blocks and contrasts anywhere. The order of the existing ones stays.
    fn grow(&mut self, dice: &mut Dice) {
        let component = dice.roll(self.components.len());
        let (name, values) = &mut self.components[component];
        if dice.roll(3) > 0 {
            values.insert(dice.roll(values.len() + 1), format!("new{}", values.len()));
        }
        let contrast =
            (format!("{name}_last"), name.clone(), [values[0].clone(), values[values.len() - 1].clone()]);
        if self.contrasts.iter().all(|(name, ..)| *name != contrast.0) {
            self.contrasts.insert(dice.roll(self.contrasts.len() + 1), contrast);
        }
        if dice.roll(2) == 0 {
            self.tasks.insert(dice.roll(self.tasks.len() + 1), "newtask".into());
        }
        if dice.roll(2) == 0 {
            self.signals.insert(dice.roll(self.signals.len() + 1), "newsignal".into());
        }
        if dice.roll(3) == 0 && self.components.len() < 4 {
            self.components
                .insert(dice.roll(self.components.len() + 1), ("extra".into(), vec!["x".into(), "y".into()]));
        }
        let blocks = dice.roll(3);
        self.add_blocks(dice, blocks);
    }

    /// Removes values, tasks, signals and blocks.
    fn shrink(&mut self, dice: &mut Dice) {
        for _ in 0..=dice.roll(2) {
            let component = dice.roll(self.components.len());
            let (name, values) = &mut self.components[component];
            if values.len() > 2 {
                let gone = values.remove(dice.roll(values.len()));
                let name = name.clone();
                self.contrasts.retain(|(_, component, sides)| *component != name || !sides.contains(&gone));
            }
        }
        if dice.roll(2) == 0 && self.tasks.len() > 1 {
            self.tasks.remove(dice.roll(self.tasks.len()));
        }
        if dice.roll(3) == 0 && !self.signals.is_empty() {
            let gone = self.signals.remove(dice.roll(self.signals.len()));
            self.blocks.retain(|(_, _, signal)| signal.as_ref() != Some(&gone));
        }
        if dice.roll(2) == 0 && self.blocks.len() > 1 {
            self.blocks.remove(dice.roll(self.blocks.len()));
        }
        if self.blocks.is_empty() {
            self.blocks.push((vec![self.components[0].0.clone()], false, None));
        }
    }

    fn reorder(&mut self, dice: &mut Dice) {
        dice.shuffle(&mut self.components);
        self.components.iter_mut().for_each(|(_, values)| dice.shuffle(values));
        dice.shuffle(&mut self.tasks);
        dice.shuffle(&mut self.signals);
        dice.shuffle(&mut self.blocks);
        dice.shuffle(&mut self.contrasts);
    }

    /// Gives some parts another name and says which.
    fn rename(&mut self, dice: &mut Dice) -> Vec<Rename<'static>> {
        let mut renames = vec![];
        let mut call =
            |kind, from: &str, to: &str| renames.push(Rename { kind, from: leak(from), to: leak(to) });
        for index in 0..self.components.len() {
            let (own, mut values) = self.components[index].clone();
            let mut called = own.clone();
            if dice.roll(3) == 0 {
                called = format!("other_{own}");
                call(RenameKind::Component, &own, &called);
            }
            for value in &mut values {
                if dice.roll(3) == 0 {
                    let before = value.clone();
                    *value = format!("other_{before}");
                    call(RenameKind::Value, &format!("{own}={before}"), &format!("{called}={value}"));
                    let sides = self
                        .contrasts
                        .iter_mut()
                        .filter(|(_, component, _)| *component == own)
                        .flat_map(|(.., sides)| sides);
                    sides.filter(|side| **side == before).for_each(|side| side.clone_from(value));
                }
            }
            for (_, component, _) in self.contrasts.iter_mut().filter(|(_, component, _)| *component == own) {
                component.clone_from(&called);
            }
            for name in self.blocks.iter_mut().flat_map(|(names, ..)| names).filter(|name| **name == own) {
                name.clone_from(&called);
            }
            self.blocks.iter_mut().for_each(|(names, ..)| names.sort());
            self.components[index] = (called, values);
        }
        for task in &mut self.tasks {
            if dice.roll(3) == 0 {
                let to = format!("other_{task}");
                call(RenameKind::Task, task, &to);
                *task = to;
            }
        }
        for signal in &mut self.signals {
            if dice.roll(3) == 0 {
                let to = format!("other_{signal}");
                call(RenameKind::Signal, signal, &to);
                self.blocks
                    .iter_mut()
                    .filter(|(.., own)| own.as_ref() == Some(signal))
                    .for_each(|(.., own)| *own = Some(to.clone()));
                *signal = to;
            }
        }
        for (contrast, ..) in &mut self.contrasts {
            if dice.roll(3) == 0 {
                let to = format!("other_{contrast}");
                call(RenameKind::Contrast, contrast, &to);
                *contrast = to;
            }
        }
        renames
    }

    fn catalog(&self) -> &'static Catalog<'static> {
        let index = |name: &String| {
            u8::try_from(self.components.iter().position(|(own, _)| own == name).unwrap()).unwrap()
        };
        let values = |values: &[String]| {
            values.iter().map(|value| Value::new(leak(value), "", 0.0)).collect::<Vec<_>>().leak()
        };
        let components: Vec<_> =
            self.components.iter().map(|(name, own)| Component::new(leak(name), values(own))).collect();
        let texts = |texts: &[String]| texts.iter().map(|text| leak(text)).collect::<Vec<_>>().leak();
        let blocks: Vec<_> = self
            .blocks
            .iter()
            .map(|(names, per_task, signal)| {
                let mut block = Block::product(&names.iter().map(index).collect::<Vec<_>>());
                if *per_task {
                    block = block.per_task();
                }
                match signal {
                    Some(signal) => block.scaled_by(
                        u8::try_from(self.signals.iter().position(|own| own == signal).unwrap()).unwrap(),
                    ),
                    None => block,
                }
            })
            .collect();
        let contrasts: Vec<_> = self
            .contrasts
            .iter()
            .map(|(name, component, sides)| {
                let side = |side: &String| -> &'static [u8] {
                    let mut action = vec![];
                    for (own, values) in &self.components {
                        // The others are at a value that is the same whatever the order.
                        let wanted = if own == component {
                            side
                        } else {
                            values.iter().min_by_key(|value| usual(value)).unwrap()
                        };
                        action.push(
                            u8::try_from(values.iter().position(|value| value == wanted).unwrap()).unwrap(),
                        );
                    }
                    action.leak()
                };
                Contrast::new(leak(name), side(&sides[0]), side(&sides[1]))
                    .when(None, vec![0.0; self.signals.len()].leak())
            })
            .collect();
        let definition = Definition {
            name: "random",
            components: components.leak(),
            tasks: texts(&self.tasks),
            signals: texts(&self.signals),
            blocks: blocks.leak(),
            contrasts: contrasts.leak(),
            ..Definition::EMPTY
        };
        Box::leak(Box::new(
            Catalog::try_new(definition).unwrap_or_else(|error| panic!("{error} in {self:?}")),
        ))
    }
}

/// What a coordinate stands for, whatever the order, in the words of the new catalog.
fn meaning(catalog: &Catalog<'_>, coordinate: usize, renames: &[Rename<'_>]) -> Vec<String> {
    let name = catalog.coordinate_name(coordinate).unwrap().to_string();
    let find = |kind, text: &str| {
        renames
            .iter()
            .find(|rename| rename.kind == kind && rename.from == text)
            .map(|rename| rename.to.to_owned())
    };
    let mut parts: Vec<_> = name
        .split('*')
        .map(|part| match part.split_once('=') {
            Some(("task", task)) => format!("task={}", find(RenameKind::Task, task).unwrap_or(task.into())),
            Some((component, value)) => find(RenameKind::Value, part).unwrap_or_else(|| {
                format!("{}={value}", find(RenameKind::Component, component).unwrap_or(component.into()))
            }),
            None => find(RenameKind::Signal, part).unwrap_or(part.into()),
        })
        .collect();
    parts.sort();
    parts
}

fn task(meaning: &[String]) -> Option<&String> {
    meaning.iter().find(|part| part.starts_with("task="))
}

fn random_context(catalog: &Catalog<'_>, dice: &mut Dice) -> Context {
    let tasks = catalog.definition().tasks.len();
    let task = (tasks > 0 && dice.roll(4) > 0).then(|| dice.roll(tasks));
    let signals: Vec<f32> = catalog.definition().signals.iter().map(|_| dice.unit() as f32).collect();
    Context::new(catalog, task, &signals).unwrap()
}

fn random_action(catalog: &Catalog<'_>, dice: &mut Dice) -> Action {
    Action(u16::try_from(dice.roll(catalog.actions())).unwrap())
}

/// Lambda and h, dense.
struct Dense {
    precision: DMatrix<f64>,
    information: DVector<f64>,
    noise: f64,
}

impl Dense {
    fn new<T: Scalar>(policy: &Policy<'_, T>) -> Self {
        let dimension = policy.catalog().dimension();
        let precision = DMatrix::identity(dimension, dimension) * policy.base_precision();
        Self { precision, information: DVector::zeros(dimension), noise: policy.settings().noise_variance }
    }

    fn observe(&mut self, features: impl Iterator<Item = (usize, f32)>, response: f64) {
        let mut phi = DVector::zeros(self.information.len());
        features.for_each(|(coordinate, value)| phi[coordinate] += f64::from(value));
        self.precision += &phi * phi.transpose() / self.noise;
        self.information += phi * response / self.noise;
    }

    fn solve(&self) -> (DVector<f64>, DMatrix<f64>) {
        let covariance = self.precision.clone().try_inverse().unwrap();
        (&covariance * &self.information, covariance)
    }

    fn log_det(&self) -> f64 {
        2.0 * self.precision.clone().cholesky().unwrap().l().diagonal().iter().map(|x| x.ln()).sum::<f64>()
    }
}

/// A user who has learned some rewards, with the oracle.
fn lived<T: Scalar>(
    policy: &Policy<'static, T>,
    dice: &mut Dice,
    rewards: usize,
) -> (HostUser<'static, T>, Dense) {
    let (mut ana, mut dense) = (HostUser::<T>::new(policy, "ana").unwrap(), Dense::new(policy));
    for _ in 0..rewards {
        let (context, action) =
            (random_context(policy.catalog(), dice), random_action(policy.catalog(), dice));
        let reward = 2.0 * dice.unit() - 1.0;
        ana.user().observe(&context, action, reward).unwrap();
        dense.observe(policy.catalog().features(&context, action), reward);
    }
    (ana, dense)
}

fn carry<T: Scalar>(
    from: &HostLearner<T>,
    [old, new]: [&Policy<'static, T>; 2],
    renames: &[Rename<'_>],
) -> (HostLearner<T>, Migrated) {
    let migration = Migration::new(old, new, renames).unwrap();
    let (mut from, mut to) = (from.clone(), HostLearner::for_policy(new));
    let migrated =
        migration.carry(&mut from, &mut to, &mut vec![T::ZERO; migration.workspace_len()]).unwrap();
    assert!(from.state().is_empty() && !to.state().is_empty());
    (to, migrated)
}

fn policy<T: Scalar>(draft: &Draft) -> Policy<'static, T> {
    Policy::new(draft.catalog(), Settings { base_precision: Some(3.0), ..Settings::default() }).unwrap()
}

fn compare<T: Scalar + nalgebra::Scalar>(
    old: &Policy<'static, T>,
    dense: &Dense,
    new: &HostLearner<T>,
    catalog: &Catalog<'_>,
    renames: &[Rename<'_>],
    tolerance: f64,
) -> usize {
    let meanings: BTreeMap<_, _> =
        (0..old.catalog().dimension()).map(|at| (meaning(old.catalog(), at, renames), at)).collect();
    let there: Vec<_> = (0..catalog.dimension()).map(|at| meaning(catalog, at, &[])).collect();
    let (mean, covariance) = dense.solve();
    let dimension = catalog.dimension();
    let (mut new_mean, mut new_covariance) =
        (vec![T::ZERO; dimension], DMatrix::<T>::from_element(dimension, dimension, T::ZERO));
    let mut scratch = vec![T::ZERO; catalog.workspace_len()];
    new.posterior().mean(&mut scratch, &mut new_mean).unwrap();
    new.posterior().covariance_into(&mut scratch, &mut new_covariance).unwrap();
    let mut kept = 0;
    for (i, first) in there.iter().enumerate() {
        let expected = meanings.get(first).map_or(0.0, |at| mean[*at]);
        assert!(
            (new_mean[i].to_f64() - expected).abs() < tolerance,
            "{first:?}: {} {expected}",
            new_mean[i].to_f64()
        );
        kept += usize::from(meanings.contains_key(first));
        for (j, second) in there.iter().enumerate() {
            if task(first).is_some() && task(second).is_some() && task(first) != task(second) {
                continue;
            }
            let expected = match (meanings.get(first), meanings.get(second)) {
                (Some(i), Some(j)) => covariance[(*i, *j)],
                _ if i == j => 1.0 / 3.0,
                _ => 0.0,
            };
            let found = new_covariance[(i, j)].to_f64();
            assert!((found - expected).abs() < tolerance, "{first:?} {second:?}: {found} {expected}");
        }
    }
    kept
}

/// One random change of a random catalog.
fn change(dice: &mut Dice) -> Change {
    let old = Draft::random(dice);
    let mut new = old.clone();
    if dice.roll(4) > 0 {
        new.shrink(dice);
    }
    let renames = if dice.roll(2) == 0 { new.rename(dice) } else { vec![] };
    if dice.roll(2) == 0 {
        new.grow(dice);
    }
    if dice.roll(2) == 0 {
        new.reorder(dice);
    }
    Change { old, new, renames }
}

struct Change {
    old: Draft,
    new: Draft,
    renames: Vec<Rename<'static>>,
}

#[test]
fn means_and_variances_of_what_is_common_are_what_they_were() {
    let mut dice = Dice(1);
    let mut removed = 0;
    let mut added = 0;
    let mut leaves = 0;
    for _ in 0..400 {
        let Change { old, new, renames } = change(&mut dice);
        let (old, new) = (policy::<f64>(&old), policy::<f64>(&new));
        let (ana, dense) = lived(&old, &mut dice, 40);
        let (learner, migrated) = carry(ana.learner(), [&old, &new], &renames);
        let kept = compare(&old, &dense, &learner, new.catalog(), &renames, 1e-10);
        let counts = [kept, new.catalog().dimension() - kept, old.catalog().dimension() - kept];
        assert_eq!([migrated.kept, migrated.added, migrated.removed].map(usize::from), counts);
        removed += counts[2];
        added += counts[1];
        leaves += usize::from(old.catalog().layout().leaves() > 1 && migrated.removed > 0);
    }
    assert!(removed > 500 && added > 500 && leaves > 50, "{removed} {added} {leaves}");
}

#[test]
fn so_they_are_in_the_digits_of_a_device() {
    let mut dice = Dice(2);
    for _ in 0..100 {
        let Change { old, new, renames } = change(&mut dice);
        let (old, new) = (policy::<f32>(&old), policy::<f32>(&new));
        let (ana, dense) = lived(&old, &mut dice, 40);
        let (learner, _) = carry(ana.learner(), [&old, &new], &renames);
        compare(&old, &dense, &learner, new.catalog(), &renames, 3e-5);
    }
}

/// Every number of a user that is in both catalogs, by what it means.
fn numbers<T: Scalar>(
    learner: &HostLearner<T>,
    catalog: &Catalog<'_>,
    common: &[Vec<String>],
) -> BTreeMap<String, u64> {
    let mut found = BTreeMap::new();
    let layout = catalog.layout();
    let there: Vec<_> = (0..catalog.dimension()).map(|at| meaning(catalog, at, &[])).collect();
    let packed = learner.posterior().packed().to_vec();
    let mut at = catalog.dimension();
    for (i, own) in there.iter().enumerate() {
        let (leaf, inside) = layout.locate(i).unwrap();
        let rows: Vec<usize> = match leaf {
            Some(leaf) => {
                (inside + 1..layout.leaf()).map(|row| layout.leaf_coordinate(leaf, row).unwrap()).collect()
            }
            None => (i + 1..catalog.dimension()).collect(),
        };
        let rows = rows
            .into_iter()
            .chain((layout.leaves() * layout.leaf()..catalog.dimension()).filter(|_| leaf.is_some()));
        if common.contains(own) {
            found.insert(format!("pivot {own:?}"), packed[i].bits());
        }
        for row in rows {
            if common.contains(own) && common.contains(&there[row]) {
                found.insert(format!("{own:?} {:?}", there[row]), packed[at].bits());
            } else {
                assert_eq!(packed[at].bits(), 0);
            }
            at += 1;
        }
        if common.contains(own) {
            found.insert(format!("z {own:?}"), packed[at].bits());
        }
        at += 1;
    }
    assert_eq!(at, packed.len());
    found
}

#[test]
fn what_is_only_added_to_changes_no_bit_and_what_was_added_goes_without_a_trace() {
    let mut dice = Dice(3);
    for _ in 0..300 {
        let old = Draft::random(&mut dice);
        let mut new = old.clone();
        new.grow(&mut dice);
        let (old, new) = (policy::<f32>(&old), policy::<f32>(&new));
        let (ana, _) = lived(&old, &mut dice, 30);
        let common: Vec<_> =
            (0..old.catalog().dimension()).map(|at| meaning(old.catalog(), at, &[])).collect();
        let (learner, migrated) = carry(ana.learner(), [&old, &new], &[]);
        assert_eq!(usize::from(migrated.kept), old.catalog().dimension());
        assert_eq!(
            [migrated.removed, migrated.contrasts, migrated.promotions, migrated.rules, migrated.waiting],
            [0; 5]
        );
        let before = numbers(ana.learner(), old.catalog(), &common);
        assert_eq!(before, numbers(&learner, new.catalog(), &common));
        assert_eq!(ana.learner().posterior().log_det_ratio(), learner.posterior().log_det_ratio());

        let (again, migrated) = carry(&learner, [&new, &old], &[]);
        assert_eq!(usize::from(migrated.added), 0);
        // Whether the guarantee ended is remembered, and the rest is the same.
        if !learner.state().is_voided() && !migrated.voided {
            assert_eq!(&again, ana.learner());
        }
        assert_eq!(before, numbers(&again, old.catalog(), &common));
    }
}

/// Without tasks the migrated posterior is the exact marginal. Later rewards update it alike, and so does the
/// ratio of determinants that the radius depends on.
#[test]
fn what_is_learned_afterwards_and_the_radius_are_those_of_all_coordinates_together() {
    let mut dice = Dice(4);
    let mut lives = 0;
    while lives < 60 {
        let mut draft = Draft::random(&mut dice);
        draft.tasks.clear();
        draft.blocks.retain(|(_, per_task, _)| !per_task);
        let mut less = draft.clone();
        less.shrink(&mut dice);
        let signals_stay = less.signals == draft.signals && less.blocks == draft.blocks;
        if draft.blocks.is_empty() || !signals_stay || less.components == draft.components {
            continue;
        }
        let (old, new) = (policy::<f64>(&draft), policy::<f64>(&less));
        let (ana, mut dense) = lived(&old, &mut dice, 40);
        let (learner, migrated) = carry(ana.learner(), [&old, &new], &[]);
        lives += usize::from(migrated.removed > 0);
        assert!(!migrated.voided && !learner.state().is_voided());
        let mut ana = HostUser::from_learner(&new, learner).unwrap();
        let (from, to) = (old.catalog(), new.catalog());
        for _ in 0..30 {
            let (context, action) = (random_context(to, &mut dice), random_action(to, &mut dice));
            let reward = dice.unit();
            ana.user().observe(&context, action, reward).unwrap();
            let before = from.action_named(&to.action_name(action).unwrap().to_string()).unwrap();
            dense.observe(
                from.features(&Context::new(from, None, context.signals()).unwrap(), before),
                reward,
            );
        }
        compare(&old, &dense, ana.learner(), to, &[], 1e-10);
        let ratio = dense.log_det() - 3_f64.ln() * from.dimension() as f64;
        assert!((ana.learner().posterior().log_det_ratio() - ratio).abs() < 1e-9);
    }
}

#[test]
fn a_rename_must_be_possible_and_two_names_can_change_places() {
    let draft = |values: [&str; 3]| Draft {
        components: vec![
            ("c".into(), values.map(String::from).to_vec()),
            ("d".into(), vec!["x".into(), "y".into()]),
        ],
        tasks: vec!["t".into()],
        signals: vec!["s".into()],
        blocks: vec![(vec!["c".into()], false, None), (vec!["d".into()], true, None)],
        contrasts: vec![],
    };
    let (old, new) = (policy::<f64>(&draft(["a", "b", "e"])), policy::<f64>(&draft(["b", "a", "f"])));
    for bad in [
        Rename::component("c", "q"),
        Rename::component("q", "c"),
        Rename::value("c=a", "d=x"),
        Rename::value("c=a", "c"),
        Rename::value("a", "c=a"),
        Rename::value("c=q", "c=f"),
        Rename::task("t", "t"),
        Rename::signal("u", "s"),
        Rename::contrast("x", "x"),
    ] {
        let renames = [Rename::task("t", "t"), bad];
        assert_eq!(
            Migration::new(&old, &new, &renames).unwrap_err(),
            MigrateError::Rename { index: 1 },
            "{bad:?}"
        );
    }
    for twice in [Rename::value("c=e", "c=a"), Rename::value("c=a", "c=f")] {
        let renames = [Rename::value("c=e", "c=f"), twice];
        assert_eq!(Migration::new(&old, &new, &renames).unwrap_err(), MigrateError::Rename { index: 1 });
    }
    let mut dice = Dice(5);
    let (ana, dense) = lived(&old, &mut dice, 20);
    let renames = [Rename::value("c=a", "c=b"), Rename::value("c=b", "c=a"), Rename::value("c=e", "c=f")];
    let (learner, migrated) = carry(ana.learner(), [&old, &new], &renames);
    assert_eq!((migrated.kept, migrated.removed, migrated.added), (5, 0, 0));
    compare(&old, &dense, &learner, new.catalog(), &renames, 1e-12);
    // What has its new name from another part is not itself.
    let (learner, migrated) = carry(ana.learner(), [&old, &new], &[Rename::value("c=a", "c=b")]);
    assert_eq!((migrated.kept, migrated.removed, migrated.added), (3, 2, 2));
    let mean = |learner: &HostLearner<f64>, at| {
        learner.posterior().contrast(&mut [0.0; 99], [(at, 1.0)]).unwrap().mean
    };
    let (was, other) = (old.catalog().coordinate("c=a").unwrap(), new.catalog().coordinate("c=b").unwrap());
    assert_eq!(mean(&learner, other), mean(ana.learner(), was));
    assert_eq!(mean(&learner, new.catalog().coordinate("c=a").unwrap()), 0.0);
}

#[test]
fn on_any_error_both_learners_are_as_before() {
    let mut dice = Dice(6);
    let Change { old, new, .. } = change(&mut dice);
    let (old, new) = (policy::<f32>(&old), policy::<f32>(&new));
    let (ana, _) = lived(&old, &mut dice, 10);
    let migration = Migration::new(&old, &new, &[]).unwrap();
    let room = vec![0.0; migration.workspace_len()];
    let (mut from, mut to) = (ana.into_learner(), HostLearner::<f32>::for_policy(&new));
    let before = (from.clone(), to.clone());
    assert_eq!(migration.carry(&mut from, &mut to, &mut room[1..].to_vec()), Err(MigrateError::Workspace));
    let mut short = HostLearner::<f32>::from_storage(vec![0.0; new.catalog().state_len() - 1]);
    let expected = new.catalog().state_len();
    assert_eq!(
        migration.carry(&mut from, &mut short, &mut room.clone()),
        Err(MigrateError::New { expected })
    );
    to.start(&new, 7).unwrap();
    assert_eq!(migration.carry(&mut from, &mut to, &mut room.clone()), Err(MigrateError::New { expected }));
    to.clear();
    let back = Migration::new(&new, &old, &[]).unwrap();
    let mut other = HostLearner::<f32>::for_policy(&old);
    assert_eq!(back.carry(&mut from, &mut other, &mut room.clone()), Err(MigrateError::Old));
    let mut vacant = HostLearner::<f32>::for_policy(&old);
    assert_eq!(migration.carry(&mut vacant, &mut to, &mut room.clone()), Err(MigrateError::Old));
    assert_eq!((from, to), before);
}
