// The npm package in Chromium, on a page and in a worker: bits, misuse, loading without a bundler. See tests/browser/run.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { browser } from "./browser.mjs";

const FOLDERS = { package: "examples/browser/package", plain: "examples/browser/package", tests: "tests/browser" };
const KINDS = { ".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm" };
let server, chrome, address;

/** Serves the package, and under `plain` without saying that the module is one, as simple servers do. */
async function answer({ url }, response) {
  const [, folder, ...rest] = normalize(new URL(url, "http://x").pathname).split("/");
  if (!folder) return response.setHeader("content-type", "text/html").end("<!doctype html><title>Fable</title><link rel=icon href=data:,><main>Fable</main>");
  try {
    const bytes = await readFile(join(FOLDERS[folder], ...rest));
    const kind = folder === "plain" && extname(url) === ".wasm" ? "application/octet-stream" : KINDS[extname(url)];
    response.setHeader("content-type", kind).end(bytes);
  } catch {
    response.writeHead(404).end();
  }
}

before(async () => {
  server = createServer(answer);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${server.address().port}/`;
  chrome = await browser();
});
after(async () => {
  await chrome?.close();
  server?.close();
  server?.closeAllConnections();
});

const visiting = (name, walk, expected = []) =>
  test(name, async () => {
    const { page, noted } = await chrome.visit(address);
    await walk(page);
    assert.deepEqual(noted, expected);
    await page.close();
  });

async function pinned() {
  const source = await readFile("tests/golden/src/lib.rs", "utf8");
  return ["TAU2", "AGENT"].map((name) => source.match(new RegExp(`const ${name}_F32: Outcome =\\s+Outcome \\{\\s+decisions: 0x([0-9a-f_]+),\\s+state: 0x([0-9a-f_]+)`)).slice(1).map((hash) => hash.replaceAll("_", "")));
}

for (const folder of ["package", "plain"]) {
  visiting(`the pinned runs come to the same bits on a page (${folder})`, async (page) => {
    const hashes = await page.evaluate(async (folder) => {
      const [{ load }, { play }] = await Promise.all([import(`/${folder}/index.js`), import("/tests/golden.mjs")]);
      const fable = await load();
      return ["tau2", "agent"].map((name) => play(fable, name)).map(({ decisions, state }) => [decisions, state]);
    }, folder);
    assert.deepEqual(hashes, await pinned());
  });
}

visiting("and in a worker, with the module that was compiled on the page", async (page) => {
  const hashes = await page.evaluate(async () => {
    const { load } = await import("/package/index.js");
    const source = `
      import { load } from "${location.origin}/package/index.js";
      import { play } from "${location.origin}/tests/golden.mjs";
      onmessage = async ({ data }) => {
        const instances = [await load(), await load(data)];
        postMessage(instances.map((fable) => ["tau2", "agent"].map((name) => play(fable, name)).map(({ decisions, state }) => [decisions, state])));
      };`;
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
    const answer = new Promise((resolve, reject) => Object.assign(worker, { onmessage: ({ data }) => resolve(data), onerror: ({ message }) => reject(new Error(message)) }));
    worker.postMessage((await load()).compiled);
    return answer;
  });
  assert.deepEqual(hashes, [await pinned(), await pinned()]);
});

visiting("every misuse is an exception there, too", async (page) => {
  const told = await page.evaluate(async () => {
    const [{ FableError, load }, { misuse }] = await Promise.all([import("/package/index.js"), import("/tests/misuse.mjs")]);
    return misuse(await load(), FableError);
  });
  assert.deepEqual([told.wrong, told.stopped], [[], false]);
  assert.ok(told.count > 70);
});

visiting("a module that cannot be fetched is an error, and can be fetched later", async (page) => {
  let blocked = true;
  await page.route("**/fable.wasm", (route) => (blocked ? route.fulfill({ status: 503, body: "" }) : route.continue()));
  const attempt = () =>
    page.evaluate(async () => {
      const { load } = await import("/package/index.js");
      return load().then((fable) => fable.catalog("tau2").size, (error) => error.message);
    });
  assert.match(await attempt(), /fable\.wasm: 503/);
  blocked = false;
  assert.equal(await attempt(), 18);
}, ["Failed to load resource: the server responded with a status of 503 (Service Unavailable)"]);

visiting("a snapshot that is made in node goes on in the browser, and back", async (page) => {
  const { load } = await import("../../examples/browser/package/node.js");
  const policy = (await load()).catalog("tau2").policy({ seed: 3, probe: 0.5 });
  const ana = policy.user("ana");
  const round = (user) => user.feedback(user.decide({ context: {} }).decision, 0.25);
  for (let count = 0; count < 20; count++) round(ana);
  const bytes = await page.evaluate(async (bytes) => {
    const { load } = await import("/package/index.js");
    const ana = (await load()).catalog("tau2").policy({ seed: 3, probe: 0.5 }).restore(new Uint8Array(bytes));
    for (let count = 0; count < 20; count++) ana.feedback(ana.decide({ context: {} }).decision, 0.25);
    return [...ana.snapshot()];
  }, [...ana.snapshot()]);
  for (let count = 0; count < 20; count++) round(ana);
  assert.deepEqual(new Uint8Array(bytes), ana.snapshot());
  assert.equal(policy.restore(new Uint8Array(bytes)).rounds, 40);
});
