// Names become positions: a catalog's words, and what is asked in them. What numbers may be is for the learner to say.

import { Writer, refuse } from "./module.js";

const known = (names) => (names.length ? `; there are ${names.join(", ")}` : "");

/** The position of a name in a list. */
export function position(what, names, name) {
  if (typeof name !== "string") refuse("bad_request", `${what} must be a name`);
  const found = names.indexOf(name);
  return found < 0 ? refuse("unknown_name", `there is no ${what} '${name}'${known(names)}`) : found;
}

/** Refuses keys that do not belong there. */
export function keys(what, object, allowed) {
  if (typeof object !== "object" || object === null || Array.isArray(object)) refuse("bad_request", `${what} must be an object`);
  for (const key of Object.keys(object)) {
    if (!allowed.includes(key)) refuse("bad_request", `'${key}' is not a key of ${what}; there are ${allowed.join(", ")}`);
  }
  return object;
}

const entries = (what, object) =>
  typeof object === "object" && object !== null && !Array.isArray(object)
    ? Object.entries(object)
    : refuse("bad_request", `${what} must be an object`);
const items = (what, list) => (Array.isArray(list) ? list : refuse("bad_request", `${what} must be a list`));

/** A catalog's words by position, and everything that is written in them. */
export class Names {
  constructor(words) {
    this.words = words;
    this.components = words.components.map(({ name }) => name);
    this.values = words.components.map(({ values }) => values.map(({ name }) => name));
    this.contrasts = words.contrasts.map(({ name }) => name);
  }

  /** The values of an action, by its position: the last component varies fastest. */
  action(index) {
    const chosen = [];
    for (let component = this.components.length - 1; component >= 0; component--) {
      const { length } = this.values[component];
      chosen.unshift([this.components[component], this.values[component][index % length]]);
      index = Math.floor(index / length);
    }
    return Object.fromEntries(chosen);
  }

  /** The position of a complete action. */
  index(action, what = "action") {
    const chosen = this.choice(action, what);
    if (chosen.length !== this.components.length) refuse("incomplete_action", `${what} needs one value for each component`);
    chosen.sort(([one], [other]) => one - other);
    return chosen.reduce((index, [component, value]) => index * this.values[component].length + value, 0);
  }

  /** Components and their values. */
  choice(choice, what) {
    return entries(what, choice).map(([name, value]) => {
      const component = position("component", this.components, name);
      return [component, position(`value of '${name}'`, this.values[component], value)];
    });
  }

  writeChoice(writer, choice, what) {
    writer.list(this.choice(choice, what), ([component, value]) => writer.byte(component).byte(value));
  }

  writeContext(writer, context) {
    const { task = null, ...signals } = Object.fromEntries(entries("context", context));
    const { tasks, signals: names } = this.words;
    writer.maybe(task, (name) => writer.byte(position("task", tasks, name)));
    for (const name of Object.keys(signals)) position("signal", names, name);
    const missing = names.find((name) => signals[name] === undefined);
    if (missing !== undefined) refuse("bad_context", `a context has every signal: '${missing}' is missing`);
    writer.list(names, (name) => writer.single(`signal '${name}'`, signals[name]));
  }

  /** What may be chosen: patterns, each a conjunction; a list of values means any of them. */
  writeRules(writer, { forbid = [], require = [], only }) {
    if (only !== undefined && items("only", only).length === 0) refuse("infeasible", "'only' lists no action, so none is feasible");
    const rules = [...items("forbid", forbid).map((pattern) => [0, pattern]), ...items("require", require).map((pattern) => [1, pattern])];
    rules.push(...(only ?? []).map((pattern) => [2, pattern]));
    writer.list(rules, ([effect, pattern]) => {
      writer.byte(effect).list(entries("a pattern", pattern), ([name, chosen]) => {
        const component = position("component", this.components, name);
        const values = Array.isArray(chosen) ? chosen : [chosen];
        writer.byte(component).list(values, (value) => writer.byte(position(`value of '${name}'`, this.values[component], value)));
      });
    });
  }

  writeStatement(writer, statement) {
    const { prefer, over, when, direction, response, precision } = keys("a statement", statement, STATEMENT);
    if (prefer !== undefined && direction === undefined) {
      writer.byte(0);
      this.writeChoice(writer, prefer, "prefer");
      this.writeChoice(writer, over ?? {}, "over");
      this.#writeWhen(writer, when);
    } else if (direction !== undefined && prefer === undefined && over === undefined && when === undefined) {
      writer.byte(1).list(entries("direction", direction), ([name, weight]) => writer.text("a coordinate", name).number(name, weight));
    } else {
      refuse("bad_request", "a statement has either 'prefer', with or without 'over' and 'when', or 'direction'");
    }
    writer.number("response", response).number("precision", precision);
  }

  #writeWhen(writer, when) {
    if (when === undefined || when === null) return writer.byte(0);
    const { task, signal } = keys("when", when, ["task", "signal"]);
    if ((task === undefined) === (signal === undefined)) refuse("bad_request", "'when' has either a 'task' or a 'signal'");
    if (task !== undefined) return writer.byte(1).byte(position("task", this.words.tasks, task));
    return writer.byte(2).byte(position("signal", this.words.signals, signal));
  }

  /** The names of the dictionary's blocks, as `retained` has them. */
  get blocks() {
    const { blocks, signals } = this.words;
    return blocks.map(({ of, perTask, scaledBy }) =>
      [...(perTask ? ["task"] : []), ...(scaledBy === null ? [] : [signals[scaledBy]]), ...of.map((component) => this.components[component])].join("*"));
  }

  settings(settings, prior = null) {
    const given = keys("settings", settings, SETTINGS);
    if (prior !== null && !(prior instanceof Uint8Array && prior.length)) refuse("bad_request", "a prior is a Uint8Array");
    const writer = new Writer();
    const numbers = (...names) => names.forEach((name) => writer.maybe(given[name], (value) => writer.number(name, value)));
    const word = (name, words) =>
      writer.maybe(given[name], (value) => (words.includes(value) ? writer.byte(words.indexOf(value)) : refuse("bad_request", `${name} is ${words.join(" or ")}`)));
    const whole = (name, most) => writer.maybe(given[name], (value) => writer.whole(name, value, most));
    numbers("noise_variance", "precision_per_feature", "base_precision", "cost_weight", "optimism", "nu", "delta");
    word("scale", ["fixed", "learned"]);
    writer.maybe(given.half_life === "none" ? null : given.half_life, (value) => writer.whole("half_life", value));
    word("on_change", ["tell", "halve", "reset"]);
    numbers("alpha", "prior_radius", "noise_proxy", "probe");
    whole("min_evidence");
    writer.maybe(given.deadline, (value) => {
      const [, kind, number] = /^(none|rounds|time)(?:=(\d+))?$/.exec(value) ?? [];
      if (!kind || (kind === "none") !== (number === undefined)) refuse("bad_request", "a deadline is none, rounds=N or time=N");
      writer.byte(["none", "rounds", "time"].indexOf(kind));
      if (number) writer.whole("deadline", Number(number));
    });
    writer.maybe(given.expiry === "nothing" ? null : given.expiry, (value) => {
      const [, reward] = /^impute=(.+)$/.exec(value) ?? refuse("bad_request", "an expiry is nothing or impute=REWARD");
      writer.number("expiry", Number(reward));
    });
    const { blocks } = this;
    writer.maybe(given.retained, (names) => writer.list(items("retained", names), (name) => writer.byte(position("block", blocks, name))));
    whole("seed", 2n ** 64n - 1n);
    whole("site");
    writer.text("context_adapter", given.context_adapter ?? "").text("feedback_adapter", given.feedback_adapter ?? "");
    return writer.count(prior?.length ?? 0).raw(prior ?? []).bytes;
  }
}

const STATEMENT = ["prefer", "over", "when", "direction", "response", "precision"];
const SETTINGS = [
  "noise_variance", "precision_per_feature", "base_precision", "cost_weight", "optimism", "nu", "delta", "scale", "half_life", "on_change", "alpha",
  "prior_radius", "noise_proxy", "probe", "min_evidence", "deadline", "expiry", "retained", "seed", "site", "context_adapter", "feedback_adapter",
];
