// The page in a real browser: the server that examples/browser/run starts, and tabs whose every message and request is noted.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = await import(process.env.PLAYWRIGHT);

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

/** Starts the server and waits for the address that it prints. */
export function serve(port) {
  const server = spawn("examples/browser/run", [String(port)], { stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  server.stderr.on("data", (part) => (log += part));
  const address = new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (part) => {
      text += part;
      const found = text.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${log}`)));
  });
  return { address, stop: () => server.kill() };
}

/** Waits until the server answers: it prints its address just before it listens. */
export async function ready(address) {
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      return await fetch(address);
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`${address} does not answer`);
}

/** A browser with a profile of its own. */
export async function browser() {
  const profile = await mkdtemp(join(tmpdir(), "fable-browser-"));
  const started = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM, headless: true, args: FLAGS, acceptDownloads: true, viewport: { width: 1280, height: 900 },
  });
  const close = async () => {
    await started.close();
    await rm(profile, { recursive: true, force: true });
  };
  /** Opens the page; `noted` has what no visit may have: errors, warnings, requests elsewhere. */
  const visit = async (address, { viewport, scheme = "light", hash = "", ready = "main:not([hidden])" } = {}) => {
    const page = await started.newPage();
    const noted = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && noted.push(message.text()));
    page.on("pageerror", (error) => noted.push(error.message));
    page.on("request", (request) => /^(blob|data):/.test(request.url()) || request.url().startsWith(address) || noted.push(request.url()));
    if (viewport) await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(address + hash);
    await page.waitForSelector(ready);
    return { page, noted };
  };
  return { visit, close };
}
