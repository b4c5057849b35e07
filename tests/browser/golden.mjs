// The pinned runs of tests/golden, played through the package: what runs in node runs in a browser and in workers, too.
//
// A port of tests/golden/src: the person is integers only, and the fractions handed over are exact in binary. The runs there keep
// 8 decisions; here 64 can wait, and a deadline of 7 rounds refuses what would have left there.

/** Marsaglia's xorshift32. */
class Numbers {
  constructor(seed) {
    this.state = (Math.imul(seed, 0x9e3779b9) | 1) >>> 0;
  }
  next() {
    let state = this.state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (this.state = state >>> 0);
  }
  byte() {
    return this.next() >>> 24;
  }
  below(bound) {
    return this.next() % bound;
  }
}

/** FNV-1a over little-endian words of 64 bits. */
class Fnv {
  hash = 0xcbf29ce484222325n;
  bytes(bytes) {
    for (const byte of bytes) this.hash = BigInt.asUintN(64, (this.hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  word(value) {
    this.bytes(new Uint8Array(new BigUint64Array([BigInt(value)]).buffer));
  }
  double(value) {
    this.bytes(new Uint8Array(new Float64Array([value]).buffer));
  }
  get text() {
    return this.hash.toString(16).padStart(16, "0");
  }
}

const SEED = 0x000fab1e;
const PAPER = { base_precision: 16, scale: "fixed", seed: SEED, deadline: "rounds=7" };

export const SCRIPTS = {
  tau2: {
    rounds: 200,
    forgetAfter: 100,
    stated: [
      { prefer: { style: "concise" }, over: { style: "guided" }, response: 0.75, precision: 4 },
      { prefer: { memory: "conversation", tool: "verify" }, response: -0.5, precision: 3 },
    ],
    rules: [
      {},
      {},
      { forbid: [{ tool: "verify" }] },
      { require: [{ style: ["direct", "guided"] }] },
      { only: [{ memory: "current_turn" }, { tool: "ask_if_missing" }] },
    ],
  },
  agent: {
    rounds: 50,
    stated: [
      { prefer: { style: "concise" }, over: { style: "detailed" }, when: 0, response: 1, precision: 4 },
      { prefer: { style: "confirm_first" }, over: { style: "direct" }, when: { signal: "risk" }, response: 0.5, precision: 7 },
      { prefer: { memory: "preference_memory", tool: "preference_checker" }, response: -0.25, precision: 2 },
    ],
    rules: [
      {},
      {},
      { forbid: [{ tool: "web_search" }] },
      { forbid: [{ memory: [1, 2, 3, 4], tool: [1] }], require: [{ style: "confirm_first" }] },
      { only: [{ style: ["direct", "concise"] }, { tool: "ask_user" }] },
    ],
  },
};

/** Positions in a pattern become names. */
const named = (catalog, patterns = []) =>
  patterns.map((pattern) =>
    Object.fromEntries(Object.entries(pattern).map(([name, values]) => {
      const own = catalog.components.find((component) => component.name === name).values;
      return [name, [values].flat().map((value) => (typeof value === "number" ? own[value].name : value))];
    })));

class Person {
  constructor(catalog, seed) {
    this.catalog = catalog;
    this.seed = seed;
    this.numbers = new Numbers(seed);
  }
  /** Any task, sometimes none, and signals of k/256. A person has 16 signals, of which the catalog takes the first. */
  request() {
    const { tasks, signals } = this.catalog;
    const task = this.numbers.below(tasks.length + 1);
    const strengths = Array.from({ length: 16 }, () => this.numbers.byte()).slice(0, signals.length);
    const context = { task: task ? tasks[task - 1] : null };
    signals.forEach((name, index) => (context[name] = strengths[index] / 256));
    return { task, strengths, context };
  }
  /** How much an action is liked here: k/64 from -1 to 1. */
  reward({ task, strengths }, action) {
    let liking = (this.numbers.byte() % 9) - 4;
    this.catalog.components.forEach(({ name, values }, component) => {
      const value = values.findIndex((value) => value.name === action[name]);
      liking += this.taste(100, component, value) + this.taste(task, component, value);
      strengths.forEach((strength, signal) => (liking += Math.trunc((this.taste(200 + signal, component, value) * strength) / 256)));
    });
    return Math.max(-64, Math.min(64, liking)) / 64;
  }
  taste(matter, component, value) {
    return (new Numbers((this.seed ^ (value | (component << 8) | (matter << 16))) >>> 0).byte() % 33) - 16;
  }
}

/** Plays a run, and hashes its decisions and its state as tests/golden does. */
export function play(fable, name, script = SCRIPTS[name]) {
  const catalog = fable.catalog(name);
  const steady = catalog.policy({ ...PAPER, nu: 0.3 });
  const bold = catalog.policy({ ...PAPER, delta: 0.1 });
  const person = new Person(catalog, SEED);
  const { numbers } = person;
  const user = steady.user("golden");
  const decisions = new Fnv();
  let waiting = [null, null, null, null];

  for (const { when, ...stated } of script.stated) {
    user.onboard([{ ...stated, ...(when !== undefined && { when: when === 0 ? { task: catalog.tasks[0] } : when }) }]);
  }
  for (let round = 0; round < script.rounds; round++) {
    if (round === script.forgetAfter) {
      user.forget();
      waiting = [null, null, null, null];
    }
    const request = person.request();
    const { forbid, require, only } = script.rules[numbers.below(script.rules.length)];
    user.adopt(numbers.below(8) === 0 ? bold : steady);
    const rules = { forbid: named(catalog, forbid), require: named(catalog, require), ...(only && { only: named(catalog, only) }) };
    const { decision, action, baseline } = user.decide({ context: request.context, ...rules });
    decisions.word(decision.split("-").at(-1));
    decisions.word(catalog.index(action));
    decisions.double(baseline);

    const reward = person.reward(request, action);
    const fate = numbers.below(8);
    if (fate < 4) user.feedback(decision, reward);
    else if (fate < 7) waiting[numbers.below(4)] = [decision, reward];
    if (numbers.below(2) === 0) {
      const slot = numbers.below(4);
      const late = waiting[slot];
      waiting[slot] = null;
      try {
        if (late) user.feedback(...late);
      } catch (error) {
        if (error.code !== "expired") throw error;
      }
    }
    if (numbers.below(8) === 0) {
      const action = catalog.action(numbers.below(catalog.size));
      user.observe({ context: request.context, action, reward: person.reward(request, action) });
    }
  }
  const snapshot = user.snapshot();
  user.free();
  return { decisions: decisions.text, state: state(catalog, snapshot), snapshot };
}

/** Bits of the packed posterior and of its log-determinant ratio, out of a snapshot. */
function state(catalog, snapshot) {
  const view = new DataView(snapshot.buffer, snapshot.byteOffset, snapshot.length);
  const count = view.getUint32(33 + snapshot[32] - 4, true); // the last of the counters, after the header and their length
  const values = catalog.components.reduce((sum, { values }) => sum + values.length, 0);
  const packed = count - values - 15 * catalog.contrasts.length - 24;
  const hash = new Fnv();
  for (let at = 0; at < packed; at++) hash.word(view.getUint32(snapshot.length - 4 - 4 * (count - at), true));
  hash.double(view.getFloat64(32 + 1 + 20 + 1, true));
  return hash.text;
}
