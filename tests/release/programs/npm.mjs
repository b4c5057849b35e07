// The npm package from its archive: decides, learns, and goes on from a snapshot.

import assert from "node:assert/strict";
import { load } from "fable-bandit";

const policy = (await load()).catalog("agent").policy({ seed: 7 });
let ana = policy.user("ana");
const context = { task: "coding", risk: 0.1, ambiguity: 0.2, memory_need: 0.7, tool_need: 0.3 };
let liked = 0;
for (let round = 0; round < 60; round++) {
  const { decision, action, instruction } = ana.decide({ context });
  assert.equal(typeof instruction, "string");
  const pleased = action.style === "concise";
  if (round >= 40 && pleased) liked++;
  ana.feedback(decision, pleased ? 0.8 : -0.4);
  if (round === 30) ana = policy.restore(ana.snapshot());
}
assert.ok(liked >= 15, `${liked} of the last 20 were liked`);
console.log(`${liked} of the last 20 were liked`);
