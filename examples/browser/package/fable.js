// What a program uses: Fable (an instance of the module), Catalog, Policy, User. Answers have the keys of `fable serve`.

import { FableError, Module, Writer, bytes, compile, nothing, refuse } from "./module.js";
import { Names, keys, position } from "./names.js";
import { written } from "./definition.js";

/** Frees the users that a program has dropped without freeing them. */
const dropped = new FinalizationRegistry(({ module, user }) => {
  if (!module.stopped) module.call("fable_free", nothing, [user]);
});
/** Only this file makes catalogs, policies and users. */
const OURS = Symbol("made by the package");
const ours = (key, how) => key === OURS || refuse("bad_request", `this is made by ${how}`);
/** Has a user go on under a policy, which keeps how it is written to itself. */
let adopt;

/** What a program can look at and not change, all the way down. */
function frozen(value) {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

/** An instance of the module from a compiled one, with a memory of its own. */
export async function instantiate(source) {
  const compiled = await compile(source);
  return new Fable(compiled, new Module(await WebAssembly.instantiate(compiled, {})));
}

/** One instance of the module. A program needs one; each has a memory of its own, and a trap in one does not touch the others. */
export class Fable {
  #catalogs = new Map();

  constructor(compiled, module) {
    /** The compiled module: send it to a worker and load it there, and it is not compiled again. */
    this.compiled = compiled;
    /** The border, for modules that add exports of their own. */
    this.module = module;
  }

  /** Whether a trap has ended this instance. */
  get stopped() {
    return this.module.stopped;
  }

  /** A catalog: one that ships by its name (agent, tau2, rubric), or an object of the shape of a catalog's TOML file. */
  catalog(definition) {
    const shipped = typeof definition === "string";
    const asked = shipped ? new TextEncoder().encode(definition) : written(definition);
    const key = shipped ? definition : asked.join();
    if (!this.#catalogs.has(key)) {
      const number = this.module.call(shipped ? "fable_catalog" : "fable_describe", (r) => r.count(), [], asked);
      this.#catalogs.set(key, new Catalog(OURS, this.module, number, shipped ? {} : (definition.settings ?? {})));
    }
    return this.#catalogs.get(key);
  }
}

const readWords = (r) => ({
  name: r.text(),
  components: r.list(() => ({ name: r.text(), null: r.maybe(r.byte), values: r.list(() => ({ name: r.text(), instruction: r.text(), cost: r.double() })) })),
  tasks: r.list(r.text),
  signals: r.list(r.text),
  blocks: r.list(() => ({ of: r.list(r.byte), perTask: r.flag(), scaledBy: r.maybe(r.byte), withoutNull: r.flag() })),
  contrasts: r.list(() => ({
    name: r.text(), positive: r.text(), negative: r.text(), task: r.maybe(r.byte), signals: r.list(r.single), prefer: r.list(r.byte), over: r.list(r.byte),
  })),
  rules: r.list(r.text),
  dimension: r.count(),
  actions: r.count(),
});

/** What can be chosen, and in which contexts. */
export class Catalog {
  #module;
  #number;
  #names;
  #settings;

  constructor(key, module, number, settings) {
    ours(key, "fable.catalog(...)");
    this.#module = module;
    this.#number = number;
    this.#settings = settings;
    const words = frozen(module.call("fable_words", readWords, [number]));
    this.#names = new Names(words);
    this.name = words.name;
    this.components = frozen(words.components.map(({ name, values }) => ({ name, values })));
    this.tasks = words.tasks;
    this.signals = words.signals;
    this.contrasts = frozen(words.contrasts.map(({ name, positive, negative }) => ({ name, positive, negative })));
    this.rules = words.rules;
    this.blocks = this.#names.blocks;
    /** Coordinates of the dictionary. */
    this.dimension = words.dimension;
    /** Complete actions. */
    this.size = words.actions;
    Object.freeze(this);
  }

  /** The action at a position in catalog order, in which the last component varies fastest. */
  action(index) {
    if (!Number.isInteger(index) || index < 0 || index >= this.size) refuse("out_of_range", `an action is from 0 to ${this.size - 1}`);
    return this.#names.action(index);
  }

  /** The position of an action. */
  index(action) {
    return this.#names.index(action);
  }

  /**
   * How users of this catalog are decided for. Settings have the names of a file's table `[settings]`; a prior is the bytes of a file
   * that `fable prior fit` has written.
   */
  policy(settings = {}, options = {}) {
    const { prior } = keys("options", options, ["prior"]);
    return new Policy(OURS, this, this.#module, this.#number, this.#names, { ...this.#settings, ...settings }, prior);
  }
}

/** A catalog with settings: makes users. */
export class Policy {
  #module;
  #number;
  #names;
  #settings;

  constructor(key, catalog, module, number, names, settings, prior) {
    ours(key, "catalog.policy(...)");
    this.catalog = catalog;
    this.#module = module;
    this.#number = number;
    this.#names = names;
    this.#settings = names.settings(settings, prior);
    this.settings = frozen(structuredClone(settings));
    const fingerprint = module.call("fable_policy", (r) => r.big(), [number], this.#settings);
    /** What a snapshot must have been made under, in hexadecimal. */
    this.fingerprint = fingerprint.toString(16).padStart(16, "0");
    Object.freeze(this);
  }

  /** A new user, at the prior. With `journal` every event is kept, as `fable replay` reads it. */
  user(name, options = {}) {
    const { journal = false } = keys("options", options, ["journal"]);
    const asked = new Writer().raw(this.#settings).text("the name of a user", name).flag(journal).bytes;
    return this.#made(this.#module.call("fable_begin", (r) => r.count(), [this.#number], asked));
  }

  /** A user who goes on from a snapshot, whoever made it: this package, a host, a device. */
  restore(snapshot, options = {}) {
    const { journal = false } = keys("options", options, ["journal"]);
    if (!(snapshot instanceof Uint8Array)) refuse("bad_request", "a snapshot is a Uint8Array");
    const asked = new Writer().raw(this.#settings).count(snapshot.length).raw(snapshot).flag(journal).bytes;
    return this.#made(this.#module.call("fable_restore", (r) => r.count(), [this.#number], asked));
  }

  #made(user) {
    return new User(OURS, this, this.#module, user, this.#names);
  }

  static {
    adopt = (policy, module, user) => {
      if (!(policy instanceof Policy)) refuse("bad_request", "a user adopts a policy");
      if (policy.#module !== module) refuse("bad_request", "the policy belongs to another instance");
      module.call("fable_adopt", nothing, [user, policy.#number], policy.#settings);
    };
  }
}

const readTrial = (r) => ({
  trials: r.count(),
  e_value: r.double(),
  needed: r.double(),
  average: { mean: r.double(), lower: r.double(), upper: r.double() },
  certified: r.sign(),
});
const REQUEST = ["context", "forbid", "require", "only", "defaults", "propensities", "at"];
const readFacts = (r) => ({
  id: r.big().toString(16).padStart(16, "0"),
  rounds: r.count(),
  observations: r.count(),
  incarnation: r.count(),
});

/** One user. Free it when it is not needed any more; one that is dropped is freed some time later. */
export class User {
  #module;
  #user;
  #names;
  #policy;

  constructor(key, policy, module, user, names) {
    ours(key, "policy.user(...) or policy.restore(...)");
    this.#policy = policy;
    this.#module = module;
    this.#user = user;
    this.#names = names;
    dropped.register(this, { module, user }, this);
  }

  #call(name, read, asked = null, ...numbers) {
    return this.#module.call(name, read, [this.number, ...numbers], asked);
  }

  /** The user's number in the module, for exports that a module adds. */
  get number() {
    return this.#user ?? refuse("bad_request", "the user was freed");
  }
  get policy() {
    return this.#policy;
  }
  /** The hash of the name, as it stands in ids of decisions. */
  get id() {
    return this.#call("fable_facts", readFacts).id;
  }
  /** Decisions made. */
  get rounds() {
    return this.#call("fable_facts", readFacts).rounds;
  }
  /** Rewards learned. */
  get observations() {
    return this.#call("fable_facts", readFacts).observations;
  }
  /** Times forgotten. */
  get incarnation() {
    return this.#call("fable_facts", readFacts).incarnation;
  }

  /** Chooses an action. */
  decide(request) {
    const { probes, propensity, propensities, action, ...answer } = this.#call("fable_decide", readDecided, this.#request(request, REQUEST));
    return {
      ...answer,
      action: this.#names.action(action),
      ...(probes.length && { probes: probes.map(({ contrast, ...probe }) => ({ contrast: this.#names.contrasts[contrast], ...probe })) }),
      ...(propensity !== null && { propensity }),
      ...(propensities !== null && { propensities }),
    };
  }

  /** The feasible action with the highest mean score: no exploring, and nothing is kept. */
  recommend(request) {
    const read = (r) => ({ action: this.#names.action(r.count()), instruction: r.text(), score: r.double(), feasible: r.count() });
    return this.#call("fable_recommend", read, this.#request(request, REQUEST.slice(0, 5)));
  }

  /** The actions that a request leaves, by position, with the rules of the catalog and of the user. */
  feasible(request) {
    return this.#call("fable_feasible", (r) => r.list(r.count), this.#request(request, REQUEST.slice(0, 4)));
  }

  /** Learns the reward of a decision, from -1 to 1. */
  feedback(decision, reward, options = {}) {
    const { weight = 1, at = 0 } = keys("options", options, ["weight", "at"]);
    const asked = new Writer().text("decision", decision).number("reward", reward).number("weight", weight).whole("at", at);
    return this.#call("fable_feedback", readLearned, asked.bytes);
  }

  /** Learns the reward of an action that was chosen elsewhere. */
  observe(observation) {
    const { context, action, reward, weight = 1, defaults, at = 0 } =
      keys("an observation", observation, ["context", "action", "reward", "weight", "defaults", "at"]);
    const writer = new Writer();
    this.#names.writeContext(writer, context);
    writer.count(this.#names.index(action)).number("reward", reward).number("weight", weight);
    writeDefaults(writer, defaults).whole("at", at);
    return this.#call("fable_observe", readLearned, writer.bytes);
  }

  /** Takes stated preferences, all of them or none; says how many. */
  onboard(statements) {
    const writer = new Writer();
    writer.list(Array.isArray(statements) ? statements : [statements], (statement) => this.#names.writeStatement(writer, statement));
    return this.#call("fable_onboard", (r) => r.count(), writer.bytes);
  }

  /** Takes the score of a decision apart, against another action or the runner-up. Ask before its reward. */
  explain(decision, options = {}) {
    const { against, defaults } = keys("options", options, ["against", "defaults"]);
    const writer = new Writer().text("decision", decision);
    writer.maybe(against, (action) => writer.count(this.#names.index(action, "against")));
    writeDefaults(writer, defaults);
    const { probed, chosen, intended, other, rule, ...why } = this.#call("fable_explain", readExplained, writer.bytes);
    const action = (index) => this.#names.action(index);
    return {
      chosen: action(chosen),
      ...(probed.length && { intended: action(intended), probed: probed.map((contrast) => this.#names.contrasts[contrast]) }),
      other: action(other),
      ...(rule !== null && { rule }),
      ...why,
    };
  }

  /** What is known about a declared contrast, by its name, or about two actions that differ in one component. */
  contrast(asked) {
    const writer = new Writer();
    if (typeof asked === "string") {
      writer.byte(0).byte(position("contrast", this.#names.contrasts, asked));
    } else {
      const { context, prefer, over, total = false } = keys("a contrast", asked, ["context", "prefer", "over", "total"]);
      writer.byte(1);
      this.#names.writeContext(writer, context);
      writer.count(this.#names.index(prefer, "prefer")).count(this.#names.index(over, "over")).flag(total);
    }
    return this.#call("fable_contrast", readContrasted, writer.bytes);
  }

  /** The promoted preferences, and what they say, for a prompt. */
  profile() {
    const read = (r) => ({ profile: r.list(() => readPromoted(r, this.#names)), text: r.text() });
    return this.#call("fable_profile", read);
  }

  /** Promotes what is certain now; says how much that was. Feedback does so by itself at times. */
  promote(at = 0) {
    return this.#call("fable_promote", (r) => r.count(), null, time(at));
  }

  /** The decisions that wait for their reward, oldest first. */
  waiting(at = 0) {
    return this.#call("fable_waiting", (r) => r.list(r.text), null, time(at));
  }

  /** Goes back to the prior; ids of earlier decisions are unknown from then on. */
  forget() {
    this.#call("fable_forget", nothing);
  }

  /** Goes on under other settings of the same catalog, of those that may be changed at any time; a journal begins anew. */
  adopt(policy) {
    adopt(policy, this.#module, this.number);
    this.#policy = policy;
  }

  /** The state as bytes: a record that every host and device reads. */
  snapshot() {
    return this.#call("fable_snapshot", bytes);
  }

  /** What `fable replay --snapshot S --journal J` takes: the state where the journal begins, and every event since. */
  journal() {
    return { start: this.#call("fable_tape_start", bytes), events: this.#call("fable_tape_journal", bytes) };
  }

  /** Gives the memory back. Everything else is refused from then on; freeing again does nothing. */
  free() {
    if (this.#user === null) return;
    const user = this.#user;
    this.#user = null;
    dropped.unregister(this);
    if (!this.#module.stopped) this.#module.call("fable_free", nothing, [user]);
  }

  #request(request, allowed) {
    const { context, defaults, propensities, at = 0, ...rules } = keys("a request", request, allowed);
    const writer = new Writer();
    this.#names.writeContext(writer, context);
    this.#names.writeRules(writer, rules);
    writeDefaults(writer, defaults);
    return writer.maybe(propensities, (draws) => writer.whole("propensities", draws)).whole("at", at).bytes;
  }
}

// `using` frees a user where the language has it; node 18 and older browsers have no such symbol.
if (Symbol.dispose) User.prototype[Symbol.dispose] = User.prototype.free;

function writeDefaults(writer, defaults) {
  if (defaults !== undefined && defaults !== null && !(Array.isArray(defaults) || ArrayBuffer.isView(defaults))) {
    refuse("bad_request", "defaults must be a list of numbers");
  }
  return writer.maybe(defaults, (scores) => writer.list(scores, (score) => writer.number("a default score", score)));
}

function time(at) {
  new Writer().whole("at", at);
  return at;
}

const readDecided = (r) => ({
  decision: r.text(),
  action: r.count(),
  instruction: r.text(),
  explored: r.flag(),
  score: r.double(),
  sampled_score: r.double(),
  feasible: r.count(),
  baseline: r.double(),
  probes: r.list(() => ({ contrast: r.byte(), preferred: r.flag(), expected: r.double() })),
  propensity: r.maybe(r.double),
  propensities: r.maybe(() => r.list(r.double)),
});
const readLearned = (r) => ({ observations: r.count(), changed: r.flag(), promoted: r.count() });
const readExplained = (r) => ({
  chosen: r.count(),
  intended: r.count(),
  probed: r.list(r.byte),
  other: r.count(),
  feasible: r.flag(),
  rule: r.maybe(r.text),
  explored: r.flag(),
  chosen_score: r.double(),
  other_score: r.double(),
  shares: r.list(() => ({ part: r.text(), chosen: r.double(), other: r.double(), chosen_coordinate: r.maybe(r.text), other_coordinate: r.maybe(r.text) })),
});
const readContrasted = (r) => {
  const assessed = {
    mean: r.double(), sd: r.double(), probability: r.double(), lower: r.double(), upper: r.double(), beta: r.double(),
    evidence: r.count(), valid: r.flag(), promoted: r.sign(), missing: r.maybe(r.count),
  };
  return { ...assessed, ...r.maybe(() => readTrial(r)) };
};
const readPromoted = (r, names) => ({
  contrast: names.contrasts[r.byte()],
  verdict: r.sign(),
  standing: r.text(),
  sentence: r.text(),
  by: r.text(),
  valid: r.flag(),
  round: r.count(),
  at: r.count(),
  evidence: r.count(),
  lower: r.double(),
  upper: r.double(),
  ...readTrial(r),
});

export { FableError };
