// The command `fable` beside the package: the same questions over a pipe, and files that both read.

import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

export const run = promisify(execFile);

/** A folder of its own for a test. */
export async function folder(test) {
  const path = await mkdtemp(join(tmpdir(), "fable-js-"));
  test.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** `fable serve` with a store of its own; `ask` sends one request and gives its answer. */
export async function serve(test, flags) {
  const store = join(await folder(test), "users.fable");
  const server = spawn(process.env.FABLE, ["serve", "--store", store, ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = [];
  createInterface({ input: server.stdout }).on("line", (line) => waiting.shift()(JSON.parse(line)));
  server.on("exit", (code) => waiting.splice(0).forEach((resolve) => resolve({ ended: code })));
  test.after(() => server.kill());
  return (request) =>
    new Promise((resolve) => {
      waiting.push(resolve);
      server.stdin.write(`${JSON.stringify(request)}\n`);
    });
}

/** A fixed sequence of numbers from 0 to 1, in sixteenths. */
export function sixteenths(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 28) / 16;
  };
}

export const context = (catalog, next) => ({
  task: catalog.tasks.length ? catalog.tasks[Math.floor(next() * catalog.tasks.length)] : null,
  ...Object.fromEntries(catalog.signals.map((signal) => [signal, next()])),
});
