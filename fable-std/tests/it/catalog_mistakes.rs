//! Every mistake in a catalog file is told with its place and what to write, never with a panic.

use fable_std::catalogs::{Arena, read};

const LAMP: &str = include_str!("../catalogs/lamp.toml");

/// What happened to the sound file, the changes that did it, and what a person is told.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

fn told(text: &str) -> String {
    read(&Arena::new(), "lamp.toml", text).map(|_| "nothing").unwrap_err().to_string()
}

#[test]
fn the_file_is_sound_as_it_stands() {
    let arena = Arena::new();
    let lamp = read(&arena, "lamp.toml", LAMP).unwrap();
    assert_eq!((lamp.actions(), lamp.dimension()), (6, 3 + 2 * 2 + 2 + 3 * 2));
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (what, changes, says) in CASES {
        let text = changes.iter().fold(LAMP.to_owned(), |text, (from, to)| {
            assert_eq!(text.matches(from).count(), 1, "{what}: {from}");
            text.replace(from, to)
        });
        assert_eq!(told(&text), says.trim_start(), "{what}");
    }
}

const CASES: &[Case] = &[
    (
        "a table that is never closed",
        &[("  { name = \"silent\" },\n", "  { name = \"silent\"\n")],
        r#"
lamp.toml:18:3: this is no TOML: missing key for inline table element, expected `,`
   18 |   { name = "spoken", cost = 0.05, instruction = "Say what you do." },
      |   ^"#,
    ),
    (
        "text without a closing quote",
        &[(r#"name = "lamp""#, r#"name = "lamp"#)],
        r#"
lamp.toml:1:13: this is no TOML: invalid basic string, expected `"`
    1 | name = "lamp
      |             ^"#,
    ),
    (
        "a key twice",
        &[("tasks = [\"reading\", \"dinner\"]\n", "tasks = [\"reading\"]\ntasks = [\"dinner\"]\n")],
        r#"
lamp.toml:3:1: this key is set already; each table of a list has a head of its own, like [[terms]]
    3 | tasks = ["dinner"]
      | ^^^^^"#,
    ),
    (
        "a misspelt key at the top",
        &[("signals =", "signal =")],
        r#"
lamp.toml:3:1: there is no key 'signal'; did you mean 'signals'? Known: name, tasks, signals, components, dictionary, terms, contrasts, tools, rules, settings
    3 | signal = ["daylight", "noise"]
      | ^^^^^^"#,
    ),
    (
        "a misspelt table",
        &[("[dictionary]", "[dictionery]")],
        r"
lamp.toml:21:2: there is no key 'dictionery'; did you mean 'dictionary'? Known: name, tasks, signals, components, dictionary, terms, contrasts, tools, rules, settings
   21 | [dictionery]
      |  ^^^^^^^^^^",
    ),
    (
        "a key that is like nothing",
        &[(r#"null = "off""#, r#"colour = "red""#)],
        r#"
lamp.toml:7:1: there is no key 'colour'; known: name, null, values
    7 | colour = "red"
      | ^^^^^^"#,
    ),
    (
        "a misspelt key of a value",
        &[("cost = 0.05", "costs = 0.05")],
        r#"
lamp.toml:18:22: there is no key 'costs'; did you mean 'cost'? Known: name, cost, instruction
   18 |   { name = "spoken", costs = 0.05, instruction = "Say what you do." },
      |                      ^^^^^"#,
    ),
    (
        "a misspelt key of a block",
        &[("per_task", "pertask")],
        r#"
lamp.toml:24:20: there is no key 'pertask'; did you mean 'per_task'? Known: of, per_task, scaled_by, without_null
   24 |   { of = "speech", pertask = true },
      |                    ^^^^^^^"#,
    ),
    (
        "settings outside their table",
        &[(r#"name = "lamp""#, "name = \"lamp\"\nnu = 0.5")],
        r"
lamp.toml:2:1: 'nu' is a setting; write it below [settings]
    2 | nu = 0.5
      | ^^",
    ),
    (
        "no name",
        &[("name = \"lamp\"\n", "")],
        r#"
lamp.toml:1:1: a catalog needs a name; write name = "..." at the top
    1 | tasks = ["reading", "dinner"]
      | ^"#,
    ),
    (
        "no dictionary",
        &[(
            "[dictionary]\nblocks = [\n  { of = \"light\" },\n  { of = \"speech\", per_task = true },\n  { of = \"light\", scaled_by = \"daylight\", without_null = true },\n  { of = [\"light\", \"speech\"] },\n]\n",
            "",
        )],
        r#"
lamp.toml:1:8: a catalog needs a dictionary; write [dictionary] and below it blocks = [{ of = "..." }], with a component
    1 | name = "lamp"
      |        ^^^^^^"#,
    ),
    (
        "a component without values",
        &[(
            "values = [\n  { name = \"silent\" },\n  { name = \"spoken\", cost = 0.05, instruction = \"Say what you do.\" },\n]\n",
            "",
        )],
        r#"
lamp.toml:14:1: this table needs the key 'values': values = [{ name = "warm" }, { name = "cold" }]
   14 | [[components]]
      | ^^^^^^^^^^^^^^"#,
    ),
    (
        "a block without components",
        &[(r#"{ of = "light" }"#, "{ per_task = true }")],
        r#"
lamp.toml:23:3: this table needs the key 'of': of = "..."
   23 |   { per_task = true },
      |   ^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a block of an empty list",
        &[(r#"{ of = "light" }"#, "{ of = [] }")],
        r"
lamp.toml:23:10: this list is empty; write at least one name
   23 |   { of = [] },
      |          ^^",
    ),
    (
        "a number for a name",
        &[(r#"name = "speech""#, "name = 7")],
        r"
lamp.toml:15:8: expected text in quotes, found integer `7`
   15 | name = 7
      |        ^",
    ),
    (
        "text for a number",
        &[("cost = 0.05", r#"cost = "little""#)],
        r#"
lamp.toml:18:29: expected a number, found string "little"
   18 |   { name = "spoken", cost = "little", instruction = "Say what you do." },
      |                             ^^^^^^^^"#,
    ),
    (
        "text for true or false",
        &[("per_task = true", r#"per_task = "yes""#)],
        r#"
lamp.toml:24:31: expected true or false, found string "yes"
   24 |   { of = "speech", per_task = "yes" },
      |                               ^^^^^"#,
    ),
    (
        "a name for a list of tables",
        &[(r#"{ name = "silent" }"#, r#""silent""#)],
        r#"
lamp.toml:17:3: expected a value like { name = "warm", cost = 0.1, instruction = "Use warm light." }, found string "silent"
   17 |   "silent",
      |   ^^^^^^^^"#,
    ),
    (
        "one table where several may be",
        &[("[[components]]\nname = \"speech\"", "[components]\nname = \"speech\"")],
        r"
lamp.toml:14:2: this key is set already; each table of a list has a head of its own, like [[terms]]
   14 | [components]
      |  ^^^^^^^^^^",
    ),
    (
        "a block of an unknown component",
        &[(r#"of = "speech""#, r#"of = "speach""#)],
        r#"
lamp.toml:24:10: there is no component 'speach'; did you mean 'speech'? Known: light, speech
   24 |   { of = "speach", per_task = true },
      |          ^^^^^^^^"#,
    ),
    (
        "a block that names a component twice",
        &[(r#"["light", "speech"]"#, r#"["light", "light"]"#)],
        r#"
lamp.toml:26:20: 'light' is named twice
   26 |   { of = ["light", "light"] },
      |                    ^^^^^^^"#,
    ),
    (
        "a block scaled by an unknown signal",
        &[(r#"scaled_by = "daylight""#, r#"scaled_by = "moonlight""#)],
        r#"
lamp.toml:25:31: there is no signal 'moonlight'; known: daylight, noise
   25 |   { of = "light", scaled_by = "moonlight", without_null = true },
      |                               ^^^^^^^^^^^"#,
    ),
    (
        "two equal blocks",
        &[(r#"{ of = ["light", "speech"] }"#, r#"{ of = ["light"] }"#)],
        r#"
lamp.toml:26:3: two blocks of the dictionary are the same
   26 |   { of = ["light"] },
      |   ^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "the null value left out where there is none",
        &[(r#"of = "speech", per_task"#, r#"of = "speech", without_null = true, per_task"#)],
        r#"
lamp.toml:24:3: a block leaves out the null value but none of its components has one, or nothing would be left; write null = "..." in the component, or leave without_null out
   24 |   { of = "speech", without_null = true, per_task = true },
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a block per task without tasks",
        &[
            ("when.task = \"dinner\"\n", ""),
            ("tasks = [\"reading\", \"dinner\"]\n", ""),
            ("when.task = \"reading\"\n", ""),
            (r#"task = "dinner", "#, ""),
        ],
        r#"
lamp.toml:23:3: a block is per task but the catalog has no tasks; write tasks = ["..."] at the top, or leave per_task out
   23 |   { of = "speech", per_task = true },
      |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "an unknown null value",
        &[(r#"null = "off""#, r#"null = "of""#)],
        r#"
lamp.toml:7:8: 'light' has no value 'of'; did you mean 'off'? Known: off, warm, cold
    7 | null = "of"
      |        ^^^^"#,
    ),
    (
        "a value twice",
        &[(r#"name = "spoken""#, r#"name = "silent""#)],
        r#"
lamp.toml:18:12: two components, values, tasks, signals, contrasts or rules have the same name; 'silent' is taken already
   18 |   { name = "silent", cost = 0.05, instruction = "Say what you do." },
      |            ^^^^^^^^"#,
    ),
    (
        "a component twice",
        &[(r#"name = "speech""#, r#"name = "light""#)],
        r#"
lamp.toml:15:8: two components, values, tasks, signals, contrasts or rules have the same name; 'light' is taken already
   15 | name = "light"
      |        ^^^^^^^"#,
    ),
    (
        "a task twice",
        &[(r#"["reading", "dinner"]"#, r#"["reading", "dinner", "reading"]"#)],
        r#"
lamp.toml:2:31: two components, values, tasks, signals, contrasts or rules have the same name; 'reading' is taken already
    2 | tasks = ["reading", "dinner", "reading"]
      |                               ^^^^^^^^^"#,
    ),
    (
        "a signal called task",
        &[(r#""noise"]"#, r#""task"]"#)],
        r#"
lamp.toml:3:24: 'task' cannot be the name of a component or of a signal
    3 | signals = ["daylight", "task"]
      |                        ^^^^^^"#,
    ),
    (
        "a name with a space",
        &[(r#"name = "warm","#, r#"name = "warm light","#)],
        r#"
lamp.toml:10:12: a name must not be empty and may use only letters, digits, '_' and '-'
   10 |   { name = "warm light", cost = 0.02, instruction = "Use warm light." },
      |            ^^^^^^^^^^^^"#,
    ),
    (
        "an empty name",
        &[(r#"name = "lamp""#, r#"name = """#)],
        r#"
lamp.toml:1:8: a name must not be empty and may use only letters, digits, '_' and '-'
    1 | name = ""
      |        ^^"#,
    ),
    (
        "a negative cost",
        &[("cost = 0.05", "cost = -0.05")],
        r#"
lamp.toml:18:29: a cost must be a number from 0 to 100
   18 |   { name = "spoken", cost = -0.05, instruction = "Say what you do." },
      |                             ^^^^^"#,
    ),
    (
        "a cost that is no number",
        &[("cost = 0.05", "cost = nan")],
        r#"
lamp.toml:18:29: a cost must be a number from 0 to 100
   18 |   { name = "spoken", cost = nan, instruction = "Say what you do." },
      |                             ^^^"#,
    ),
    (
        "a weight out of range",
        &[("weight = -0.2", "weight = -200")],
        r"
lamp.toml:30:10: the weight of a term must be a number from -100 to 100
   30 | weight = -200
      |          ^^^^",
    ),
    (
        "a threshold out of range",
        &[("above = 0.5", "above = 50")],
        r"
lamp.toml:31:23: a threshold must be a number from 0 to 1
   31 | when.daylight.above = 50
      |                       ^^",
    ),
    (
        "an unknown comparison",
        &[("when.daylight.above", "when.daylight.over")],
        r"
lamp.toml:31:15: there is no comparison 'over'; known: above, at_least, at_most, below
   31 | when.daylight.over = 0.5
      |               ^^^^",
    ),
    (
        "two comparisons",
        &[("when.daylight.above = 0.5", "when.daylight = { above = 0.5, below = 0.7 }")],
        r"
lamp.toml:31:17: a condition is one of above, at_least, at_most, below
   31 | when.daylight = { above = 0.5, below = 0.7 }
      |                 ^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    ),
    (
        "two conditions",
        &[(r#"when.task = "reading""#, "when.task = \"reading\"\nwhen.noise.above = 0.5")],
        r#"
lamp.toml:36:1: a term has one condition, like { risk.above = 0.6 } or { task = "coding" }; write another term for another condition
   36 | when.task = "reading"
      | ^^^^"#,
    ),
    (
        "a signal compared with nothing",
        &[("when.daylight.above = 0.5", "when.daylight = 0.5")],
        r"
lamp.toml:31:17: expected a table like { above = 0.6 }
   31 | when.daylight = 0.5
      |                 ^^^",
    ),
    (
        "a condition on an unknown signal",
        &[("when.daylight.above", "when.dylight.above")],
        r"
lamp.toml:31:6: there is no signal 'dylight'; did you mean 'daylight'? Known: daylight, noise
   31 | when.dylight.above = 0.5
      |      ^^^^^^^",
    ),
    (
        "a condition on an unknown task",
        &[(r#"when.task = "reading""#, r#"when.task = ["reading", "dining"]"#)],
        r#"
lamp.toml:36:25: there is no task 'dining'; did you mean 'dinner'? Known: reading, dinner
   36 | when.task = ["reading", "dining"]
      |                         ^^^^^^^^"#,
    ),
    (
        "a term for an unknown component",
        &[("any_of.speech", "any_of.voice")],
        r#"
lamp.toml:38:8: there is no component 'voice'; known: light, speech
   38 | any_of.voice = "silent"
      |        ^^^^^"#,
    ),
    (
        "a term for an unknown value",
        &[(r#"any_of.speech = "silent""#, r#"any_of.speech = "quiet""#)],
        r#"
lamp.toml:38:17: 'speech' has no value 'quiet'; known: silent, spoken
   38 | any_of.speech = "quiet"
      |                 ^^^^^^^"#,
    ),
    (
        "a term that names a value twice",
        &[(r#"["warm", "cold"]"#, r#"["warm", "cold", "warm"]"#)],
        r#"
lamp.toml:32:33: 'warm' is named twice
   32 | any_of.light = ["warm", "cold", "warm"]
      |                                 ^^^^^^"#,
    ),
    (
        "a term without values",
        &[("any_of.light = [\"warm\", \"cold\"]\n", "")],
        r#"
lamp.toml:29:1: this table needs the key 'any_of': any_of = { light = "warm" }
   29 | [[terms]]
      | ^^^^^^^^^"#,
    ),
    (
        "a term for an empty list of values",
        &[(r#"["warm", "cold"]"#, "[]")],
        r"
lamp.toml:32:16: this list is empty; write at least one name
   32 | any_of.light = []
      |                ^^",
    ),
    (
        "a contrast of two components",
        &[(r#"over.light = "cold""#, r#"over.speech = "spoken""#)],
        r#"
lamp.toml:43:1: 'prefer' and 'over' must name the same component; what both actions share belongs into 'with'
   43 | over.speech = "spoken"
      | ^^^^"#,
    ),
    (
        "a contrast of whole actions",
        &[(r#"prefer.light = "warm""#, r#"prefer = { light = "warm", speech = "silent" }"#)],
        r#"
lamp.toml:42:10: a contrast compares two values of one component; write one, like { style = "concise" }, and the rest into 'with'
   42 | prefer = { light = "warm", speech = "silent" }
      |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a contrast of a value with itself",
        &[(r#"over.light = "cold""#, r#"over.light = "warm""#)],
        r#"
lamp.toml:43:1: a contrast needs two complete actions that differ in exactly one component; this one compares a value with itself
   43 | over.light = "warm"
      | ^^^^"#,
    ),
    (
        "a contrast without what both share",
        &[("with.speech = \"silent\"\n", "")],
        r#"
lamp.toml:41:8: the two actions are not complete; write the speech of both into 'with': with.speech = "silent"
   41 | name = "warm_over_cold"
      |        ^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a contrast that shares what differs",
        &[(r#"with.speech = "silent""#, r#"with = { speech = "silent", light = "off" }"#)],
        r#"
lamp.toml:44:29: 'with' is what both actions share, but they differ in 'light'
   44 | with = { speech = "silent", light = "off" }
      |                             ^^^^^"#,
    ),
    (
        "a contrast of an unknown value",
        &[(r#"over.light = "cold""#, r#"over.light = "colt""#)],
        r#"
lamp.toml:43:14: 'light' has no value 'colt'; did you mean 'cold'? Known: off, warm, cold
   43 | over.light = "colt"
      |              ^^^^^^"#,
    ),
    (
        "a contrast without one of the signals",
        &[("daylight = 0.1, noise = 0.2", "daylight = 0.1")],
        r#"
lamp.toml:45:11: a context has every signal; write how high 'noise' is, from 0 to 1: context.noise = 0.1
   45 | context = { task = "dinner", daylight = 0.1 }
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a contrast with an unknown signal",
        &[("noise = 0.2", "noise = 0.2, heat = 0.1")],
        r#"
lamp.toml:45:59: there is no signal 'heat'; known: daylight, noise
   45 | context = { task = "dinner", daylight = 0.1, noise = 0.2, heat = 0.1 }
      |                                                           ^^^^"#,
    ),
    (
        "a contrast with an unknown task",
        &[(r#"task = "dinner", daylight"#, r#"task = "supper", daylight"#)],
        r#"
lamp.toml:45:20: there is no task 'supper'; known: reading, dinner
   45 | context = { task = "supper", daylight = 0.1, noise = 0.2 }
      |                    ^^^^^^^^"#,
    ),
    (
        "a contrast with a signal out of range",
        &[("noise = 0.2", "noise = 20")],
        r#"
lamp.toml:45:54: a contrast needs a task of the catalog, or none, and each of its signals from 0 to 1
   45 | context = { task = "dinner", daylight = 0.1, noise = 20 }
      |                                                      ^^"#,
    ),
    (
        "a signal in words",
        &[("noise = 0.2", r#"noise = "loud""#)],
        r#"
lamp.toml:45:54: expected a number
   45 | context = { task = "dinner", daylight = 0.1, noise = "loud" }
      |                                                      ^^^^^^"#,
    ),
    (
        "a rule that does nothing",
        &[("forbid.light = \"cold\"\nforbid.speech = \"spoken\"\n", "")],
        r#"
lamp.toml:50:8: a rule has one of 'forbid', 'require' and 'only', like forbid = { style = "direct" }
   50 | name = "calm_dinner"
      |        ^^^^^^^^^^^^^"#,
    ),
    (
        "a rule that does two things",
        &[("forbid.light = \"cold\"", "require.light = \"cold\"")],
        r#"
lamp.toml:50:8: a rule has one of 'forbid', 'require' and 'only', like forbid = { style = "direct" }
   50 | name = "calm_dinner"
      |        ^^^^^^^^^^^^^"#,
    ),
    (
        "a misspelt effect",
        &[("forbid.light = \"cold\"", "forbids.light = \"cold\"")],
        r#"
lamp.toml:52:1: there is no key 'forbids'; did you mean 'forbid'? Known: name, when, forbid, require, only
   52 | forbids.light = "cold"
      | ^^^^^^^"#,
    ),
    (
        "a rule about an unknown value",
        &[("forbid.light = \"cold\"", "forbid.light = \"colt\"")],
        r#"
lamp.toml:52:16: 'light' has no value 'colt'; did you mean 'cold'? Known: off, warm, cold
   52 | forbid.light = "colt"
      |                ^^^^^^"#,
    ),
    (
        "a rule in an unknown task",
        &[("when.task = \"dinner\"", "when.task = \"supper\"")],
        r#"
lamp.toml:51:13: there is no task 'supper'; known: reading, dinner
   51 | when.task = "supper"
      |             ^^^^^^^^"#,
    ),
    (
        "a rule with two conditions",
        &[("when.task = \"dinner\"", "when = { task = \"dinner\", noise.above = 0.5 }")],
        r#"
lamp.toml:51:8: a rule has one condition, like { risk.above = 0.6 } or { task = "coding" }; write another rule for another condition
   51 | when = { task = "dinner", noise.above = 0.5 }
      |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^"#,
    ),
    (
        "a threshold of a rule that is not a signal",
        &[("when.noise.above = 0.75", "when.noise.above = 75")],
        r"
lamp.toml:57:20: a threshold must be a number from 0 to 1
   57 | when.noise.above = 75
      |                    ^^",
    ),
    (
        "a rule that leaves nothing",
        &[(
            "when.noise.above = 0.75\nforbid.speech = \"spoken\"",
            "when.noise.above = 0.75\nforbid.speech = [\"spoken\", \"silent\"]",
        )],
        r#"
lamp.toml:58:1: where this rule holds, it and the rules that hold everywhere leave nothing to choose
   58 | forbid.speech = ["spoken", "silent"]
      | ^^^^^^"#,
    ),
    (
        "two rules of one name",
        &[("name = \"heard\"", "name = \"calm_dinner\"")],
        r#"
lamp.toml:56:8: two components, values, tasks, signals, contrasts or rules have the same name; 'calm_dinner' is taken already
   56 | name = "calm_dinner"
      |        ^^^^^^^^^^^^^"#,
    ),
];

#[test]
fn a_catalog_needs_components_and_blocks() {
    let says = r#"
lamp.toml:1:8: a catalog needs between 1 and 8 components; write [[components]] with a name and values
    1 | name = "lamp"
      |        ^^^^^^"#;
    assert_eq!(told("name = \"lamp\"\n[dictionary]\nblocks = [{ of = \"*\" }]\n"), says.trim_start());
    let says = r"
lamp.toml:3:21: a dictionary needs between 1 and 128 blocks
    3 | dictionary.blocks = []
      |                     ^^";
    let text = "name = \"lamp\"\ncomponents = [{ name = \"light\", values = [{ name = \"warm\" }] }]\ndictionary.blocks = []\n";
    assert_eq!(told(text), says.trim_start());
    assert_eq!(
        told(""),
        "lamp.toml:1:1: a catalog needs a name; write name = \"...\" at the top\n    1 | \n      | ^"
    );
}

#[test]
fn a_second_contrast_of_the_same_name_is_the_one_to_blame() {
    let (_, contrast) = LAMP.split_once("[[contrasts]]").unwrap();
    let (contrast, _) = contrast.split_once("[[rules]]").unwrap();
    let says = r#"
lamp.toml:60:8: two components, values, tasks, signals, contrasts or rules have the same name; 'warm_over_cold' is taken already
   60 | name = "warm_over_cold"
      |        ^^^^^^^^^^^^^^^^"#;
    assert_eq!(told(&format!("{LAMP}[[contrasts]]{contrast}")), says.trim_start());
}
