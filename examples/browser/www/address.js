// The simulated user's life in the address: who it is, under which settings, and how many rounds. Everything else follows from that, bit
// for bit, so the address is a recipe and has nothing of a person in it. A visitor's own life is never in it.

const MOST_ROUNDS = 2000;
const OPTIMISM = [0.5, 1.5, 5];
const ON_CHANGE = ["reset", "halve", "tell"];
const DEFAULTS = { user: 13, rounds: null, mind: null, team: false, optimism: 1.5, change: "reset", rules: 0 };

const whole = (text, least, most) => (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined);
const one = (values) => (text) => values.find((value) => String(value) === text);
/** What each part may be; anything else is left out. */
const PARTS = {
  user: (text) => whole(text, 0, 2 ** 32 - 1),
  rounds: (text) => whole(text, 0, MOST_ROUNDS),
  mind: (text) => whole(text, 1, MOST_ROUNDS),
  team: (text) => (text === "yes" ? true : undefined),
  optimism: one(OPTIMISM),
  change: one(ON_CHANGE),
  rules: (text) => whole(text, 0, 15),
};

/** What an address says; `odd` names the parts that say nothing. */
export function read(hash) {
  const said = { ...DEFAULTS, odd: [] };
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const value = PARTS[name]?.(text);
    if (value === undefined) said.odd.push(name);
    else said[name] = value;
  }
  return said;
}

/** The address of a life; null if it has too many rounds for one. */
export function written(life) {
  if (life.rounds > MOST_ROUNDS) return null;
  const parts = Object.keys(PARTS).filter((name) => life[name] !== DEFAULTS[name] || name === "user");
  return `#${new URLSearchParams(parts.map((name) => [name, life[name] === true ? "yes" : String(life[name])]))}`;
}
