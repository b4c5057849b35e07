// The border to the WebAssembly module: loads it, writes what is asked, reads what is answered.
//
// Both ways it is postcard: numbers without a sign as varints, floats in little-endian order, texts and lists after their
// length. The Rust side is src/module.rs.

/** Why something was not done. `code` is one of the codes of `fable serve`; whatever it is, nothing has changed. */
export class FableError extends Error {
  constructor(code, message, options) {
    super(message, options);
    this.name = "FableError";
    this.code = code;
  }
}

export const refuse = (code, message) => {
  throw new FableError(code, message);
};

const MOST = 2 ** 32 - 1;

/** Writes postcard. A value of the wrong type is refused before anything is called. */
export class Writer {
  #bytes = [];
  #scratch = new DataView(new ArrayBuffer(8));

  get bytes() {
    return Uint8Array.from(this.#bytes);
  }

  byte(value) {
    this.#bytes.push(value);
    return this;
  }
  flag(value) {
    return this.byte(value ? 1 : 0);
  }
  /** A whole number from 0; more than 2^53 as a bigint. */
  count(value) {
    let rest = BigInt(value);
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes.push(Number(rest & 0x7fn) | 0x80);
    return this.byte(Number(rest));
  }
  /** A whole number that a caller has given. */
  whole(name, value, most = MOST) {
    const big = typeof value === "bigint";
    if (!big && typeof value !== "number") refuse("bad_request", `${name} must be a whole number`);
    if (big ? value < 0n || value > BigInt(most) : !Number.isSafeInteger(value) || value < 0 || value > Number(most)) {
      refuse("out_of_range", `${name} must be a whole number from 0 to ${most}`);
    }
    return this.count(value);
  }
  /** A number that a caller has given; whether it is in range is for the learner to say. */
  number(name, value) {
    if (typeof value !== "number") refuse("bad_request", `${name} must be a number`);
    this.#scratch.setFloat64(0, value, true);
    return this.#scratched(8);
  }
  /** The same in single precision. */
  single(name, value) {
    if (typeof value !== "number") refuse("bad_request", `${name} must be a number`);
    this.#scratch.setFloat32(0, value, true);
    return this.#scratched(4);
  }
  #scratched(length) {
    for (let at = 0; at < length; at++) this.#bytes.push(this.#scratch.getUint8(at));
    return this;
  }
  text(name, value) {
    if (typeof value !== "string") refuse("bad_request", `${name} must be a text`);
    return this.list(new TextEncoder().encode(value), (byte) => this.byte(byte));
  }
  list(items, write) {
    this.count(items.length);
    for (const item of items) write(item);
    return this;
  }
  maybe(value, write) {
    this.flag(value !== undefined && value !== null);
    if (value !== undefined && value !== null) write(value);
    return this;
  }
  /** What another writer has written. */
  raw(bytes) {
    for (const byte of bytes) this.#bytes.push(byte);
    return this;
  }
}

const TEXT = new TextDecoder();

/** Reads postcard. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = 0;
  }
  byte = () => this.bytes[this.at++];
  count = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  big = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  flag = () => this.byte() === 1;
  sign = () => (this.byte() << 24) >> 24;
  single = () => this.view.getFloat32((this.at += 4) - 4, true);
  double = () => this.view.getFloat64((this.at += 8) - 8, true);
  text = () => {
    const length = this.count();
    return TEXT.decode(this.bytes.subarray(this.at, (this.at += length)));
  };
  several = (length, read) => Array.from({ length }, read);
  list = (read) => this.several(this.count(), read);
  maybe = (read) => (this.flag() ? read() : null);
}

/** Readers of answers that are nothing, and of answers that are bytes. */
export const nothing = () => undefined;
export const bytes = (reader) => reader.bytes.slice();

/** One instance of the module, with a memory of its own. */
export class Module {
  #exports;
  /** What ended it, once something has. */
  #end = null;

  constructor(instance) {
    this.#exports = instance.exports;
  }

  get stopped() {
    return this.#end !== null;
  }

  /**
   * Calls an export with numbers and, if something is to be written, bytes; reads the answer. A refusal is thrown and has changed
   * nothing. A trap is thrown too, as `internal`, and ends this instance; other instances go on.
   */
  call(name, read, numbers = [], asked = null) {
    if (this.#end) throw new FableError("internal", `the module has stopped: ${this.#end.message}`, { cause: this.#end });
    if (typeof this.#exports[name] !== "function") throw new FableError("unknown_op", `this module was made without ${name}`);
    let length, answer;
    try {
      this.#give(asked ?? new Uint8Array());
      length = this.#exports[name](...numbers);
      if (length === -(2 ** 31)) throw new Error("an earlier call was cut short");
      const at = this.#exports.fable_address();
      answer = new Uint8Array(this.#exports.memory.buffer, at, length < 0 ? -length - 1 : length);
    } catch (error) {
      this.#end = error;
      throw new FableError("internal", `the module has stopped: ${error.message}`, { cause: error });
    }
    if (length >= 0) return read(new Reader(answer));
    const refusal = new Reader(answer);
    throw new FableError(refusal.text(), refusal.text());
  }

  #give(asked) {
    const at = this.#exports.fable_room(asked.length); // the memory may grow here
    new Uint8Array(this.#exports.memory.buffer, at, asked.length).set(asked);
  }
}

/** The module may be kept compressed, for servers that do not do it themselves; those that do have unpacked it already. */
async function unpacked(file) {
  const [first, second] = ArrayBuffer.isView(file) ? new Uint8Array(file.buffer, file.byteOffset, file.byteLength) : new Uint8Array(file);
  if (first !== 0x1f || second !== 0x8b) return file;
  return new Response(new Blob([file]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Compiles what a fetch has brought, while it comes if the server says what it is. */
export async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === "string" || source instanceof URL) source = await fetch(source);
  if (typeof Response !== "undefined" && source instanceof Response) {
    if (!source.ok) throw new Error(`${source.url}: ${source.status} ${source.statusText}`);
    if (source.headers.get("content-type")?.split(";")[0] === "application/wasm") return WebAssembly.compileStreaming(source);
    source = await source.arrayBuffer();
  }
  return WebAssembly.compile(await unpacked(source));
}
