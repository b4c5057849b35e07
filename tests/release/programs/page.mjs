// The page from its archive, served by Python as any server of static files would, in a headless Chromium: a visitor asks, gets an answer and
// reacts. Fails on an error or a warning in the console, and on a request that leaves the folder.
//
//   page.mjs FOLDER

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { browser, ready } from "../../browser/browser.mjs";

const folder = process.argv[2];
const server = spawn("python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder], { stdio: ["ignore", "pipe", "ignore"] });
let chrome;
try {
  const port = await new Promise((resolve, reject) => {
    let said = "";
    server.stdout.on("data", (part) => {
      said += part;
      const found = said.match(/port (\d+)/);
      if (found) resolve(found[1]);
    });
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const address = `http://127.0.0.1:${port}/`;
  await ready(address);
  chrome = await browser();
  const { page, noted } = await chrome.visit(address);
  await page.getByText("Try it yourself").click();
  await page.fill("#text", "Write a function that reverses a list");
  await page.click("#decide");
  await page.waitForSelector(".instruction");
  const instruction = await page.locator(".instruction").first().innerText();
  await page.getByRole("button", { name: "Great" }).click();
  await page.waitForFunction(() => /Learned/.test(document.getElementById("message").textContent));
  assert.ok(instruction.length > 0);
  assert.deepEqual(noted, []);
  console.log(`ok   the page in Chromium: it decided, learned, and asked nobody else: ${(await page.locator("#message").innerText()).trim()}`);
} finally {
  await chrome?.close();
  server.kill();
}
