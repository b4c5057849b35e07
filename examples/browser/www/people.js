// The people of the page as users of the package: what they allow, what they asked for, what waits for their reaction.
//
// `fable` is the folder of the package, which `run` copies here. The page's module has a few exports more than the package's own:
// src/exports, called here over the package's border. What reads requests is a second module, fetched when somebody writes one.

import { FableError, load as instantiate } from "./fable/index.js";
import { Writer } from "./fable/module.js";

export { FableError };

/** The switches of the page. */
const PERMISSIONS = [
  { name: "memory off", require: [{ memory: "no_memory" }] },
  { name: "no web search", forbid: [{ tool: "web_search" }] },
  { name: "confirmation required", require: [{ style: "confirm_first" }] },
  { name: "no tools at all", require: [{ tool: "no_tool" }] },
];
/** What a person can state before anything was tried: this end rather than that one. */
const SLIDERS = [
  { ends: ["detailed", "concise"], component: "style", values: ["detailed", "concise"] },
  { ends: ["direct", "step by step"], component: "style", values: ["direct", "step_by_step"] },
  { ends: ["no tool", "web search"], component: "tool", values: ["no_tool", "web_search"] },
  { ends: ["no tool", "ask me"], component: "tool", values: ["no_tool", "ask_user"] },
  { ends: ["no memory", "my preferences"], component: "memory", values: ["no_memory", "preference_memory"] },
];
/** How sure a stated preference is taken to be: as sure as four ordinary rewards make. */
const PRECISION = 16;
/** Signals of an ordinary request, where values are compared in general. */
const ORDINARY = 0.3;
const SIMULATED = 1;
/** How far from the mean the rule that draws goes, in standard deviations: what was the default before optimism. */
const DRAW = 0.3;
/** Missed rounds that those beside Fable live through, when a state was loaded. */
const CATCH_UP = 1000;

const asked = (r) => ({ text: r.text(), task: r.maybe(r.text), signals: r.list(r.single) });
const race = (r) => ({ fable: r.double(), flat: r.double(), rules: r.double(), best: r.double() });
const wealth = (r) => ({ coins: r.count(), wealth: r.double(), needed: r.double(), certified: r.sign() });
const belief = (r) => ({ mean: r.double(), sd: r.double(), truth: r.maybe(r.double) });
const beliefs = (r) => ({ values: r.list(() => r.list(() => belief(r))), sliders: r.list(() => belief(r)), truths: r.list(r.double) });

/** Loads the module. `who` is 0 for the visitor and 1 for the simulated user. */
export async function load(url) {
  const fable = await instantiate(url);
  return new People(fable);
}

class People {
  #fable;
  #catalog;
  #people;
  #met = { seed: 0, team: false, mind: null };
  #reader = null;
  /** Others of the package that live through the rounds of the simulated user: who draws, and who has no prior. */
  #beside = {};

  constructor(fable) {
    this.#fable = fable;
    this.#catalog = fable.catalog("agent");
    this.#people = [this.#person("visitor", { seed: 0 }), this.#person("simulated", { seed: 0 })];
  }

  /** Fetches what reads requests, once. */
  async learnToRead(url = "words.wasm.gz") {
    this.#reader ??= (await instantiate(url)).module;
  }

  #call(name, read, numbers, asked) {
    return this.#fable.module.call(name, read, numbers, asked);
  }

  /** Somebody of whom nothing is known. */
  #person(name, { seed, team = false, optimism = 1.5, onChange = "tell" }) {
    const settings = { seed, probe: 0.5, optimism, on_change: onChange };
    const user = this.#policy(settings, team).user(name, { journal: true });
    return { user, settings, team, permissions: {}, allowed: null, request: null, waiting: null };
  }

  #policy(settings, informed) {
    return this.#catalog.policy(settings, informed ? { prior: this.prior() } : {});
  }

  /** What the members of the team have in common, as a file. */
  prior() {
    return this.#call("page_prior", (r) => r.bytes.slice());
  }

  #context({ task, signals }) {
    return { task, ...Object.fromEntries(this.#catalog.signals.map((name, index) => [name, signals[index]])) };
  }

  #ordinary() {
    return { task: null, signals: this.#catalog.signals.map(() => ORDINARY) };
  }

  /** Positions of the values of an action. */
  #values(action) {
    return this.#catalog.components.map(({ name, values }) => values.findIndex((value) => value.name === action[name]));
  }

  /** Names and lists that do not change. */
  words() {
    const { components, signals, contrasts } = this.#catalog;
    return {
      components: components.map(({ name, values }) => ({ name, values: values.map((value) => value.name) })),
      signals,
      permissions: PERMISSIONS.map(({ name }) => name),
      sliders: SLIDERS.map(({ ends }) => ends),
      requests: this.#call("page_requests", (r) => r.list(r.text)),
      contrasts,
    };
  }

  /**
   * Replaces the simulated user; nothing is known about the new one. A member of the team begins with the prior; who changes their mind
   * does so at the round `mind`. `beside` is whether others live through the same rounds.
   */
  meet({ seed, team = false, mind = null, optimism = 1.5, onChange = "tell", beside = true }) {
    const before = this.#people[SIMULATED];
    const met = { ...this.#person("simulated", { seed, team, optimism, onChange }), permissions: before.permissions, allowed: before.allowed };
    this.#met = { seed, team, mind };
    before.user.free();
    this.#people[SIMULATED] = met;
    this.#restart(beside);
  }

  /** The simulated user's world from the first round on, with nobody who has learned anything but Fable. */
  #restart(beside) {
    const { seed, team } = this.#met;
    this.#call("page_meet", () => undefined, [seed, team ? 1 : 0]);
    this.turn(this.#met.mind);
    Object.values(this.#beside).forEach(({ user }) => user.free());
    this.#beside = {};
    if (!beside) return;
    const { optimism, ...others } = this.#people[SIMULATED].settings;
    this.#beside.draw = { user: this.#policy({ ...others, nu: DRAW }, team).user("simulated"), round: 0 };
    if (team) this.#beside.bare = { user: this.#policy({ ...others, optimism }, false).user("simulated"), round: 0 };
  }

  /** Has the simulated user change their mind at a round that is still to come, or never. */
  turn(mind) {
    const writer = new Writer();
    writer.list(mind === null ? [] : [mind], (round) => writer.count(round));
    this.#call("page_turn", () => undefined, [], writer.bytes);
    this.#met.mind = mind;
  }

  /** Takes a request in words; `learnToRead` comes first. */
  read(who, text) {
    return (this.#people[who].request = this.#reader.call("page_read", asked, [], new TextEncoder().encode(text)));
  }

  /** Takes the simulated user's next request. */
  ask() {
    const person = this.#people[SIMULATED];
    return (person.request = this.#call("page_ask", asked, [person.user.rounds + 1]));
  }

  /** Sets the switches, one bit each; says what is left, and for each action the switch that removes it. */
  permit(who, switches) {
    const person = this.#people[who];
    const context = this.#context(this.#ordinary());
    const on = PERMISSIONS.map((rule, index) => [rule, index]).filter(([, index]) => (switches >> index) & 1);
    const permissions = { forbid: on.flatMap(([{ forbid = [] }]) => forbid), require: on.flatMap(([{ require = [] }]) => require) };
    const allowed = person.user.feasible({ context, ...permissions });
    const removedBy = Array(this.#catalog.size).fill(null);
    for (const [{ name, ...rule }, index] of on) {
      const left = new Set(person.user.feasible({ context, ...rule }));
      removedBy.forEach((by, action) => (removedBy[action] = by ?? (left.has(action) ? null : index)));
    }
    Object.assign(person, { permissions, allowed, removedBy });
    return { count: allowed.length, removedBy };
  }

  #allowed(who) {
    const person = this.#people[who];
    if (!person.allowed) this.permit(who, 0);
    return person;
  }

  /** Decides on the request. */
  decide(who) {
    const { user, request, permissions } = this.#people[who];
    if (!request) throw new FableError("bad_request", "there is no request yet");
    const decided = user.decide({ context: this.#context(request), ...permissions });
    const { decision, instruction, score, sampled_score: sampledScore, explored, feasible, probes = [] } = decided;
    const action = this.#catalog.index(decided.action);
    this.#people[who].waiting = { decision, action };
    return {
      round: user.rounds, action, values: this.#values(decided.action), instruction, score, sampledScore, explored, feasible,
      probes: probes.map(({ contrast, preferred }) => ({ contrast: this.#catalog.contrasts.findIndex(({ name }) => name === contrast), preferred })),
    };
  }

  #waiting(who) {
    const { waiting } = this.#people[who];
    if (!waiting) throw new FableError("bad_request", "no decision waits for a reaction");
    return waiting;
  }

  /** Explains the decision that waits, against another action or the runner-up. */
  explain(who, other = null) {
    const { user } = this.#people[who];
    const against = other === null ? {} : { against: this.#catalog.action(other) };
    const why = user.explain(this.#waiting(who).decision, against);
    const index = this.#catalog.index(why.other);
    const known = { default: "default score", cost: "cost", draw: "the draw", bonus: "the bonus for what is uncertain" };
    return {
      turned: why.intended !== undefined && this.#catalog.index(why.intended) !== this.#catalog.index(why.chosen),
      other: index,
      otherValues: this.#values(why.other),
      removedBy: this.#people[who].removedBy?.[index] ?? null,
      scores: [why.chosen_score, why.other_score],
      explored: why.explored,
      shares: why.shares.map(({ part, chosen, other, chosen_coordinate, other_coordinate }) => ({
        chosenWords: known[part] ?? inWords(chosen_coordinate), otherWords: known[part] ?? inWords(other_coordinate), chosen, other,
      })),
    };
  }

  /** Learns a reaction to the decision that waits. */
  react(who, reward) {
    const person = this.#people[who];
    const { promoted, changed } = person.user.feedback(this.#waiting(who).decision, reward);
    person.waiting = null;
    return { reward, promoted, changed };
  }

  /** Has the simulated user react to the decision that waits, and the others play the same round. */
  respond() {
    const { action } = this.#waiting(SIMULATED);
    const { user, allowed } = this.#allowed(SIMULATED);
    const writer = new Writer();
    writer.list(allowed, (action) => writer.count(action));
    const read = (r) => ({ reward: r.double(), said: r.text(), race: race(r) });
    const responded = this.#call("page_respond", read, [user.rounds, action], writer.bytes);
    for (const [name, other] of Object.entries(this.#beside)) responded.race[name] = this.#follow(other, user.rounds);
    return { ...responded, ...this.react(SIMULATED, responded.reward) };
  }

  /** Has somebody beside Fable play up to a round, and says what the choice in it is worth. */
  #follow(other, last) {
    const { permissions } = this.#people[SIMULATED];
    let expected = 0;
    other.round = Math.max(other.round, last - CATCH_UP);
    while (other.round < last) {
      const round = (other.round += 1);
      const context = this.#context(this.#call("page_ask", asked, [round]));
      const { decision, action } = other.user.decide({ context, ...permissions });
      let reward;
      [reward, expected] = this.#call("page_rate", (r) => [r.double(), r.double()], [round, this.#catalog.index(action)]);
      other.user.feedback(decision, reward);
    }
    return expected;
  }

  /** Plays rounds of the simulated user at once. */
  play(rounds) {
    return Array.from({ length: rounds }, () => {
      this.ask();
      this.decide(SIMULATED);
      return this.respond().race;
    });
  }

  /** What the coins about every contrast have shown so far. */
  wealth(who) {
    return this.#call("page_wealth", (r) => r.list(() => wealth(r)), [this.#people[who].user.number]);
  }

  /** Takes what a slider says, from -1, all for its left end, to 1. */
  state(who, slider, response) {
    const { component, values } = SLIDERS[slider];
    const [over, prefer] = values.map((value) => ({ [component]: value }));
    this.#people[who].user.onboard({ prefer, over, response, precision: PRECISION });
  }

  /** What is believed, in general or for the request at hand. */
  beliefs(who, here) {
    const { user, request } = this.#people[who];
    const { task, signals } = (here && request) || this.#ordinary();
    const { components, tasks, contrasts } = this.#catalog;
    const writer = new Writer();
    writer.maybe(task, (task) => writer.byte(tasks.indexOf(task))).list(signals, (signal) => writer.single("a signal", signal));
    writer.list(SLIDERS, ({ component, values }) => {
      const place = components.findIndex(({ name }) => name === component);
      writer.byte(place);
      for (const end of values) writer.byte(components[place].values.findIndex(({ name }) => name === end));
    });
    const believed = this.#call("page_beliefs", beliefs, [user.number, who], writer.bytes);
    const { profile, text } = user.profile();
    return {
      ...believed,
      rounds: user.rounds,
      profile: text,
      contrasts: contrasts.map(({ name }, index) => {
        const { average, e_value: eValue, ...known } = user.contrast(name);
        const promotion = profile.find(({ contrast }) => contrast === name);
        return {
          ...known,
          eValue,
          average: [average.mean, average.lower, average.upper],
          promoted: promotion?.verdict ?? 0,
          since: promotion?.round ?? 0,
          byCoins: promotion?.by === "coins",
          holds: promotion?.standing === "holds",
          truth: believed.truths[index] ?? null,
        };
      }),
    };
  }

  /** Explores with this optimism from now on. */
  explore(who, optimism) {
    const person = this.#people[who];
    if (person.settings.optimism === optimism) return;
    const settings = { ...person.settings, optimism };
    person.user.adopt(this.#policy(settings, person.team));
    person.settings = settings;
  }

  /** Forgets a person. */
  forget(who) {
    this.#people[who].user.forget();
    this.#settle(who);
  }

  /** The state as a snapshot record. */
  save(who) {
    return this.#people[who].user.snapshot();
  }

  /** Goes on from a snapshot record. */
  load(who, bytes) {
    const person = this.#people[who];
    const user = person.user.policy.restore(bytes, { journal: true });
    person.user.free();
    person.user = user;
    this.#settle(who);
  }

  /** After a life was replaced: nothing waits, and the others start again. */
  #settle(who) {
    this.#people[who].waiting = null;
    if (who === SIMULATED) this.#restart(true);
  }

  tapeStart(who) {
    return this.#people[who].user.journal().start;
  }

  journal(who) {
    return this.#people[who].user.journal().events;
  }
}

/** A coordinate for people: "concise for coding", "direct given risk". */
function inWords(coordinate) {
  if (coordinate === null) return "";
  const values = [];
  let place = "";
  for (const factor of coordinate.split("*")) {
    const [name, value] = factor.split("=");
    if (value === undefined) place = ` given ${name}`;
    else if (name === "task") place = ` for ${value}`;
    else values.push(value);
  }
  return values.join(" with ") + place;
}
