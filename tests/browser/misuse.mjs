// What must be refused, each with its code, and nothing changed. It runs in node and in a browser.

const CONTEXT = { task: "coding", risk: 0.125, ambiguity: 0.25, memory_need: 0.75, tool_need: 0.5 };
const ACTION = { memory: "no_memory", tool: "no_tool", style: "direct" };
const STATEMENT = { prefer: { style: "concise" }, over: { style: "detailed" }, response: 1, precision: 4 };

/** Every misuse: its name, its code, and the attempt. `had` is a decision with its reward, `waits` one without. */
const attempts = ({ fable, policy, user, had, waits, freed }) => [
  ["no such catalog", "unknown_name", () => fable.catalog("golf")],
  ["a catalog that is a number", "bad_request", () => fable.catalog(7)],
  ["a catalog with a typo in a key", "bad_request", () => fable.catalog({ name: "x", component: [] })],
  ["a catalog without components", "bad_request", () => fable.catalog({ name: "x", components: [], dictionary: { blocks: [] } })],
  ["a catalog with a block of nothing it has", "unknown_name", () =>
    fable.catalog({ name: "x", components: [{ name: "a", values: [{ name: "b" }] }], dictionary: { blocks: [{ of: "c" }] } })],
  ["a catalog that core refuses", "bad_request", () =>
    fable.catalog({ name: "x", components: [{ name: "task", values: [{ name: "b" }] }], dictionary: { blocks: [{ of: "task" }] } })],
  ["a catalog whose cost is not a number", "bad_request", () =>
    fable.catalog({ name: "x", components: [{ name: "a", values: [{ name: "b", cost: NaN }] }], dictionary: { blocks: [{ of: "a" }] } })],
  ["a setting that does not exist", "bad_request", () => policy.catalog.policy({ probes: 1 })],
  ["a setting out of range", "out_of_range", () => policy.catalog.policy({ probe: 2 })],
  ["a setting that is NaN", "out_of_range", () => policy.catalog.policy({ noise_variance: NaN })],
  ["a setting that is a text", "bad_request", () => policy.catalog.policy({ alpha: "0.05" })],
  ["two explorations", "bad_request", () => policy.catalog.policy({ nu: 1, optimism: 1 })],
  ["a seed below 0", "out_of_range", () => policy.catalog.policy({ seed: -1 })],
  ["a seed of 65 bits", "out_of_range", () => policy.catalog.policy({ seed: 2n ** 64n })],
  ["a deadline in hours", "bad_request", () => policy.catalog.policy({ deadline: "hours=2" })],
  ["a block that does not exist", "unknown_name", () => policy.catalog.policy({ retained: ["stile"] })],
  ["a user without a name", "out_of_range", () => policy.user("")],
  ["a user with a long name", "out_of_range", () => policy.user("\u00e9".repeat(129))],
  ["a user who is a number", "bad_request", () => policy.user(7)],
  ["an option that does not exist", "bad_request", () => policy.user("ana", { journl: true })],
  ["a request without a context", "bad_request", () => user.decide({})],
  ["no request", "bad_request", () => user.decide()],
  ["a key that does not belong", "bad_request", () => user.decide({ context: CONTEXT, forbids: [] })],
  ["a missing signal", "bad_context", () => user.decide({ context: { task: "coding", risk: 0.1 } })],
  ["a signal that does not exist", "unknown_name", () => user.decide({ context: { ...CONTEXT, mood: 1 } })],
  ["a task that does not exist", "unknown_name", () => user.decide({ context: { ...CONTEXT, task: "codign" } })],
  ["a signal that is NaN", "out_of_range", () => user.decide({ context: { ...CONTEXT, risk: NaN } })],
  ["a signal above 1", "out_of_range", () => user.decide({ context: { ...CONTEXT, risk: 1.5 } })],
  ["a signal that is a text", "bad_request", () => user.decide({ context: { ...CONTEXT, risk: "0.1" } })],
  ["a component that does not exist", "unknown_name", () => user.decide({ context: CONTEXT, forbid: [{ tol: "web_search" }] })],
  ["a value that does not exist", "unknown_name", () => user.decide({ context: CONTEXT, require: [{ tool: ["web_serach"] }] })],
  ["a name that every object has", "unknown_name", () => user.decide({ context: CONTEXT, forbid: [{ constructor: "x" }] })],
  ["a pattern without parts", "bad_pattern", () => user.decide({ context: CONTEXT, forbid: [{}] })],
  ["a pattern without values", "bad_pattern", () => user.decide({ context: CONTEXT, forbid: [{ tool: [] }] })],
  ["a value twice", "bad_pattern", () => user.decide({ context: CONTEXT, forbid: [{ tool: ["no_tool", "no_tool"] }] })],
  ["nothing left", "infeasible", () => user.decide({ context: CONTEXT, forbid: [{ tool: "no_tool" }], require: [{ tool: "no_tool" }] })],
  ["only nothing", "infeasible", () => user.decide({ context: CONTEXT, only: [] })],
  ["too few defaults", "out_of_range", () => user.decide({ context: CONTEXT, defaults: [1, 2] })],
  ["a default that is NaN", "out_of_range", () => user.decide({ context: CONTEXT, defaults: Array(180).fill(NaN) })],
  ["defaults that are a text", "bad_request", () => user.decide({ context: CONTEXT, defaults: "0.1" })],
  ["too many draws", "out_of_range", () => user.decide({ context: CONTEXT, propensities: 10_001 })],
  ["half a draw", "out_of_range", () => user.decide({ context: CONTEXT, propensities: 0.5 })],
  ["a time before the beginning", "out_of_range", () => user.decide({ context: CONTEXT, at: -1 })],
  ["draws for a recommendation", "bad_request", () => user.recommend({ context: CONTEXT, propensities: 1 })],
  ["a reward that is NaN", "out_of_range", () => user.feedback(waits, NaN)],
  ["a reward above 1", "out_of_range", () => user.feedback(waits, 1.1)],
  ["a reward that is a text", "bad_request", () => user.feedback(waits, "1")],
  ["a weight of 0", "out_of_range", () => user.feedback(waits, 1, { weight: 0 })],
  ["a second reward", "duplicate_feedback", () => user.feedback(had, 1)],
  ["a decision that is nonsense", "unknown_decision", () => user.feedback("yesterday", 1)],
  ["a decision of somebody else", "unknown_decision", () => user.feedback("0000000000000001-0-1", 1)],
  ["a decision to come", "unknown_decision", () => user.feedback(had.replace(/\d+$/, "99"), 1)],
  ["a decision that is null", "bad_request", () => user.feedback(null, 1)],
  ["half an action", "incomplete_action", () => user.observe({ context: CONTEXT, action: { style: "direct" }, reward: 1 })],
  ["no action", "bad_request", () => user.observe({ context: CONTEXT, reward: 1 })],
  ["an observed reward that is infinite", "out_of_range", () => user.observe({ context: CONTEXT, action: ACTION, reward: -Infinity })],
  ["a statement that is NaN", "out_of_range", () => user.onboard({ ...STATEMENT, response: NaN })],
  ["one bad statement of two", "out_of_range", () => user.onboard([STATEMENT, { ...STATEMENT, precision: -1 }])],
  ["a statement without a preference", "bad_request", () => user.onboard({ response: 1, precision: 1 })],
  ["a coordinate that does not exist", "unknown_name", () => user.onboard({ direction: { "style=brief": 1 }, response: 1, precision: 1 })],
  ["an empty direction", "bad_direction", () => user.onboard({ direction: {}, response: 1, precision: 1 })],
  ["a preference without a coordinate", "no_coordinate", () =>
    user.onboard({ ...STATEMENT, prefer: { memory: "no_memory" }, over: { memory: "recent_memory" }, when: { task: "coding" } })],
  ["a decision with its reward, explained", "stale", () => (user.feedback(waits, 0.5), user.explain(waits))],
  ["a contrast that does not exist", "unknown_name", () => user.contrast("up_over_down")],
  ["a contrast of two components", "bad_contrast", () =>
    user.contrast({ context: CONTEXT, prefer: ACTION, over: { memory: "no_memory", tool: "web_search", style: "concise" } })],
  ["no bytes", "damaged", () => policy.restore(new Uint8Array())],
  ["some text", "damaged", () => policy.restore(new TextEncoder().encode("This is my shopping list, and it is long enough."))],
  ["a snapshot that is cut", "damaged", () => policy.restore(user.snapshot().slice(0, -1))],
  ["a snapshot with more behind it", "damaged", () => policy.restore(new Uint8Array([...user.snapshot(), 0]))],
  ["a snapshot with a bit turned", "damaged", () => {
    const bytes = user.snapshot();
    bytes[bytes.length >> 1] ^= 1;
    policy.restore(bytes);
  }],
  ["a snapshot of another catalog", "damaged", () => fable.catalog("tau2").policy().restore(user.snapshot())],
  ["a snapshot of other settings", "damaged", () => policy.catalog.policy({ noise_variance: 1 }).restore(user.snapshot())],
  ["a snapshot that is an array", "bad_request", () => policy.restore([...user.snapshot()])],
  ["a policy of another catalog", "bad_request", () => user.adopt(fable.catalog("tau2").policy())],
  ["a policy that means something else", "bad_request", () => user.adopt(policy.catalog.policy({ noise_variance: 1 }))],
  ["a journal that was not asked for", "bad_request", () => user.journal()],
  ["a freed user", "bad_request", () => freed.decide({ context: CONTEXT })],
  ["the snapshot of a freed user", "bad_request", () => freed.snapshot()],
  ["the rounds of a freed user", "bad_request", () => freed.rounds],
  ["names of a catalog that are pushed to", "out_of_range", () => {
    "use strict";
    try {
      policy.catalog.tasks.push("golf");
    } catch {
      return user.decide({ context: { ...CONTEXT, risk: 2 } });
    }
  }],
  ["something that is not a policy", "bad_request", () => user.adopt({})],
  ["a constructor", "bad_request", () => new user.constructor()],
  ["an action past the last", "out_of_range", () => policy.catalog.action(180)],
];

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Tries them all; what is returned is what went wrong, and how many there were. */
export function misuse(fable, FableError) {
  const policy = fable.catalog("agent").policy({ seed: 7 });
  const wrong = [];
  const settled = ({ code, message } = {}) => `${code}: ${message}`;
  const names = attempts({ fable, policy }).map(([name]) => name);
  for (const [index, name] of names.entries()) {
    const user = policy.user("ana");
    const freed = policy.user("bob");
    freed.free();
    freed.free();
    const had = user.decide({ context: CONTEXT }).decision;
    user.feedback(had, 0.5);
    const waits = user.decide({ context: CONTEXT }).decision;
    const [, code, attempt] = attempts({ fable, policy, user, had, waits, freed })[index];
    const before = hex(user.snapshot());
    try {
      attempt();
      wrong.push(`${name}: not refused`);
    } catch (error) {
      if (!(error instanceof FableError) || error.code !== code || !error.message) wrong.push(`${name}: ${settled(error)}`);
    }
    if (code !== "stale" && hex(user.snapshot()) !== before) wrong.push(`${name}: something has changed`);
    if (user.decide({ context: CONTEXT }).feasible !== 180) wrong.push(`${name}: the user does not go on`);
    user.free();
  }
  return { wrong, count: names.length, stopped: fable.stopped };
}
