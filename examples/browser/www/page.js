// What a visitor sees and does. Everything about deciding and learning is in the module; this file only asks and shows.

import * as address from "./address.js";
import { actionGrid, beliefBars, contrastIntervals, share, signed as withSign, statedMark } from "./charts.js";
import { load } from "./people.js";
import { ROUNDS, element, showBets, showRace, showReactions } from "./race.js";

const VISITOR = 0;
const SIMULATED = 1;
/** Rounds a second that the speed can be set to; 0 is as fast as possible. */
const SPEEDS = [1, 3, 10, 30, 200, 0];
/** Of the 16 ms of a frame, those that rounds may take; the rest is for drawing. */
const FRAME = 5;
/** The slider's right end. */
const NEVER = 200;
const $ = (id) => document.getElementById(id);
const fable = await load("people.wasm.gz").catch((error) => {
  tell(`The module could not be loaded: ${error.message}`, true);
  throw error;
});
const words = fable.words();
const names = words.components.map(({ values }) => values);
const nobody = () => ({
  switches: 0,
  optimism: 1.5,
  allowed: null,
  asked: null,
  decided: null,
  waits: false,
  why: null,
  looked: null,
  said: words.sliders.map(() => null),
  moved: words.sliders.map(() => 0),
  rewards: [],
  races: [],
  /** Of each round the wealth of every contrast's bets, for the simulated user. */
  wealth: [],
  events: [],
  coin: null,
  first: 1,
  /** Whether the address can say how this came about. */
  told: true,
});
const people = [nobody(), nobody()];
let who = SIMULATED;
/** The rounds that are being played, if any. */
let playing = null;
/** What makes the simulated user: see address.js. */
let life = address.read(location.hash);
const person = () => people[who];

function tell(text, bad = false) {
  $("message").textContent = text;
  $("message").classList.toggle("bad", bad);
}

/** Runs what a control does; a refusal is told and changes nothing. */
function attempt(work) {
  try {
    work();
  } catch (error) {
    stop();
    tell(`Not done: ${error.message}.`, true);
    if (!(error instanceof Error)) throw error;
  }
}

const said = (action) => action.map((value, component) => names[component][value]).join(", ");
const valuesOf = (action) => {
  const [, tools, styles] = names.map((values) => values.length);
  return [Math.floor(action / (tools * styles)), Math.floor(action / styles) % tools, action % styles];
};
const signed = (value) => withSign(value, 2);
const contrastName = (contrast) => words.contrasts[contrast].name.replaceAll("_", " ");

// --- the round

function showContext() {
  const { asked } = person();
  if (!asked) return $("context").replaceChildren(element("dd", { className: "quiet wide", textContent: "No request yet." }));
  const rows = words.signals.flatMap((signal, index) => {
    const value = asked.signals[index];
    const meter = element("meter", { min: 0, max: 1, value });
    meter.setAttribute("aria-label", signal.replaceAll("_", " "));
    return [
      element("dt", { textContent: signal.replaceAll("_", " ") }),
      element("dd", {}, meter),
      element("dd", { className: "number", textContent: value.toFixed(1) }),
    ];
  });
  const task = element("dd", { className: "wide", textContent: asked.task?.replaceAll("_", " ") ?? "none of those it knows" });
  $("context").replaceChildren(element("dt", { textContent: "task" }), task, ...rows);
}

function showAllowed() {
  const { allowed, decided, looked } = person();
  $("count").textContent = allowed.count;
  const reasons = words.permissions
    .map((rule, index) => [rule, allowed.removedBy.filter((by) => by === index).length])
    .filter(([, count]) => count > 0);
  $("removed").textContent = reasons.length ? `Removed: ${reasons.map(([rule, count]) => `${count} by \u201c${rule}\u201d`).join(", ")}.` : "";
  actionGrid($("grid"), words.components, { removedBy: allowed.removedBy, chosen: decided?.action, looked, choose: look });
  const action = looked ?? decided?.action ?? 0;
  [...$("looked").querySelectorAll("select")].forEach((select, component) => (select.value = valuesOf(action)[component]));
  const by = allowed.removedBy[action];
  const fate = by === null ? "is allowed" : `was removed by \u201c${words.permissions[by]}\u201d`;
  $("fate").textContent = looked === null ? "" : `${said(valuesOf(looked))} ${fate}${decided?.action === looked ? " and was chosen" : ""}.`;
}

function showDecision() {
  const { decided, why, waits } = person();
  const reactable = who === VISITOR && waits;
  for (const control of $("react").querySelectorAll("button, input")) control.disabled = !reactable;
  $("step").textContent = people[SIMULATED].waits ? "Let them react" : "Next request";
  $("why").hidden = !why;
  $("why-none").hidden = Boolean(why);
  $("ways").textContent = decided?.feasible ?? person().allowed.count;
  if (!decided) return $("decision").replaceChildren(element("p", { className: "quiet", textContent: "Nothing yet." }));
  const chips = decided.values.map((value, component) =>
    element("li", {}, element("small", { textContent: words.components[component].name }), names[component][value].replaceAll("_", " ")),
  );
  const explored = probed(decided, why) ?? (decided.explored ? "Tried although something else looks better: it explores." : "Looks best at the moment.");
  $("decision").replaceChildren(
    element("ul", { className: "chips" }, ...chips),
    element("p", { className: "instruction", textContent: decided.instruction }),
    element("p", {
      className: "quiet",
      textContent: `Round ${decided.round}, one of ${decided.feasible}. Expected reward ${signed(decided.score)}, with the bonus for what is uncertain ${signed(decided.sampledScore)}. ${explored}`,
    }),
  );
  if (why) showWhy(why);
}

/** What coins have done to a decision, in words. */
function probed({ probes, turned }, why) {
  if (!probes.length) return null;
  const about = probes.map(({ contrast }) => contrastName(contrast)).join(" and ");
  return (why?.turned ?? turned)
    ? `Trying it the other way, to be sure: a coin was tossed for ${about}.`
    : `A coin was tossed for ${about}, to be sure; it fell for what looks best.`;
}

/** The difference of two scores, its largest parts first. */
function showWhy({ turned, otherValues, removedBy, scores, shares }) {
  const { decided, looked } = person();
  const same = otherValues.every((value, component) => value === decided.values[component]);
  const other = said(otherValues.filter((value, component) => value !== decided.values[component]).length ? otherValues : decided.values);
  $("why-title").textContent = looked !== null ? "Why this, and not the action you look at" : turned ? "A coin plays this, and not what looks best" : "Why this, and not the runner-up";
  const margin = `${signed(scores[0])} with the bonus for what is uncertain, against ${signed(scores[1])} for ${other}`;
  const removed = removedBy === null ? "" : ` It was never compared: \u201c${words.permissions[removedBy]}\u201d removed it.`;
  $("runner-up").hidden = looked === null || !person().waits;
  const parts = shares
    .map(({ chosenWords, otherWords, chosen, other }) => ({ words: phrase(chosenWords, otherWords), gain: chosen - other }))
    .filter(({ gain }) => Math.abs(gain) >= 0.005)
    .sort((one, other) => Math.abs(other.gain) - Math.abs(one.gain));
  const total = scores[0] - scores[1];
  const alike = parts.length || removed ? "" : total === 0 ? " They are alike, and it comes first." : " They are almost alike.";
  $("why-words").textContent = same ? "Nothing else is allowed." : `${margin}.${removed}${alike}`;
  const most = Math.max(0.1, ...parts.map(({ gain }) => Math.abs(gain)), Math.abs(total));
  const rows = parts.map(({ words, gain }) =>
    element("tr", {}, element("td", { textContent: words }), element("td", {}, share(gain, most)), element("td", { className: "number", textContent: signed(gain) })),
  );
  const sum = element(
    "tr",
    {},
    element("td", {}, element("strong", { textContent: "together" })),
    element("td", {}, share(total, most)),
    element("td", { className: "number", textContent: signed(total) }),
  );
  $("shares").replaceChildren(...(same ? [] : [...rows, sum]));
}

function phrase(chosen, other) {
  if (chosen === other) return chosen;
  if (!chosen || !other) return (chosen || other).replaceAll("_", " ");
  return `${chosen} against ${other}`.replaceAll("_", " ");
}

function decide() {
  const now = person();
  now.decided = fable.decide(who);
  now.waits = true;
  now.looked = null;
  now.why = fable.explain(who);
  now.decided.turned = now.why.turned;
}

function look(action) {
  attempt(() => {
    const now = person();
    now.looked = action;
    if (now.waits) now.why = fable.explain(who, action);
    showAllowed();
    showDecision();
  });
}

function react(reward) {
  attempt(() => {
    const now = person();
    const learned = fable.react(VISITOR, reward);
    const { promoted, changed } = learned;
    now.waits = false;
    now.rewards.push(reward);
    note(now.decided.round, learned);
    now.coin = probed(now.decided, now.why);
    tell(`Learned: ${signed(reward)}.${promoted ? ` ${promoted} preference promoted.` : ""}${changed ? CHANGED : ""}`);
    showAll();
    $("text").focus();
    $("text").select();
  });
}

// --- what was learned

function showCurve() {
  if (who === SIMULATED) showRace(person(), life);
  else showReactions(person());
}
const showCoins = () => showBets(person(), who === SIMULATED ? life : null, words.contrasts.map((_, index) => contrastName(index)));

/** Notes what a reward has done to the bets. */
function note(round, { promoted, changed }) {
  const now = person();
  const before = now.wealth.at(-1);
  const wealth = fable.wealth(who);
  now.wealth.push(wealth);
  if (changed) now.events.push({ round, kind: "noticed", words: "Fable notices that what used to please does not any more." });
  if (!promoted) return;
  wealth.forEach(({ certified }, contrast) => {
    if (!certified || certified === (before?.[contrast].certified ?? 0)) return;
    const { positive, negative } = words.contrasts[contrast];
    now.events.push({ round, kind: "certified", contrast, words: `certain by coins. ${certified > 0 ? positive : negative}` });
  });
}

function showBeliefs() {
  const now = person();
  const beliefs = fable.beliefs(who, $("where").value === "1");
  beliefBars($("beliefs"), words.components, beliefs.values);
  contrastIntervals($("contrasts"), words.contrasts, beliefs.contrasts);
  $("profile").textContent = beliefs.profile;
  [...$("sliders").children].forEach((slider, index) => statedMark(slider.querySelector(".mark"), now.said[index], beliefs.sliders[index]));
  const known = who === SIMULATED ? life.user : 0;
  const exploration = now.optimism === 1.5 ? "" : ` --optimism ${now.optimism}`;
  const prior = who === SIMULATED && life.team ? " --prior fable.prior" : "";
  $("prior").hidden = !prior;
  $("command").textContent = `fable replay --snapshot fable-start.snapshot --journal fable.journal --seed ${known} --probe 0.5${exploration}${prior}`;
}

/** Cards on the screen or close to it. While rounds are played only those are drawn, so that a frame stays one; the others when it stops. */
const near = new Set();
const watching = new IntersectionObserver((seen) => seen.forEach(({ target, isIntersecting }) => near[isIntersecting ? "add" : "delete"](target)), { rootMargin: "100px" });
document.querySelectorAll("main .card").forEach((card) => watching.observe(card));
const drawn = (id) => !playing || near.has($(id).closest(".card"));

function showAll() {
  document.body.className = who === VISITOR ? "is-visitor" : "is-simulated";
  if (drawn("context")) showContext();
  if (drawn("grid")) showAllowed();
  showDecision();
  if (drawn("curve")) showCurve();
  if (drawn("coins")) showCoins();
  if (drawn("beliefs") || $("all-contrasts").open) showBeliefs();
}

// --- the simulated user

/** What is told when a change is noticed. */
const CHANGED = " This user seems to have changed: what used to please does not any more.";

function stop() {
  if (playing) cancelAnimationFrame(playing.frame);
  playing = null;
  $("play").textContent = people[SIMULATED].races.length ? `Play ${ROUNDS} more` : "Play";
  if (who === SIMULATED) tellAddress();
}

/** Stops, and shows what was not drawn on the way. */
function pause() {
  stop();
  showAll();
}

function request() {
  const now = people[SIMULATED];
  now.asked = fable.ask();
  $("asked").textContent = now.asked.text;
  decide();
  const coin = probed(now.decided, now.why);
  if (coin) now.coin = `Round ${now.decided.round}: ${coin}`;
}

function respond() {
  const now = people[SIMULATED];
  const responded = fable.respond();
  now.waits = false;
  now.races.push(responded.race);
  note(now.decided.round, responded);
  const { reward, said, changed } = responded;
  const number = element("strong", { className: reward < 0 ? "low" : "high", textContent: signed(reward) });
  $("reaction").replaceChildren(`\u201c${said}\u201d `, number, changed ? CHANGED : "");
}

/** Plays rounds until there is no more time in this frame, and says how many. */
function play(rounds) {
  const start = performance.now();
  let played = 0;
  do {
    if (!people[SIMULATED].waits) request();
    respond();
    played += 1;
  } while (played < rounds && performance.now() - start < FRAME);
  return played;
}

function tick(time) {
  attempt(() => {
    const speed = playing.fast ? 0 : SPEEDS[$("speed").value];
    playing.due += speed ? ((time - playing.time) / 1000) * speed : ROUNDS;
    playing.time = time;
    const rounds = Math.min(Math.floor(playing.due), playing.left);
    if (rounds > 0) {
      const played = play(rounds);
      playing.due = Math.min(playing.due - played, speed); // what a slow machine cannot do is not made up for
      playing.left -= played;
      showAll();
    }
    if (playing.left > 0) playing.frame = requestAnimationFrame(tick);
    else {
      pause();
      tell("");
    }
  });
}

/** Plays rounds, at the speed that is set or as fast as possible. */
function start(rounds, fast = false) {
  stop();
  if (!rounds) return;
  playing = { left: rounds, due: 1, time: performance.now(), fast };
  playing.frame = requestAnimationFrame(tick);
  $("play").textContent = "Pause";
}

/** Meets the simulated user that the settings name, of whom nothing is known. */
function meet() {
  stop();
  const { user: seed, mind, team, optimism, change: onChange } = life;
  fable.meet({ seed, mind, team, optimism, onChange });
  people[SIMULATED] = { ...nobody(), switches: life.rules, allowed: fable.permit(SIMULATED, life.rules), optimism };
  $("asked").textContent = "...";
  for (const slider of $("sliders").querySelectorAll("input")) slider.value = 0;
  started();
  showSettings();
}

/** The controls as the simulated user's settings are. */
function showSettings() {
  $("seed").value = life.user;
  $("mind").value = life.mind ?? NEVER;
  $("mind-words").value = life.mind === null ? "never" : `in round ${life.mind}`;
  $("mind").setAttribute("aria-valuetext", $("mind-words").value);
  $("team").checked = life.team;
  $("on-change").value = life.change;
}

/** Brings the address up to date; null if it cannot say what has happened here. */
function tellAddress() {
  const now = people[SIMULATED];
  const hash = now.told && !now.waits ? address.written({ ...life, rounds: now.races.length }) : null;
  history.replaceState(null, "", hash ?? location.pathname);
  return hash;
}

function started() {
  const now = people[who];
  Object.assign(now, { decided: null, waits: false, why: null, looked: null, rewards: [], races: [], wealth: [], events: [], coin: null });
  now.first = fable.beliefs(who, false).rounds + 1;
  if (who === SIMULATED) $("reaction").textContent = "Nothing yet.";
}

// --- controls

function download(bytes, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([bytes])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

$("who").addEventListener("change", async ({ target }) => {
  stop();
  who = Number(target.value);
  if (who === VISITOR) history.replaceState(null, "", location.pathname);
  else tellAddress();
  tell("");
  for (const [index, box] of [...$("permissions").querySelectorAll("input")].entries()) box.checked = (person().switches >> index) & 1;
  for (const [index, slider] of [...$("sliders").querySelectorAll("input")].entries()) slider.value = person().moved[index];
  $("optimism").value = person().optimism;
  showAll();
  if (who === VISITOR && !literate) await learnToRead();
});

/** What reads requests is fetched for those who write one. */
let literate = false;
async function learnToRead() {
  try {
    await fable.learnToRead();
    literate = true;
    $("text").dispatchEvent(new Event("input"));
    $("decide").disabled = false;
  } catch (error) {
    tell(`What reads requests could not be loaded: ${error.message}`, true);
  }
}

$("text").addEventListener("input", () => attempt(() => {
  if (!literate) return;
  people[VISITOR].asked = $("text").value.trim() ? fable.read(VISITOR, $("text").value) : null;
  showContext();
  if ($("where").value === "1") showBeliefs();
}));
$("examples").addEventListener("change", () => {
  if (!$("examples").value) return;
  $("text").value = $("examples").value;
  $("text").dispatchEvent(new Event("input"));
});
$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => {
    person().asked = fable.read(VISITOR, $("text").value);
    decide();
    tell("");
    showAll();
    $("reward").focus({ preventScroll: true });
  });
});

for (const button of $("react").querySelectorAll(".faces button")) button.addEventListener("click", () => react(Number(button.value)));
$("reward").addEventListener("input", () => ($("reward-words").value = signed(Number($("reward").value))));
$("react").addEventListener("submit", (event) => {
  event.preventDefault();
  if (person().waits) react(Number($("reward").value));
});

$("runner-up").addEventListener("click", () => attempt(() => {
  person().looked = null;
  person().why = fable.explain(who);
  showAllowed();
  showDecision();
}));
$("where").addEventListener("change", showBeliefs);
$("optimism").addEventListener("change", () => attempt(() => {
  fable.explore(who, Number($("optimism").value));
  person().optimism = Number($("optimism").value);
  if (who === SIMULATED) {
    life.optimism = person().optimism;
    settled();
  }
  showBeliefs();
}));

$("step").addEventListener("click", () => attempt(() => {
  stop();
  if (person().waits) respond();
  else request();
  showAll();
}));
$("play").addEventListener("click", () => (playing ? pause() : start(ROUNDS)));
$("speed").addEventListener("input", showSpeed);
function showSpeed() {
  const speed = SPEEDS[$("speed").value];
  $("speed-words").value = speed ? `${speed} a second` : "as fast as it can";
  $("speed").setAttribute("aria-valuetext", $("speed-words").value);
}
/** After a setting of the simulated user was changed in the middle of a life: the address cannot say that. */
function settled() {
  if (people[SIMULATED].first + people[SIMULATED].races.length > 1) people[SIMULATED].told = false;
  tellAddress();
}
$("meet").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => {
    const next = Number($("seed").value);
    life.user = next === life.user ? (next + 1) % 2 ** 32 : next;
    meet();
    tell(`Nothing is known about person ${life.user}.`);
    showAll();
  });
});
/** Begins the same person's life anew under other settings, and plays it if rounds were played before. */
function again() {
  attempt(() => {
    const played = people[SIMULATED].races.length;
    meet();
    showAll();
    if (played) start(ROUNDS);
  });
}
$("mind").addEventListener("input", () => {
  const round = Number($("mind").value);
  const before = life.mind ?? Infinity;
  life.mind = round === NEVER ? null : round;
  const played = people[SIMULATED].first + people[SIMULATED].races.length - 1;
  const asked = played + (people[SIMULATED].waits ? 1 : 0);
  if (Math.min(before, life.mind ?? Infinity) <= asked) return again();
  fable.turn(life.mind);
  showSettings();
  showCurve();
  showCoins();
  if (!playing) tellAddress();
});
$("team").addEventListener("change", () => {
  life.team = $("team").checked;
  again();
});
$("on-change").addEventListener("change", () => {
  life.change = $("on-change").value;
  again();
});
$("share").addEventListener("click", async () => {
  pause();
  if (!tellAddress()) {
    $("shared").textContent = "What was loaded, stated, waits or changed on the way is not in an address; save it to a file.";
    return;
  }
  try {
    await navigator.clipboard.writeText(location.href);
    $("shared").textContent = "Copied: whoever opens it sees this very round.";
  } catch {
    $("shared").textContent = `Copy it from here: ${location.href}`;
  }
});
addEventListener("hashchange", () => location.reload());

$("stated").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => {
    const now = person();
    let told = 0;
    now.moved.forEach((value, index) => {
      if (value === (now.said[index] ?? 0)) return;
      fable.state(who, index, value);
      now.said[index] = value;
      now.told = false;
      told += 1;
    });
    $("told").textContent = told ? `${told} taken as evidence.` : "Move a slider first.";
    showBeliefs();
  });
});

$("save").addEventListener("click", () => attempt(() => {
  const { rounds } = fable.beliefs(who, false);
  download(fable.save(who), `fable-${who === VISITOR ? "you" : `user-${life.user}`}-${rounds}.snapshot`);
  tell(`Saved after ${rounds} rounds.`);
}));
$("load").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  const file = $("file").files[0];
  $("file").value = "";
  if (!file) return;
  const bytes = new Uint8Array(await file.arrayBuffer());
  attempt(() => {
    stop();
    fable.load(who, bytes);
    person().said.fill(null);
    person().told = false;
    started();
    tell(`Loaded ${file.name}: ${person().first - 1} rounds.`);
    showAll();
  });
});
$("forget").addEventListener("click", () => $("sure").showModal());
$("sure").addEventListener("close", () => {
  if ($("sure").returnValue !== "yes") return;
  attempt(() => {
    stop();
    fable.forget(who);
    person().told = false;
    person().said.fill(null);
    person().moved.fill(0);
    for (const slider of $("sliders").querySelectorAll("input")) slider.value = 0;
    started();
    tell("Forgotten.");
    showAll();
  });
});
$("tape-start").addEventListener("click", () => attempt(() => download(fable.tapeStart(who), "fable-start.snapshot")));
$("journal").addEventListener("click", () => attempt(() => download(fable.journal(who), "fable.journal")));
$("prior").addEventListener("click", () => attempt(() => download(fable.prior(), "fable.prior")));

// --- the beginning

words.permissions.forEach((rule, index) => {
  const box = element("input", { type: "checkbox", id: `permission-${index}` });
  box.addEventListener("change", () => attempt(() => {
    const now = person();
    const switches = now.switches ^ (1 << index);
    now.allowed = fable.permit(who, switches);
    now.switches = switches;
    if (who === SIMULATED) {
      life.rules = switches;
      settled();
    }
    showAllowed();
    $("ways").textContent = now.allowed.count;
  }));
  $("permissions").append(element("label", {}, box, element("span", { className: `swatch r${index}` }), rule));
});
words.components.forEach((component, index) => {
  const options = component.values.map((value, position) => element("option", { value: position, textContent: value.replaceAll("_", " ") }));
  const select = element("select", { id: `looked-${index}` }, ...options);
  select.addEventListener("change", () => {
    const [memory, tool, style] = [...$("looked").querySelectorAll("select")].map(({ value }) => Number(value));
    look((memory * names[1].length + tool) * names[2].length + style);
  });
  $("looked").append(element("label", { htmlFor: select.id }, element("span", { className: "quiet", textContent: component.name }), select));
});
words.sliders.forEach(([left, right], index) => {
  const slider = element("input", { type: "range", min: -1, max: 1, step: 0.1, value: 0 });
  slider.setAttribute("aria-label", `${left} or ${right}`);
  slider.addEventListener("input", () => (person().moved[index] = Number(slider.value)));
  $("sliders").append(
    element("div", { className: "slider" },
      element("span", { textContent: left }),
      element("span", { className: "right", textContent: right }),
      slider,
      element("div", { className: "mark" })),
  );
});
$("examples").append(...words.requests.map((text) => element("option", { value: text, textContent: text })));

people[VISITOR].allowed = fable.permit(VISITOR, 0);
$("text").value = "What's the weather in Oslo today?";
$("decide").disabled = true;
if (life.odd.length) tell(`The address has something that this page does not know: ${life.odd.join(", ")}.`, true);
const rounds = life.rounds;
meet();
for (const [index, box] of [...$("permissions").querySelectorAll("input")].entries()) box.checked = (life.rules >> index) & 1;
$("optimism").value = life.optimism;
showSpeed();
document.querySelector("main").hidden = false;
showAll();
// Who comes without an address sees it learn; who has one sees the round that it names.
if (rounds !== null) start(rounds, true);
else if (!matchMedia("(prefers-reduced-motion: reduce)").matches) start(ROUNDS);
// Charts are drawn for the width they have.
let wide = document.body.clientWidth;
addEventListener("resize", () => {
  if (document.body.clientWidth === wide) return;
  wide = document.body.clientWidth;
  showAll();
});
