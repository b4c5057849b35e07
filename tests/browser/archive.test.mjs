// The npm package as somebody gets it: the archive, installed in an empty folder, its types, and the lines of the pages. See
// tests/browser/run.

import assert from "node:assert/strict";
import { cp, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { load } from "../../examples/browser/package/node.js";
import { folder, run } from "./host.mjs";

const PACKAGE = "examples/browser/package";
let place, archive;

before(async (t) => {
  place = await folder(t);
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", place, `./${PACKAGE}`]);
  [archive] = JSON.parse(stdout);
  await writeFile(join(place, "package.json"), '{ "private": true, "type": "module" }');
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", join(place, archive.filename)], { cwd: place });
});

test("the archive is small, and has what it should", async () => {
  const module = await readFile(`${PACKAGE}/fable.wasm`);
  console.log(`archive ${archive.size} bytes, unpacked ${archive.unpackedSize}; module ${module.length}, ${gzipSync(module, { level: 9 }).length} compressed`);
  assert.ok(archive.size < 140_000, `${archive.size} bytes`);
  assert.ok(module.length < 260_000, `${module.length} bytes`);
  const files = archive.files.map(({ path }) => path).sort();
  const scripts = (await readdir(PACKAGE)).filter((name) => name.endsWith(".js"));
  assert.deepEqual(files, ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "fable.wasm", "index.d.ts", "package.json", ...scripts].sort());
  const { dependencies, version } = JSON.parse(await readFile(`${PACKAGE}/package.json`));
  assert.equal(dependencies, undefined);
  assert.equal(version, (await readFile("Cargo.toml", "utf8")).match(/\[workspace\.package\]\nversion = "(.*)"/)[1]);
  for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) assert.deepEqual(await readFile(`${PACKAGE}/${name}`), await readFile(name));
});

for (const page of ["README.md", `${PACKAGE}/README.md`]) {
  test(`the JavaScript of ${page} runs where the archive is installed`, async () => {
    const programs = [...(await readFile(page, "utf8")).matchAll(/```js\n([^]*?)```/g)].map(([, program]) => program);
    assert.ok(programs.length > 0);
    for (const [index, program] of programs.entries()) {
      const file = join(place, `page-${page.length}-${index}.js`);
      await writeFile(file, program);
      const { stdout } = await run("node", [file], { cwd: place });
      assert.ok(stdout.trim(), `it says nothing: ${program}`);
    }
  });
}

test("a program in TypeScript passes tsc --strict, and runs", async () => {
  await cp("tests/browser/program.ts", join(place, "program.ts"));
  const check = (library, ...flags) =>
    run("node", [process.env.TSC, "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext", "--lib", library, ...flags], { cwd: place });
  await check("es2022,dom", "program.ts");
  await writeFile(join(place, "plain.ts"), 'import { load } from "fable-bandit";\nexport const ana = (await load()).catalog("agent").policy().user("ana");\n');
  await check("es2022", "plain.ts");
  const { stdout } = await run("node", ["program.js"], { cwd: place });
  assert.deepEqual(JSON.parse(stdout), ["warm", 2, "number", 1, 0, 1, true, "duplicate_feedback"]);
  await writeFile(join(place, "wrong.ts"), (await readFile(join(place, "program.ts"), "utf8")).replaceAll("// @ts-expect-error", "// without:"));
  const refused = await check("es2022,dom", "--noEmit", "wrong.ts").then(() => "", (error) => error.stdout);
  assert.equal(refused.match(/error TS/g)?.length, 5, refused);
});

test("the types have the members that the classes have", async () => {
  const types = await readFile(`${PACKAGE}/index.d.ts`, "utf8");
  const fable = await load();
  const policy = fable.catalog("agent").policy();
  const things = { Fable: fable, Catalog: policy.catalog, Policy: policy, User: policy.user("ana") };
  for (const [name, thing] of Object.entries(things)) {
    const body = types.match(new RegExp(`export class ${name} \\{\\n([^]*?)\\n\\}`))[1];
    const typed = [...body.matchAll(/^ {2}(?:readonly )?([a-z]\w*)[(:<]/gm)].map(([, member]) => member).filter((member) => member !== "constructor");
    const own = [...Object.keys(thing), ...Object.getOwnPropertyNames(Object.getPrototypeOf(thing))].filter((member) => member !== "constructor");
    assert.deepEqual([...new Set(typed)].sort(), own.sort(), name);
  }
  const exported = [...types.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, member]) => member).sort();
  for (const entry of ["node.js", "index.js"]) assert.deepEqual(Object.keys(await import(`../../${PACKAGE}/${entry}`)).sort(), exported);
});
