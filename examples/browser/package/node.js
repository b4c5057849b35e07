// Fable in node and its workers. The module is read from beside this file.

import { readFile } from "node:fs/promises";
import { FableError, instantiate } from "./fable.js";
import { compile } from "./module.js";

export { Catalog, Fable, Policy, User } from "./fable.js";
export { FableError };

let compiled;

/** As in index.js. */
export async function load(source) {
  if (source !== undefined) return instantiate(source);
  compiled ??= readFile(new URL("./fable.wasm", import.meta.url)).then(compile);
  return instantiate(await compiled);
}
