// The module's calls as functions. What they answer is described in src/answer.rs and read here in the same order.

/** Reads postcard: numbers without a sign as varints, floats in little-endian order, texts and lists after their length. */
class Reader {
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
  flag = () => this.byte() === 1;
  sign = () => (this.byte() << 24) >> 24;
  single = () => this.view.getFloat32((this.at += 4) - 4, true);
  double = () => this.view.getFloat64((this.at += 8) - 8, true);
  text = () => {
    const length = this.count();
    return new TextDecoder().decode(this.bytes.subarray(this.at, (this.at += length)));
  };
  several = (length, read) => Array.from({ length }, read);
  list = (read) => this.several(this.count(), read);
  maybe = (read) => (this.flag() ? read() : null);
}

const words = (r) => ({
  components: r.list(() => ({ name: r.text(), values: r.list(r.text) })),
  signals: r.list(r.text),
  permissions: r.several(4, r.text),
  sliders: r.list(() => r.several(2, r.text)),
  requests: r.list(r.text),
  contrasts: r.list(() => ({ name: r.text(), positive: r.text(), negative: r.text() })),
});
const asked = (r) => ({ text: r.text(), task: r.maybe(r.text), signals: r.list(r.single) });
const allowed = (r) => ({ count: r.count(), removedBy: r.list(() => r.maybe(r.count)) });
const decided = (r) => ({
  round: r.count(),
  action: r.count(),
  values: r.list(r.byte),
  instruction: r.text(),
  score: r.double(),
  sampledScore: r.double(),
  explored: r.flag(),
  feasible: r.count(),
  probes: r.list(() => ({ contrast: r.byte(), preferred: r.flag() })),
});
const why = (r) => ({
  turned: r.flag(),
  other: r.count(),
  otherValues: r.list(r.byte),
  removedBy: r.maybe(r.count),
  scores: r.several(2, r.double),
  explored: r.flag(),
  shares: r.list(() => ({ chosenWords: r.text(), otherWords: r.text(), chosen: r.double(), other: r.double() })),
});
const race = (r) => ({ fable: r.double(), flat: r.double(), rules: r.double(), best: r.double() });
const reacted = (r) => ({
  reward: r.double(),
  said: r.maybe(r.text),
  promoted: r.count(),
  changed: r.flag(),
  race: r.maybe(() => race(r)),
});
const belief = (r) => ({ mean: r.double(), sd: r.double(), truth: r.maybe(r.double) });
const contrast = (r) => ({
  mean: r.double(),
  sd: r.double(),
  lower: r.double(),
  upper: r.double(),
  probability: r.double(),
  evidence: r.count(),
  missing: r.maybe(r.count),
  promoted: r.sign(),
  since: r.count(),
  byCoins: r.flag(),
  holds: r.flag(),
  trials: r.count(),
  eValue: r.double(),
  needed: r.double(),
  average: r.several(3, r.double),
  certified: r.sign(),
  truth: r.maybe(r.double),
});
const beliefs = (r) => ({
  rounds: r.count(),
  observations: r.count(),
  incarnation: r.count(),
  values: r.list(() => r.list(() => belief(r))),
  sliders: r.list(() => belief(r)),
  contrasts: r.list(() => contrast(r)),
  profile: r.text(),
});
const nothing = () => undefined;
const bytes = (r) => r.bytes.slice();

/** Why the module refused; nothing has changed. */
export class Refused extends Error {}

/** The module is kept compressed, for servers that do not do it themselves; those that do have unpacked it already. */
async function unpacked(file) {
  const [first, second] = new Uint8Array(file);
  if (first !== 0x1f || second !== 0x8b) return file;
  return new Response(new Blob([file]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Loads the module. `who` is 0 for the visitor and 1 for the simulated user. */
export async function load(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  const { instance } = await WebAssembly.instantiate(await unpacked(await response.arrayBuffer()), {});
  const module = instance.exports;

  const call = (name, read, ...numbers) => {
    const length = module[name](...numbers);
    if (length === -(2 ** 31)) throw new Error("the module has stopped; please load the page again");
    const answer = new Uint8Array(module.memory.buffer, module.address(), length < 0 ? -length - 1 : length);
    if (length < 0) throw new Refused(new TextDecoder().decode(answer));
    return read(new Reader(answer));
  };
  const give = (bytes) => {
    const at = module.room(bytes.length); // the memory may grow here
    new Uint8Array(module.memory.buffer, at, bytes.length).set(bytes);
  };
  return {
    words: () => call("words", words),
    meet: (seed) => call("meet", nothing, seed),
    read: (who, text) => (give(new TextEncoder().encode(text)), call("read", asked, who)),
    ask: () => call("ask", asked),
    permit: (who, switches) => call("permit", allowed, who, switches),
    decide: (who) => call("decide", decided, who),
    explain: (who, other = -1) => call("explain", why, who, other),
    react: (who, reward) => call("react", reacted, who, reward),
    respond: () => call("respond", reacted),
    play: (rounds) => call("play", (r) => r.list(() => race(r)), rounds),
    state: (who, slider, response) => call("state", nothing, who, slider, response),
    beliefs: (who, here) => call("beliefs", beliefs, who, here ? 1 : 0),
    explore: (who, optimism) => call("explore", nothing, who, optimism),
    forget: (who) => call("forget", nothing, who),
    save: (who) => call("save", bytes, who),
    load: (who, file) => (give(file), call("load", nothing, who)),
    tapeStart: (who) => call("tape_start", bytes, who),
    journal: (who) => call("journal", bytes, who),
  };
}
