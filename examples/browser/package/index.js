// Fable in browsers and their workers. The module is fetched from beside this file.

import { FableError, instantiate } from "./fable.js";
import { compile } from "./module.js";

export { Catalog, Fable, Policy, User } from "./fable.js";
export { FableError };

let compiled;

/**
 * Loads the module, or another one: its address, its bytes, a response, or what `compiled` of another instance is. Each call gives
 * an instance with a memory of its own; the package's module is fetched and compiled once.
 */
export async function load(source) {
  if (source !== undefined) return instantiate(source);
  compiled ??= compile(new URL("./fable.wasm", import.meta.url));
  try {
    return await instantiate(await compiled);
  } catch (error) {
    compiled = undefined; // the network may come back
    throw error;
  }
}
