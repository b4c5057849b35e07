// How it goes: the curves of those who play the same rounds, and what the coins have shown so far. A life is what page.js keeps of one.

import { curves, signed, wealthPaths } from "./charts.js";

/** Rounds a mean of the curves is taken over, and rounds that Play plays. */
const WINDOW = 20;
export const ROUNDS = 200;
const LEARNERS = [
  { kind: "fable", short: "Fable", name: "Fable, an optimist" },
  { kind: "draw", short: "draw", name: "Fable that draws" },
  { kind: "bare", short: "no prior", name: "Fable without the prior" },
  { kind: "flat", short: "flat", name: "one weight per action" },
  { kind: "rules", short: "rules", name: "fixed rules" },
  { kind: "best", short: "best", name: "who knows the person" },
];
const TITLE = `mean reward, last ${WINDOW} rounds`;

const $ = (id) => document.getElementById(id);
export const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

function means(values) {
  let sum = 0;
  return values.map((value, index) => {
    sum += value - (index >= WINDOW ? values[index - WINDOW] : 0);
    return sum / Math.min(index + 1, WINDOW);
  });
}

const points = (first, values) => means(values).map((value, index) => [first + index, value]);

/** What happened at a round, for the pictures; `mind` is the round at which the simulated user changes theirs. */
const marks = (events, mind) => [
  ...(mind === null ? [] : [{ round: mind, kind: "turn", words: "changes their mind" }]),
  ...events.filter(({ kind }) => kind === "noticed").map(({ round }) => ({ round, kind: "noticed", words: "noticed" })),
];

/** Fable and the others on the simulated user. */
export function showRace({ races, first, events }, { mind, team }) {
  const racing = LEARNERS.filter(({ kind }) => kind !== "bare" || team);
  const lines = racing.map((learner) => ({ ...learner, points: points(first, races.map((race) => race[learner.kind])) }));
  const last = first + Math.max(ROUNDS, races.length) - 1;
  curves($("curve"), { first, last, lines, dots: [], title: TITLE, marks: marks(events, mind) });
  $("curve-words").textContent = "";
  $("headline").replaceChildren(...headline(first, races.length, lines, mind));
  $("legend").replaceChildren(
    ...lines.map(({ kind, name, points }) => {
      const entry = element("span", {});
      entry.innerHTML = `<svg viewBox="0 0 26 10" aria-hidden="true"><line x1="0" y1="5" x2="26" y2="5" class="${kind}"/></svg>`;
      entry.append(name, element("span", { className: "number", textContent: points.length ? ` ${signed(points.at(-1)[1], 2)}` : "" }));
      return entry;
    }),
  );
}

/** What the curves come to, in a sentence. */
function headline(first, count, lines, mind) {
  if (!count) return ["Nothing is known about this person yet. All get the same requests and the same moods."];
  const now = Object.fromEntries(lines.map(({ kind, points }) => [kind, signed(points.at(-1)[1], 2)]));
  const changed = mind !== null && first + count > mind ? ` Their mind changed in round ${mind}.` : "";
  const strong = element("strong", { textContent: now.fable });
  return [`After ${count} ${count === 1 ? "answer" : "answers"} they rate Fable `, strong, ` (fixed rules ${now.rules}, the best possible ${now.best}).${changed}`];
}

/** The visitor's own reactions. */
export function showReactions({ rewards, first }) {
  const count = rewards.length;
  const lines = [{ kind: "fable", short: "mean", name: "mean of your rewards", points: points(first, rewards) }];
  const dots = rewards.map((reward, index) => [first + index, reward]);
  curves($("curve"), { first, last: first + Math.max(WINDOW, count) - 1, lines, dots, title: TITLE, marks: [] });
  $("curve-words").textContent = count ? `${count} ${count === 1 ? "reaction" : "reactions"}; dots are single ones, the line is their mean.` : "Every reaction becomes a dot.";
  $("headline").replaceChildren();
  $("legend").replaceChildren();
}

/** Coins and certificates: what the bets have made, and what happened. `user` is what makes the simulated user, if it is that one. */
export function showBets({ wealth, events, coin, first }, user, names) {
  const certified = events.filter(({ kind }) => kind === "certified");
  const last = first + Math.max(ROUNDS, wealth.length) - 1;
  wealthPaths($("coins"), { first, last, names, wealth, certified, marks: marks(events, user?.mind ?? null) });
  $("coin").textContent = coin ?? "";
  $("events").replaceChildren(...events.slice(-4).map(({ round, words }) => element("li", {}, element("strong", { textContent: `Round ${round}: ` }), words)));
}
