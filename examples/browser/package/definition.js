// A catalog of one's own: an object of the shape of a catalog's TOML file, names looked up and written for the module.
//
// The format is that of `fable_std::catalogs`; what a TOML parser makes of such a file can be given as it is. Rules about counts,
// ranges and duplicates are the learner's, the same for constants, files and objects.

import { Writer, refuse } from "./module.js";
import { keys, position } from "./names.js";

const KEYS = ["name", "tasks", "signals", "components", "dictionary", "terms", "contrasts", "rules", "tools", "settings"];
const COMPARISONS = ["above", "at_least", "at_most", "below"];

const list = (what, value) => (Array.isArray(value) ? value : refuse("bad_request", `${what} must be a list`));
const several = (value) => (Array.isArray(value) ? value : [value]);
const single = (what, object, example) => {
  const [entry, ...more] = Object.entries(keysOf(what, object));
  return entry && !more.length ? entry : refuse("bad_request", `${what} has one entry, like ${example}`);
};
const keysOf = (what, object) =>
  typeof object === "object" && object !== null && !Array.isArray(object) ? object : refuse("bad_request", `${what} must be an object`);

/** The bytes of a definition. */
export function written(definition) {
  const { name, tasks = [], signals = [], components, dictionary, terms = [], contrasts = [], rules = [] } = keys("a catalog", definition, KEYS);
  const writer = new Writer();
  const names = list("components", components).map((component) => keys("a component", component, ["name", "null", "values"]).name);
  const values = components.map(({ values }) => list("values", values).map((value) => keys("a value", value, ["name", "cost", "instruction"]).name));
  const component = (name) => position("component", names, name);
  const value = (component, name) => position(`value of '${names[component]}'`, values[component], name);
  const parts = (what, object) =>
    writer.list(Object.entries(keysOf(what, object)), ([name, chosen]) => {
      const found = component(name);
      writer.byte(found).list(several(chosen), (name) => writer.byte(value(found, name)));
    });
  const condition = (when) => {
    if (when === undefined) return writer.byte(0);
    const [name, level] = single("when", when, '{ risk: { above: 0.6 } } or { task: "coding" }');
    if (name === "task") return writer.byte(5).list(several(level), (task) => writer.byte(position("task", tasks, task)));
    const signal = position("signal", signals, name);
    const [comparison, threshold] = single("a condition", level, "{ above: 0.6 }");
    return writer.byte(1 + position("comparison", COMPARISONS, comparison)).byte(signal).single(comparison, threshold);
  };

  writer.text("name", name);
  writer.list(components, ({ name, null: none, values: own }) => {
    writer.text("name", name).maybe(none, (none) => writer.byte(value(component(name), none)));
    writer.list(own, ({ name, instruction = "", cost = 0 }) => writer.text("name", name).text("instruction", instruction).number("cost", cost));
  });
  for (const names of [list("tasks", tasks), list("signals", signals)]) writer.list(names, (name) => writer.text("a name", name));
  writer.list(list("blocks", keys("dictionary", dictionary, ["blocks"]).blocks), (block) => {
    const { of, per_task = false, scaled_by, without_null = false } = keys("a block", block, ["of", "per_task", "scaled_by", "without_null"]);
    const chosen = of === "*" ? [] : several(of).map(component);
    if (of !== "*" && chosen.length === 0) refuse("bad_request", "a block is of at least one component");
    if (new Set(chosen).size !== chosen.length) refuse("bad_request", "a block names a component twice");
    writer.list(chosen, (component) => writer.byte(component)).flag(per_task);
    writer.maybe(scaled_by, (signal) => writer.byte(position("signal", signals, signal))).flag(without_null);
  });
  writer.list(list("terms", terms), (term) => {
    const { weight, when, any_of } = keys("a term", term, ["weight", "when", "any_of"]);
    writer.number("weight", weight);
    condition(when);
    parts("any_of", any_of);
  });
  writer.list(list("contrasts", contrasts), (contrast) => {
    const { name, prefer, over, with: shared = {}, context = {}, positive = "", negative = "" } =
      keys("a contrast", contrast, ["name", "prefer", "over", "with", "context", "positive", "negative"]);
    const [differs, preferred] = single("prefer", prefer, '{ style: "concise" }');
    const [other, less] = single("over", over, '{ style: "detailed" }');
    if (differs !== other || shared[differs] !== undefined) {
      refuse("bad_request", `contrast '${name}': 'prefer' and 'over' name the same component, and 'with' the others`);
    }
    Object.keys(shared).forEach(component);
    const { task, ...levels } = context;
    writer.text("name", name).text("positive", positive).text("negative", negative);
    writer.maybe(task, (task) => writer.byte(position("task", tasks, task)));
    Object.keys(levels).forEach((signal) => position("signal", signals, signal));
    writer.list(signals, (signal) => writer.single(`contrast '${name}': signal '${signal}'`, levels[signal]));
    component(differs);
    for (const own of [preferred, less]) {
      writer.list(names, (name, at) => {
        const chosen = name === differs ? own : shared[name] ?? refuse("incomplete_action", `contrast '${contrast.name}': '${name}' is missing in 'with'`);
        writer.byte(value(component(name), chosen));
      });
    }
  });
  writer.list(list("rules", rules), (rule) => {
    const { name, when, ...rest } = keys("a rule", rule, ["name", "when", "forbid", "require", "only"]);
    const [effect, pattern] = single(`rule '${name}'`, rest, '{ forbid: { style: "direct" } }');
    writer.text("name", name);
    condition(when);
    writer.byte(["forbid", "require", "only"].indexOf(effect));
    parts(effect, pattern);
  });
  return writer.bytes;
}
