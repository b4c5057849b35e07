// What is refused by the npm package, how it ends, and what it gives back, in node. See tests/browser/run.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { FableError, User, load } from "../../examples/browser/package/node.js";
import { Module } from "../../examples/browser/package/module.js";
import { Fable } from "../../examples/browser/package/fable.js";
import { misuse } from "./misuse.mjs";

const fable = await load();
const context = { task: "coding", risk: 0.125, ambiguity: 0.25, memory_need: 0.75, tool_need: 0.5 };

test("every misuse is an exception with its code, and nothing has changed", () => {
  const { wrong, count, stopped } = misuse(fable, FableError);
  assert.deepEqual([wrong, stopped], [[], false]);
  assert.ok(count > 70);
});

test("the codes are those of fable serve, and the types have them all", async () => {
  const protocol = await readFile("fable-std/src/serve/protocol.md", "utf8");
  const known = new Set([...protocol.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, code]) => code));
  const typed = (await readFile("examples/browser/package/index.d.ts", "utf8")).match(/type FableErrorCode =([^;]+);/)[1].match(/[a-z_]+/g);
  const sources = await Promise.all(["src/error.rs", "src/module.rs", "src/verbs.rs", "src/ask.rs", "src/exports.rs", "module.js", "names.js", "definition.js", "fable.js"]
    .map((file) => readFile(`examples/browser/package/${file}`, "utf8")));
  const used = sources.join().matchAll(/(?:refuse\(|FableError\(|Refusal::new\(|=> |else \{ |\{ )\s*"([a-z_]+)"/g);
  const codes = new Set([...used].map(([, code]) => code).filter((code) => known.has(code)));
  assert.ok(codes.size > 12);
  assert.deepEqual([...codes].filter((code) => !typed.includes(code)), []);
  assert.deepEqual(typed.filter((code) => !known.has(code)), []);
});

/** An instance whose memory can be looked at. */
async function open() {
  const instance = await WebAssembly.instantiate(fable.compiled, {});
  return { short: new Fable(fable.compiled, new Module(instance)), memory: instance.exports.memory };
}

test("memory is given back by free, by using and by the collector", async () => {
  const { short, memory } = await open();
  const many = short.catalog("agent").policy();
  for (let turn = 0; turn < 2000; turn++) many.user("somebody").free();
  assert.ok(memory.buffer.byteLength < 5e6, `${memory.buffer.byteLength} bytes`); // 240 MB if they stayed
  if (Symbol.dispose) assert.equal(User.prototype[Symbol.dispose], User.prototype.free);

  const policy = fable.catalog("agent").policy();
  // The number of a user who was dropped is free at last: nobody answers to it.
  let dropped = policy.user("dropped");
  const { number } = dropped;
  const rounds = () => fable.module.call("fable_facts", () => true, [number]);
  assert.ok(rounds());
  dropped = null;
  for (let turn = 0; turn < 200; turn++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
    try {
      rounds();
    } catch (error) {
      return assert.equal(error.code, "bad_request");
    }
  }
  assert.fail("a user who was dropped is still there");
});

test("a trap ends one instance, is reported as such, and the others go on", async () => {
  const { short, memory } = await open();
  const policy = short.catalog("agent").policy();
  const user = policy.user("ana");
  const taken = () => memory.buffer.byteLength;
  const before = taken();
  const crowd = Array.from({ length: 100 }, () => policy.user("somebody"));
  const each = Math.round((taken() - before) / 100);
  console.log(`a user of agent takes ${each} bytes`);
  assert.ok(each < 140_000, `${each} bytes`);
  crowd.forEach((user) => user.free());
  assert.throws(() => short.module.call("fable_fly", () => true), { code: "unknown_op" });
  assert.ok(!short.stopped);
  memory.grow(65536 - taken() / 65536); // nobody gets any more
  const users = [user];
  const fill = () => {
    for (;;) users.push(policy.user("somebody"));
  };
  assert.throws(fill, (error) => error instanceof FableError && error.code === "internal" && error.cause instanceof WebAssembly.RuntimeError);
  assert.ok(short.stopped);
  for (const attempt of [() => user.decide({ context }), () => user.snapshot(), () => policy.user("bob"), () => short.catalog("tau2")]) {
    assert.throws(attempt, (error) => error.code === "internal" && /the module has stopped/.test(error.message));
  }
  users.forEach((user) => user.free()); // does nothing any more, and does not throw
  assert.ok(!fable.stopped);
  assert.equal(fable.catalog("agent").policy().user("ana").decide({ context }).feasible, 180);
});

test("users of two instances do not mix", async () => {
  const other = await load();
  const [ana, bob] = [fable, other].map((instance) => instance.catalog("agent").policy().user("ana"));
  assert.throws(() => ana.adopt(bob.policy), { code: "bad_request" });
  const { decision } = ana.decide({ context });
  assert.throws(() => bob.feedback(decision, 1), { code: "unknown_decision" });
  ana.feedback(decision, 1);
  assert.deepEqual([ana.rounds, bob.rounds], [1, 0]);
});

test("what is not a module is an error, and the next attempt is not spoiled", async () => {
  await assert.rejects(load(new Uint8Array([0, 1, 2])), WebAssembly.CompileError);
  await assert.rejects(load(new Uint8Array()), WebAssembly.CompileError);
  assert.ok(!(await load()).stopped);
});
