//! The feasible set of a request without a set, after a migration.

use fable_core::catalog::{Block, Catalog, Component, Definition, FeasibleError, Value};
use fable_core::host::HostLearner;
use fable_core::migrate::{Migrated, Migration};
use fable_core::{Context, Feasible, HostUser, Policy, Settings, UserError};
use fable_wire::{Fault, read_feasible};

const fn value(name: &'static str) -> Value<'static> {
    Value::new(name, "", 0.1)
}

fn policy(definition: Definition<'static>) -> Policy<'static, f64> {
    let catalog = Box::leak(Box::new(Catalog::try_new(definition).unwrap()));
    let settings = Settings { base_precision: Some(4.0), probe: 0.5, ..Settings::default() };
    Policy::new(catalog, settings).unwrap()
}

fn migrate(ana: &HostUser<'static, f64>, new: &Policy<'static, f64>) -> (HostUser<'static, f64>, Migrated) {
    let migration = Migration::new(ana.policy(), new, &[]).unwrap();
    let (mut from, mut to) = (ana.learner().clone(), HostLearner::for_policy(new));
    let migrated = migration.carry(&mut from, &mut to, &mut vec![0.0; migration.workspace_len()]).unwrap();
    (HostUser::from_learner(new, to).unwrap(), migrated)
}

const LIGHT: Component<'static> = Component::new("light", &[value("warm"), value("cold")]);
const DIM: Component<'static> = Component::new("light", &[value("dim"), value("warm"), value("cold")]);
const HEAT: Component<'static> = Component::new("heat", &[value("off"), value("on")]);
const OTHER_HEAT: Component<'static> = Component::new("heat", &[value("off"), value("eco")]);
const SOUND: Component<'static> = Component::new("sound", &[value("mute"), value("loud")]);

const LAMP: Definition<'static> =
    Definition { name: "lamp", components: &[LIGHT, HEAT], blocks: &[Block::main(0)], ..Definition::EMPTY };

/// The feasible set of a request without a set, as names of values.
fn last_set(user: &HostUser<'_, f64>) -> Result<Vec<String>, Fault> {
    let catalog = user.policy().catalog();
    let set = read_feasible(catalog, user.state(), &[])?;
    let name = |action| catalog.action_name(action).unwrap().to_string();
    let short = |name: String| {
        name.split('*').map(|part| part.split('=').nth(1).unwrap()).collect::<Vec<_>>().join("+")
    };
    Ok(set.set().iter().map(name).map(short).collect())
}

/// Guards against a set that loses its prohibitions in a migration: an empty set was once read as the set of
/// all actions.
#[test]
fn what_was_forbidden_stays_forbidden_and_everything_stays_everything() {
    let old = policy(LAMP);
    let decided = |forbidden: &[&[(&str, &str)]]| {
        let mut ana = HostUser::<f64>::new(&old, "ana").unwrap();
        let mut feasible = Feasible::all(old.catalog());
        for pattern in forbidden {
            feasible = feasible.forbid(old.catalog(), pattern).unwrap();
        }
        ana.decide(&Context::new(old.catalog(), None, &[]).unwrap(), &feasible).unwrap();
        ana
    };
    let after = |ana: &HostUser<'static, f64>, components: &'static [Component<'static>]| {
        last_set(&migrate(ana, &policy(Definition { components, ..LAMP })).0)
    };
    let names = |names: &[&str]| Ok(names.iter().map(ToString::to_string).collect());

    let free = decided(&[]);
    for (components, count) in
        [(&[DIM, HEAT][..], 6), (&[LIGHT, HEAT, SOUND], 8), (&[LIGHT], 2), (&[SOUND], 2)]
    {
        assert_eq!(after(&free, components).unwrap().len(), count, "{components:?}");
    }
    let cold = decided(&[&[("heat", "on")]]);
    assert_eq!(after(&cold, &[HEAT, LIGHT]), names(&["off+warm", "off+cold"]));
    assert_eq!(after(&cold, &[DIM, HEAT]), names(&["dim+off", "warm+off", "cold+off"]));
    let sounds = names(&["warm+off+mute", "warm+off+loud", "cold+off+mute", "cold+off+loud"]);
    assert_eq!(after(&cold, &[LIGHT, HEAT, SOUND]), sounds);
    assert_eq!(after(&cold, &[LIGHT]), names(&["warm", "cold"]));
    assert_eq!(after(&cold, &[SOUND]), names(&["mute", "loud"]));
    // "eco" may be the new name of "on".
    assert_eq!(after(&cold, &[LIGHT, OTHER_HEAT]), names(&["warm+off", "cold+off"]));
    // Two values that are forbidden together: if the heat is unknown, only the light that is allowed with all
    // of its values.
    let pair = decided(&[&[("light", "warm"), ("heat", "on")]]);
    assert_eq!(after(&pair, &[LIGHT]), names(&["cold"]));
    assert_eq!(after(&pair, &[DIM, HEAT]), names(&["dim+off", "warm+off", "cold+off", "cold+on"]));

    // The allowed actions are gone: a host has to send a set before the next decision.
    let hot = decided(&[&[("heat", "off")]]);
    let empty = Err(Fault::from(UserError::Feasible(FeasibleError::Empty)));
    assert_eq!(after(&hot, &[LIGHT, OTHER_HEAT]), empty);
    let new = policy(Definition { components: &[LIGHT, OTHER_HEAT], ..LAMP });
    let (mut ana, _) = migrate(&hot, &new);
    assert_eq!(last_set(&migrate(&ana, &old).0), empty);
    ana.decide(&Context::new(new.catalog(), None, &[]).unwrap(), &Feasible::all(new.catalog())).unwrap();
    assert_eq!(last_set(&ana).unwrap().len(), 4);
    // Before the first decision nothing is forbidden.
    let fresh = HostUser::<f64>::new(&old, "ben").unwrap();
    assert_eq!(after(&fresh, &[DIM, HEAT]).unwrap().len(), 6);
}
