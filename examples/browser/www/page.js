// What a visitor sees and does. Everything about deciding and learning is in the module; this file only asks and shows.

import { actionGrid, beliefBars, contrastIntervals, curves, share, signed as withSign, statedMark } from "./charts.js";
import { load } from "./people.js";

const VISITOR = 0;
const SIMULATED = 1;
/** Rounds a mean of the curves is taken over, and rounds that Play plays. */
const WINDOW = 20;
const ROUNDS = 200;
/** Rounds a second that the speed can be set to; 0 is as fast as possible. */
const SPEEDS = [1, 3, 10, 50, 200, 0];
const LEARNERS = [
  { kind: "fable", name: "Fable" },
  { kind: "flat", name: "flat, a weight per action" },
  { kind: "rules", name: "rules only" },
  { kind: "best", name: "one who knows" },
];

const $ = (id) => document.getElementById(id);
const fable = await load("fable.wasm.gz").catch((error) => {
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
  first: 1,
});
const people = [nobody(), nobody()];
let who = VISITOR;
let seed = 7;
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

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
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
    const { promoted, changed } = fable.react(VISITOR, reward);
    now.waits = false;
    now.rewards.push(reward);
    tell(`Learned: ${signed(reward)}.${promoted ? ` ${promoted} preference promoted.` : ""}${changed ? CHANGED : ""}`);
    showAll();
    $("text").focus();
    $("text").select();
  });
}

// --- what was learned

function means(values) {
  let sum = 0;
  return values.map((value, index) => {
    sum += value - (index >= WINDOW ? values[index - WINDOW] : 0);
    return sum / Math.min(index + 1, WINDOW);
  });
}

function showCurve() {
  const now = person();
  const simulated = who === SIMULATED;
  const count = simulated ? now.races.length : now.rewards.length;
  const points = (values) => means(values).map((value, index) => [now.first + index, value]);
  const lines = simulated
    ? LEARNERS.map(({ kind, name }) => ({ kind, name, points: points(now.races.map((race) => race[kind])) }))
    : [{ kind: "fable", name: "mean of your rewards", points: points(now.rewards) }];
  const dots = simulated ? [] : now.rewards.map((reward, index) => [now.first + index, reward]);
  const last = Math.max(now.first + (simulated ? ROUNDS : WINDOW) - 1, now.first + count - 1);
  const title = `mean reward, last ${WINDOW} rounds`;
  curves($("curve"), { first: now.first, last, lines, dots, title });
  $("curve-words").textContent = simulated
    ? count
      ? `After ${count} rounds here: ${LEARNERS.map(({ kind, name }, index) => `${name.split(",")[0]} ${lines[index].points.at(-1)[1].toFixed(2)}`).join(", ")}.`
      : "The four play the same requests with the same moods."
    : count
      ? `${count} ${count === 1 ? "reaction" : "reactions"}; dots are single ones, the line is their mean.`
      : "Every reaction becomes a dot.";
  const legend = simulated ? LEARNERS : [];
  $("legend").replaceChildren(
    ...legend.map(({ kind, name }) => {
      const entry = element("span", {});
      entry.innerHTML = `<svg viewBox="0 0 26 10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" class="${kind}"/></svg>`;
      entry.append(name);
      return entry;
    }),
  );
}

function showBeliefs() {
  const now = person();
  const beliefs = fable.beliefs(who, $("where").value === "1");
  beliefBars($("beliefs"), words.components, beliefs.values);
  contrastIntervals($("contrasts"), words.contrasts, beliefs.contrasts);
  $("profile").textContent = beliefs.profile;
  [...$("sliders").children].forEach((slider, index) => statedMark(slider.querySelector(".mark"), now.said[index], beliefs.sliders[index]));
  const known = who === SIMULATED ? seed : 0;
  const exploration = now.optimism === 1.5 ? "" : ` --optimism ${now.optimism}`;
  $("command").textContent = `fable replay --snapshot fable-start.snapshot --journal fable.journal --seed ${known} --probe 0.5${exploration}`;
}

function showAll() {
  document.body.className = who === VISITOR ? "is-visitor" : "is-simulated";
  showContext();
  showAllowed();
  showDecision();
  showCurve();
  showBeliefs();
}

// --- the simulated user

/** What is told when a change is noticed. */
const CHANGED = " This user seems to have changed: what used to please does not any more.";
let playing = null;

function stop() {
  if (playing) cancelAnimationFrame(playing.frame);
  playing = null;
  $("play").textContent = `Play ${ROUNDS} rounds`;
}

function request() {
  const now = people[SIMULATED];
  now.asked = fable.ask();
  $("asked").textContent = now.asked.text;
  decide();
}

function respond() {
  const now = people[SIMULATED];
  const { reward, said, changed, race } = fable.respond();
  now.waits = false;
  now.races.push(race);
  $("reaction").textContent = `\u201c${said}\u201d ${signed(reward)}${changed ? CHANGED : ""}`;
}

/** Plays so many rounds; the last one is shown. */
function play(rounds) {
  if (people[SIMULATED].waits) {
    respond();
    rounds -= 1;
  }
  if (rounds <= 0) return;
  people[SIMULATED].races.push(...fable.play(rounds - 1));
  request();
  respond();
}

function tick(time) {
  attempt(() => {
    const speed = SPEEDS[$("speed").value];
    playing.due += speed ? ((time - playing.time) / 1000) * speed : ROUNDS;
    playing.time = time;
    const rounds = Math.min(Math.floor(playing.due), playing.left);
    if (rounds > 0) {
      playing.due -= rounds;
      playing.left -= rounds;
      play(rounds);
      showAll();
    }
    if (playing.left > 0) playing.frame = requestAnimationFrame(tick);
    else {
      stop();
      tell("");
    }
  });
}

function started() {
  const now = people[who];
  Object.assign(now, { decided: null, waits: false, why: null, looked: null, rewards: [], races: [] });
  now.first = fable.beliefs(who, false).rounds + 1;
  if (who === SIMULATED) $("reaction").textContent = "Nothing yet.";
}

// --- controls

function download(bytes, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([bytes])), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

$("who").addEventListener("change", ({ target }) => {
  stop();
  who = Number(target.value);
  tell("");
  for (const [index, box] of [...$("permissions").querySelectorAll("input")].entries()) box.checked = (person().switches >> index) & 1;
  for (const [index, slider] of [...$("sliders").querySelectorAll("input")].entries()) slider.value = person().moved[index];
  $("optimism").value = person().optimism;
  showAll();
});

$("text").addEventListener("input", () => attempt(() => {
  person().asked = $("text").value.trim() ? fable.read(VISITOR, $("text").value) : null;
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
  showBeliefs();
}));

$("step").addEventListener("click", () => attempt(() => {
  stop();
  if (person().waits) respond();
  else request();
  showAll();
}));
$("play").addEventListener("click", () => {
  if (playing) return stop();
  playing = { left: ROUNDS, due: 1, time: performance.now() };
  playing.frame = requestAnimationFrame(tick);
  $("play").textContent = "Pause";
});
$("speed").addEventListener("input", showSpeed);
function showSpeed() {
  const speed = SPEEDS[$("speed").value];
  $("speed-words").value = speed ? `${speed} a second` : "as fast as it can";
  $("speed").setAttribute("aria-valuetext", $("speed-words").value);
}
$("meet").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => {
    stop();
    const next = Number($("seed").value);
    fable.meet(next);
    seed = next;
    people[SIMULATED] = { ...nobody(), switches: person().switches, allowed: person().allowed };
    $("asked").textContent = "...";
    $("optimism").value = person().optimism;
    started();
    tell(`Nothing is known about user ${seed}.`);
    showAll();
  });
});

$("stated").addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => {
    const now = person();
    let told = 0;
    now.moved.forEach((value, index) => {
      if (value === (now.said[index] ?? 0)) return;
      fable.state(who, index, value);
      now.said[index] = value;
      told += 1;
    });
    $("told").textContent = told ? `${told} taken as evidence.` : "Move a slider first.";
    showBeliefs();
  });
});

$("save").addEventListener("click", () => attempt(() => {
  const { rounds } = fable.beliefs(who, false);
  download(fable.save(who), `fable-${who === VISITOR ? "you" : `user-${seed}`}-${rounds}.snapshot`);
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

// --- the beginning

words.permissions.forEach((rule, index) => {
  const box = element("input", { type: "checkbox", id: `permission-${index}` });
  box.addEventListener("change", () => attempt(() => {
    const now = person();
    const switches = now.switches ^ (1 << index);
    now.allowed = fable.permit(who, switches);
    now.switches = switches;
    showAllowed();
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

fable.meet(seed);
for (const one of [SIMULATED, VISITOR]) people[one].allowed = fable.permit(one, 0);
$("text").value = "What's the weather in Oslo today?";
people[VISITOR].asked = fable.read(VISITOR, $("text").value);
showSpeed();
document.querySelector("main").hidden = false;
showAll();
// Charts are drawn for the width they have.
let drawn = document.body.clientWidth;
addEventListener("resize", () => {
  if (document.body.clientWidth === drawn) return;
  drawn = document.body.clientWidth;
  showAll();
});
