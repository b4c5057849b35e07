// The npm package in node: the bits of tests/golden, the answers of `fable serve`, snapshots from and for Rust. See tests/browser/run.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { load } from "../../examples/browser/package/node.js";
import { SCRIPTS, play } from "./golden.mjs";
import { context, folder, run, serve, sixteenths } from "./host.mjs";

const fable = await load();
const agent = fable.catalog("agent");

/** The hashes that tests/golden pins. */
async function pinned(name) {
  const source = await readFile("tests/golden/src/lib.rs", "utf8");
  const found = source.match(new RegExp(`const ${name.toUpperCase()}_F32: Outcome =\\s+Outcome \\{\\s+decisions: 0x([0-9a-f_]+),\\s+state: 0x([0-9a-f_]+)`));
  return { decisions: found[1].replaceAll("_", ""), state: found[2].replaceAll("_", "") };
}

for (const name of ["tau2", "agent"]) {
  test(`the pinned run of ${name} comes to the same bits`, async () => {
    const { decisions, state } = play(fable, name);
    assert.deepEqual({ decisions, state }, await pinned(name));
  });
}

test("the state of the pinned run is that of the golden record", async () => {
  const record = await readFile("tests/golden/records/tau2_f32.snapshot");
  const { snapshot } = play(fable, "tau2");
  const numbers = (bytes) => Buffer.from(bytes).subarray(-4 * 500, -4);
  assert.deepEqual(numbers(snapshot), numbers(record));
  const user = fable.catalog("tau2").policy({ base_precision: 16, nu: 0.3, scale: "fixed" }).restore(record);
  assert.equal(user.rounds, 100);
  assert.deepEqual(numbers(user.snapshot()), numbers(record));
});

test("a worker comes to them, too, with the module that was compiled here", async () => {
  const work = (await import("node:url")).pathToFileURL;
  const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    (async () => {
      const { load } = await import(workerData.library);
      const { play } = await import(workerData.golden);
      const own = play(await load(), "tau2");
      const sent = play(await load(workerData.compiled), "tau2");
      parentPort.postMessage([own, sent].map(({ decisions, state }) => ({ decisions, state })));
    })();`;
  const workerData = { library: work("examples/browser/package/node.js").href, golden: work("tests/browser/golden.mjs").href, compiled: fable.compiled };
  const worker = new Worker(source, { eval: true, workerData });
  const [own, sent] = await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  await worker.terminate();
  assert.deepEqual([own, sent], [await pinned("tau2"), await pinned("tau2")]);
});

/** Plays rounds here and over the pipe, every answer compared. */
async function side_by_side(test, catalog, settings, flags, rounds, seed) {
  const ask = await serve(test, flags);
  const user = catalog.policy(settings).user("ana");
  const next = sixteenths(seed);
  const told = (answer) => assert.equal(answer.error, undefined, JSON.stringify(answer.error)) ?? answer;
  const [first] = catalog.components;
  const [one, other] = first.values.map(({ name }) => ({ [first.name]: name }));
  const statements = [{ prefer: one, over: other, response: 0.5, precision: 4 }];
  const accepted = user.onboard(statements);
  assert.deepEqual({ accepted }, told(await ask({ op: "onboard", user: "ana", statements })));
  let probes = 0;
  for (let round = 0; round < rounds; round++) {
    const request = { context: context(catalog, next), ...(round % 3 === 0 && { forbid: [one] }) };
    if (round % 7 === 0) request.propensities = 20;
    const { baseline, ...decided } = user.decide(request);
    assert.ok(Number.isFinite(baseline));
    const wanted = told(await ask({ op: "decide", user: "ana", ...request }));
    assert.deepEqual(decided, wanted);
    probes += decided.probes?.length ?? 0;
    const { decision } = wanted;
    if (round % 5 === 0) {
      const { propensities, ...rest } = request;
      assert.deepEqual(user.recommend(rest), told(await ask({ op: "recommend", user: "ana", ...rest })));
      assert.deepEqual(user.explain(decision), told(await ask({ op: "explain", decision })));
      const against = catalog.action(round % catalog.size);
      assert.deepEqual(user.explain(decision, { against }), told(await ask({ op: "explain", decision, against })));
    }
    const reward = next() * 2 - 1;
    const { changed, promoted, ...learned } = user.feedback(decision, reward);
    assert.deepEqual({ ...learned, ...(changed && { changed }) }, told(await ask({ op: "feedback", decision, reward })));
    if (round % 11 === 0) {
      const seen = { context: request.context, action: against(catalog, decided.action), reward, weight: 0.5 };
      assert.equal(user.observe(seen).observations, told(await ask({ op: "observe", user: "ana", ...seen })).observations);
    }
  }
  for (const { name } of catalog.contrasts) {
    const { missing, ...known } = user.contrast(name);
    // What rules leave to be learned is computed on hosts alone.
    const { identifiable, ...wanted } = told(await ask({ op: "contrast", user: "ana", name }));
    assert.equal(identifiable !== undefined, catalog.rules.length > 0);
    assert.deepEqual(known, wanted);
  }
  assert.deepEqual(user.profile(), told(await ask({ op: "profile", user: "ana" })));
  assert.deepEqual({ waiting: user.waiting() }, told(await ask({ op: "waiting", user: "ana" })));
  return { user, probes };
}

const against = (catalog, action) => catalog.action((catalog.index(action) + 1) % catalog.size);

test("every answer is that of fable serve, with coins", async (t) => {
  const { user, probes } = await side_by_side(t, agent, { seed: 7, probe: 0.5 }, ["--seed", "7", "--probe", "0.5"], 150, 3);
  assert.ok(probes > 50, `${probes} coins`);
  assert.equal(user.rounds, 150);
});

test("every answer is that of fable serve, with draws and settings", async (t) => {
  const settings = { seed: 2n ** 63n + 5n, nu: 0.3, noise_variance: 0.5, deadline: "rounds=20", half_life: 40, on_change: "halve", retained: ["memory", "tool", "style"] };
  const flags = ["--seed", "9223372036854775813", "--nu", "0.3", "--noise-variance", "0.5", "--deadline", "rounds=20", "--half-life", "40"];
  await side_by_side(t, agent, settings, [...flags, "--on-change", "halve", "--retained", "memory,tool,style"], 60, 5);
});

test("promoted preferences are those of fable serve", async (t) => {
  const ask = await serve(t, ["--catalog", "tau2", "--probe", "1", "--alpha", "0.5"]);
  const user = fable.catalog("tau2").policy({ probe: 1, alpha: 0.5 }).user("ana");
  let promoted = 0;
  for (let round = 0; round < 60; round++) {
    const { decision, action } = user.decide({ context: {} });
    assert.equal((await ask({ op: "decide", user: "ana", context: {} })).decision, decision);
    const reward = action.style === "concise" ? 0.875 : -0.875;
    promoted += user.feedback(decision, reward).promoted;
    await ask({ op: "feedback", decision, reward });
  }
  const profile = user.profile();
  assert.ok(profile.profile.length > 0 && promoted === profile.profile.length, JSON.stringify(profile));
  assert.deepEqual(profile, await ask({ op: "profile", user: "ana" }));
  assert.match(profile.text, /^The customer prefers brief answers/);
});

/** The rounds of examples/browser/package/examples/host.rs. */
function rounds(user, count) {
  return Array.from({ length: count }, () => {
    const { rounds } = user;
    const signals = Object.fromEntries(agent.signals.map((name, signal) => [name, ((rounds + signal) % 9) / 8]));
    const { decision, action } = user.decide({ context: { task: agent.tasks[rounds % agent.tasks.length], ...signals } });
    const index = agent.index(action);
    user.feedback(decision, ((index + rounds) % 5) / 2 - 1);
    return `${decision} ${index}`;
  });
}

test("a user goes from Rust to JavaScript and back, and on to replay", async (t) => {
  const files = await folder(t);
  const [begun, ours, end] = ["begun", "ours", "end"].map((name) => join(files, `${name}.snapshot`));
  const host = async (...flags) => (await run(process.env.HOST, flags)).stdout.trim().split("\n");
  const policy = agent.policy({ seed: 7, probe: 0.5 });
  const alone = policy.user("ana");

  assert.deepEqual(rounds(alone, 40), await host("40", begun));
  const user = policy.restore(await readFile(begun), { journal: true });
  assert.equal(user.id, alone.id);
  assert.deepEqual(user.snapshot(), alone.snapshot());
  assert.deepEqual(rounds(user, 40), rounds(alone, 40));
  await writeFile(ours, user.snapshot());
  assert.deepEqual(await host("40", end, ours), rounds(alone, 40));
  assert.deepEqual(new Uint8Array(await readFile(end)), alone.snapshot());

  const { start, events } = user.journal();
  await writeFile(join(files, "start"), start);
  await writeFile(join(files, "journal"), events);
  const replay = (...flags) => run(process.env.FABLE, ["replay", "--snapshot", join(files, "start"), "--journal", join(files, "journal"), "--seed", "7", ...flags]);
  assert.match((await replay("--probe", "0.5")).stdout, /40 of 40 decisions are the same, bit for bit/);
  await assert.rejects(replay("--probe", "0.25"), "the comparison can fail");
});

test("a prior is a state of nobody, and anything else is refused", () => {
  const settings = { seed: 7, probe: 0.5 };
  const plain = agent.policy(settings);
  const nobody = plain.user("nobody").snapshot();
  // A prior that says nothing new: the same decisions.
  const informed = agent.policy(settings, { prior: nobody });
  assert.deepEqual(rounds(informed.user("ana"), 20), rounds(plain.user("ana"), 20));
  const somebody = plain.user("somebody");
  rounds(somebody, 1);
  const refused = (prior, code) => assert.throws(() => agent.policy(settings, { prior }), { name: "FableError", code });
  refused(somebody.snapshot(), "bad_request");
  refused("prior.bin", "bad_request");
  refused(new Uint8Array(), "bad_request");
  assert.throws(() => agent.policy(settings, { priors: nobody }), { name: "FableError" });
  assert.throws(() => agent.policy(settings, { prior: nobody.subarray(1) }), { name: "FableError" });
  assert.throws(() => fable.catalog("tau2").policy({}, { prior: nobody }), { name: "FableError" });
});

/** The catalog of `fable_std::catalogs`, as the object that a TOML parser makes of it. */
const LAMP = {
  name: "lamp",
  tasks: ["reading", "dinner"],
  signals: ["daylight"],
  components: [
    { name: "light", null: "off", values: [{ name: "off" }, { name: "warm", cost: 0.02, instruction: "Use warm light." }, { name: "cold", cost: 0.02, instruction: "Use cold light." }] },
    { name: "speech", values: [{ name: "silent" }, { name: "spoken", cost: 0.05, instruction: "Say what you do." }] },
  ],
  dictionary: {
    blocks: [{ of: "light" }, { of: "speech", per_task: true }, { of: "light", scaled_by: "daylight", without_null: true }, { of: ["light", "speech"] }],
  },
  terms: [{ weight: -0.2, when: { daylight: { above: 0.5 } }, any_of: { light: ["warm", "cold"] } }],
  contrasts: [{
    name: "warm_over_cold_at_dinner", prefer: { light: "warm" }, over: { light: "cold" }, with: { speech: "silent" }, context: { task: "dinner", daylight: 0.1 },
    positive: "The user likes warm light at dinner.", negative: "The user likes cold light at dinner.",
  }],
  rules: [{ name: "calm_dinner", when: { task: "dinner" }, forbid: { light: "cold", speech: "spoken" } }],
};

/** What a TOML parser makes of a file: that of Python. */
async function parsed(file) {
  const program = "import json, sys, tomllib; json.dump(tomllib.load(open(sys.argv[1], 'rb')), sys.stdout)";
  return JSON.parse((await run("python3", ["-c", program, file])).stdout);
}

for (const name of ["agent", "tau2", "rubric"]) {
  test(`${name} from its TOML file is the one that ships`, async (t) => {
    const file = join(await folder(t), `${name}.toml`);
    await writeFile(file, (await run(process.env.FABLE, ["catalog", "show", name, "--toml"])).stdout);
    const [written, shipped] = [fable.catalog(await parsed(file)), fable.catalog(name)];
    assert.notEqual(written, shipped);
    assert.deepEqual({ ...written }, { ...shipped });
    assert.equal(written.policy().fingerprint, shipped.policy().fingerprint);
    if (!SCRIPTS[name]) return;
    const { decisions, state } = play(fable, await parsed(file), SCRIPTS[name]); // costs and default scores, too
    assert.deepEqual({ decisions, state }, await pinned(name));
  });
}

test("a catalog of one's own is that of the same file", async (t) => {
  const source = await readFile("fable-std/src/catalogs/mod.rs", "utf8");
  const text = source.match(/let text = r#"\n([^]*?)\/\/! "#;/)[1].replaceAll(/^\/\/! ?/gm, "");
  const file = join(await folder(t), "lamp.toml");
  await writeFile(file, text);
  assert.deepEqual(await parsed(file), LAMP);
  const lamp = fable.catalog(LAMP);
  assert.equal(lamp, fable.catalog(structuredClone(LAMP)), "the same description is the same catalog");
  assert.deepEqual([lamp.size, lamp.dimension, lamp.rules], [6, 15, ["calm_dinner"]]);
  const { user } = await side_by_side(t, lamp, { probe: 0.5 }, ["--catalog", file, "--probe", "0.5"], 40, 11);
  const dinner = { context: { task: "dinner", daylight: 0.25 } };
  assert.equal(user.feasible(dinner).length, 5);
  const { decision } = user.decide(dinner);
  assert.equal(user.explain(decision, { against: { light: "cold", speech: "spoken" } }).rule, "calm_dinner");
});
