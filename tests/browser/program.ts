// A program as somebody would write it, checked with `tsc --strict`, and run. Lines after @ts-expect-error must not compile.

import { FableError, load, type Context, type Decision, type Definition } from "fable-bandit";

const lamp: Definition = {
  name: "lamp",
  tasks: ["reading", "dinner"],
  signals: ["daylight"],
  components: [{ name: "light", null: "off", values: [{ name: "off" }, { name: "warm", cost: 0.02, instruction: "Use warm light." }] }],
  dictionary: { blocks: [{ of: "light" }, { of: "light", per_task: true }] },
  terms: [{ weight: -0.2, when: { daylight: { above: 0.5 } }, any_of: { light: ["warm"] } }],
  contrasts: [{ name: "warm_over_off", prefer: { light: "warm" }, over: { light: "off" }, context: { task: "dinner", daylight: 0.1 } }],
};

const fable = await load();
const policy = fable.catalog(lamp).policy({ seed: 7n, probe: 0.5, deadline: "rounds=20" });
const ana = policy.user("ana", { journal: true });
const context: Context = { task: "dinner", daylight: 0.25 };
ana.onboard({ prefer: { light: "warm" }, over: { light: "off" }, when: { task: "dinner" }, response: 0.5, precision: 4 });
const decision: Decision = ana.decide({ context, forbid: [{ light: ["off"] }], propensities: 0 });
const share: number | undefined = ana.explain(decision.decision, { against: { light: "off" } }).shares[0]?.chosen;
const learned: { observations: number } = ana.feedback(decision.decision, 0.5, { weight: 1 });
const certain: -1 | 0 | 1 = ana.contrast("warm_over_off").certified;
const again = policy.restore(ana.snapshot());
const events: Uint8Array = ana.journal().events;

let code = "";
try {
  ana.feedback(decision.decision, 0.5);
} catch (error) {
  if (!(error instanceof FableError)) throw error;
  code = error.code;
}

// @ts-expect-error a catalog that does not ship
(() => fable.catalog("golf"));
// @ts-expect-error a setting that does not exist
(() => policy.catalog.policy({ probes: 1 }));
// @ts-expect-error a reward that is a text
(() => ana.feedback(decision.decision, "good"));
// @ts-expect-error users are made by policies
(() => new ana.constructor.User());
// @ts-expect-error a snapshot is bytes
(() => policy.restore("bytes"));

console.log(JSON.stringify([decision.action.light, decision.propensities?.length, typeof share, learned.observations, certain, again.rounds, events.length > 0, code]));
ana.free();
