// Charts as SVG, drawn by hand in pixels, so that letters keep their size on every screen. Colours are in style.css.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element with attributes and children; text becomes a text node. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Puts a picture into a container; `says` is what it tells those who cannot see it. */
function show(container, width, height, says, children) {
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": says }, ...children);
  container.replaceChildren(picture);
  return picture;
}

const width = (container) => Math.max(240, Math.floor(container.clientWidth));
const line = (x1, y1, x2, y2, kind) => svg("line", { x1, y1, x2, y2, class: kind });
const label = (x, y, text, anchor = "start", kind = "") => svg("text", { x, y, "text-anchor": anchor, class: kind }, text);

/** A number with its sign; what is printed as zero has none. */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value > 0 ? "+" : "\u2212") + text;
}

/** Round numbers between two others. */
function ticks(from, to, most) {
  const rough = (to - from) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough - 1e-12);
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, index) => (first + index) * step);
}

/** Half the width of a symmetric axis that shows these numbers. */
function reach(numbers, least) {
  return Math.ceil(Math.max(least, ...numbers.map(Math.abs)) * 5 - 1e-9) / 5;
}

/** A symmetric axis below rows: a grid, numbers, what they are. */
function symmetricAxis(left, right, top, bottom, most, title) {
  const x = (value) => left + ((value + most) / (2 * most)) * (right - left);
  const round = ticks(-most, most, right - left < 180 ? 3 : 5);
  const marks = round.length < 3 ? [-most, 0, most] : round;
  const grid = marks.map((value) => line(x(value), top, x(value), bottom, value === 0 ? "zero" : "axis"));
  const numbers = marks.map((value) => label(x(value), bottom + 14, signed(value), "middle"));
  return [x, [...grid, ...numbers, label((left + right) / 2, bottom + 30, title, "middle")]];
}

const diamond = (x, y) => svg("path", { d: `M${x - 5} ${y}l5 -5l5 5l-5 5z`, class: "truth" });

/** How much each value is liked: a bar, its interval and, for the simulated user, the truth. */
export function beliefBars(container, components, beliefs) {
  const wide = width(container);
  const left = 146;
  const all = beliefs.flat();
  const most = reach(all.flatMap(({ mean, sd, truth }) => [mean - 1.96 * sd, mean + 1.96 * sd, truth ?? 0]), 0.4);
  const rows = [];
  let y = 4;
  components.forEach((component, index) => {
    rows.push({ heading: component.name, y: (y += 18) - 4 });
    component.values.forEach((value, position) => rows.push({ value, belief: beliefs[index][position], y: (y += 20) - 10 }));
    y += 6;
  });
  const [x, axis] = symmetricAxis(left, wide - 14, 6, y, most, "effect on the reward");
  const says = components.map((component, index) => {
    const best = beliefs[index].reduce((best, belief, position) => (belief.mean > beliefs[index][best].mean ? position : best), 0);
    return `${component.name}: most liked ${component.values[best]}, ${signed(beliefs[index][best].mean, 2)}`;
  });
  show(container, wide, y + 36, `How much each value is liked. ${says.join("; ")}.`, [
    ...axis,
    ...rows.flatMap(({ heading, value, belief, y }) => {
      if (heading) return [label(0, y, heading)];
      const { mean, sd, truth } = belief;
      return [
        label(left - 10, y + 4, value, "end", "label"),
        svg("rect", { x: Math.min(x(0), x(mean)), y: y - 6, width: Math.abs(x(mean) - x(0)), height: 12, class: "mean" }),
        line(x(mean - 1.96 * sd), y, x(mean + 1.96 * sd), y, "interval"),
        ...(truth === null ? [] : [diamond(x(truth), y)]),
        svg("title", {}, `${value}: ${signed(mean, 2)}, standard deviation ${sd.toFixed(2)}`),
      ];
    }),
  ]);
}

/** What coins have shown about a preference. */
function coins({ trials, eValue, needed, average: [mean, lower, upper] }) {
  if (!trials) return "no coin yet";
  const value = eValue < 10 ? eValue.toFixed(1) : eValue < 1e6 ? Math.round(eValue) : "over a million";
  return `${trials} ${trials === 1 ? "coin" : "coins"}: ${value} of ${Math.round(needed)} needed, average ${signed(mean, 2)} (${signed(lower, 2)} to ${signed(upper, 2)})`;
}

/** The declared contrasts with intervals that hold for all time. */
export function contrastIntervals(container, contrasts, beliefs) {
  const wide = width(container);
  const most = reach(beliefs.flatMap(({ mean, sd, truth }) => [mean - 1.96 * sd, mean + 1.96 * sd, truth ?? 0]), 1.5);
  const clamp = (value) => Math.max(-most, Math.min(most, value));
  const row = 58;
  const bottom = 8 + beliefs.length * row;
  const [x, axis] = symmetricAxis(14, wide - 14, 6, bottom, most, "difference of rewards");
  const says = `${beliefs.filter(({ promoted }) => promoted).length} of ${beliefs.length} preferences are promoted.`;
  show(container, wide, bottom + 36, says, [
    ...axis,
    ...beliefs.flatMap((belief, index) => {
      const y = 34 + index * row;
      const { mean, sd, lower, upper, promoted, probability, missing, truth } = belief;
      const sure = Math.round(100 * Math.max(probability, 1 - probability));
      const far = missing === null ? "" : missing > 9999 ? ", far away" : `, about ${missing} more`;
      const note = promoted ? `promoted in round ${belief.since} by ${belief.byCoins ? "coins" : "the interval"}${belief.holds ? "" : ", doubtful"}` : `${sure}%${far}`;
      return [
        label(0, y - 12, contrasts[index].name.replaceAll("_", " "), "start", "label"),
        label(wide, y - 12, note, "end"),
        label(0, y + 16, coins(belief), "start"),
        line(x(clamp(lower)), y, x(clamp(upper)), y, promoted ? "promoted" : "interval"),
        ...[[lower, -1], [upper, 1]].filter(([end]) => Math.abs(end) > most).map(([, side]) => {
          const tip = x(side * most);
          return svg("path", { d: `M${tip} ${y}l${-6 * side} -4v8z`, class: "tip" }); // it goes on outside
        }),
        line(x(mean - 1.96 * sd), y, x(mean + 1.96 * sd), y, "posterior"),
        svg("circle", { cx: x(mean), cy: y, r: 4.5, class: "mean" }),
        ...(truth === null ? [] : [diamond(x(truth), y)]),
      ];
    }),
  ]);
}

/** What was stated and what is believed now, on one line. */
export function statedMark(container, said, { mean, sd, truth }) {
  const wide = width(container);
  const x = (value) => 8 + ((Math.max(-1, Math.min(1, value)) + 1) / 2) * (wide - 16);
  const words = said === null ? "nothing said" : `said ${signed(said, 1)}`;
  const says = `${words}, believed now ${signed(mean, 2)}`;
  show(container, wide, 32, says, [
    line(x(-1), 8, x(1), 8, "axis"),
    line(x(0), 3, x(0), 13, "zero"),
    line(x(mean - 1.96 * sd), 8, x(mean + 1.96 * sd), 8, "interval"),
    ...(said === null ? [] : [svg("path", { d: `M${x(said)} 2l5 -6h-10z`, class: "said" })]),
    svg("circle", { cx: x(mean), cy: 8, r: 6, class: "mean" }),
    ...(truth === null ? [] : [diamond(x(truth), 8)]),
    label(wide / 2, 29, says, "middle"),
  ]);
}

/** Vertical lines at rounds where something happened. */
function events(marks, x, top, bottom) {
  return marks.flatMap(({ round, kind, words }) => {
    const at = x(round);
    const [place, anchor] = kind === "noticed" ? [at + 4, "start"] : [at - 4, "end"];
    return [line(at, top, at, bottom, `mark ${kind}`), label(place, bottom - 5, words, anchor, `word ${kind}`)];
  });
}

/** Heights of labels, in their order, at least so far apart that each can be read. */
function apart(heights, least, bottom) {
  const order = heights.map((_, index) => index).sort((one, other) => heights[one] - heights[other]);
  const placed = [...heights];
  order.forEach((index, place) => place && (placed[index] = Math.max(placed[index], placed[order[place - 1]] + least)));
  const below = Math.max(0, placed[order.at(-1)] - bottom);
  return placed.map((height) => height - below);
}

/** Lines over rounds, each with its short name at its end; `dots` are single rewards, `marks` what happened at a round. */
export function curves(container, { first, last, lines, dots, title, marks }) {
  const wide = width(container);
  const [left, right, top, bottom] = [44, wide - (dots.length || lines.length < 2 ? 10 : 58), 10, 210];
  const values = [...lines.flatMap(({ points }) => points.map(([, value]) => value)), ...dots.map(([, value]) => value)];
  const low = Math.min(0, Math.floor(Math.min(...values, 0) * 5) / 5);
  const high = Math.max(low + 0.4, Math.ceil(Math.max(...values, 0.4) * 5) / 5);
  const x = (round) => left + ((round - first) / Math.max(1, last - first)) * (right - left);
  const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const shown = lines.filter(({ points }) => points.length);
  const ends = shown.map(({ short, points }) => `${short} ${points.at(-1)[1].toFixed(2)}`);
  const heights = shown.length ? apart(shown.map(({ points }) => y(points.at(-1)[1])), 14, bottom) : [];
  show(container, wide, bottom + 38, `${title}. ${ends.join(", ")}`, [
    ...ticks(low, high, 7).flatMap((value) => [
      line(left, y(value), right, y(value), Math.abs(value) < 1e-9 ? "zero" : "axis"),
      label(left - 6, y(value) + 4, signed(value), "end"),
    ]),
    ...ticks(first, last, wide < 400 ? 4 : 6).map((round) => label(x(round), bottom + 15, String(round), "middle")),
    label((left + right) / 2, bottom + 33, "round", "middle"),
    label(left, 4, title, "start"),
    ...events(marks.filter(({ round }) => round >= first && round <= last), x, top, bottom),
    ...dots.map(([round, value]) => svg("circle", { cx: x(round), cy: y(value), r: 3, class: "dot" })),
    ...lines.map(({ points, kind }) => {
      const path = points.map(([round, value], index) => `${index ? "L" : "M"}${x(round).toFixed(1)} ${y(value).toFixed(1)}`);
      return svg("path", { d: path.join("") || "M0 0", class: `line ${kind}` });
    }),
    ...(lines.length < 2 ? [] : shown.map(({ short, kind, points }, index) => label(x(points.at(-1)[0]) + 5, heights[index] + 4, short, "start", `end ${kind}`))),
  ]);
}

/** What the bets on every contrast have made of 1, on a scale of powers, and what it takes; `certified` are contrasts at their rounds. */
export function wealthPaths(container, { first, last, names, wealth, certified, marks }) {
  const wide = width(container);
  const [left, right, top, bottom] = [44, wide - 10, 10, 150];
  const needed = wealth[0]?.[0].needed ?? 640;
  const [low, high] = [0.1, needed * 40];
  const x = (round) => left + ((round - first) / Math.max(1, last - first)) * (right - left);
  const y = (value) => bottom - (Math.log(Math.max(low, Math.min(high, value)) / low) / Math.log(high / low)) * (bottom - top);
  const won = new Map(certified.map(({ contrast, round }) => [contrast, round]));
  const paths = names.map((name, contrast) => {
    const points = wealth.map((all, index) => `${index ? "L" : "M"}${x(first + index).toFixed(1)} ${y(all[contrast].wealth).toFixed(1)}`);
    return svg("path", { d: points.join("") || "M0 0", class: `line bet${won.has(contrast) ? " won" : ""}` }, svg("title", {}, name));
  });
  const leading = wealth.length ? wealth.at(-1).reduce((best, { wealth: value }, index, all) => (value > all[best].wealth ? index : best), 0) : null;
  const says = `${won.size} of ${names.length} preferences are certain by coins.${leading === null ? "" : ` Furthest is ${names[leading]}.`}`;
  show(container, wide, bottom + 36, says, [
    ...[0.1, 1, 10, 100, 1000, 10000].filter((value) => value <= high).flatMap((value) => [
      line(left, y(value), right, y(value), value === 1 ? "zero" : "axis"),
      label(left - 6, y(value) + 4, value.toLocaleString("en"), "end"),
    ]),
    line(left, y(needed), right, y(needed), "needed"),
    label(left + 4, y(needed) - 5, `certain from ${Math.round(needed)} on`, "start", "word won"),
    ...ticks(first, last, wide < 400 ? 4 : 6).map((round) => label(x(round), bottom + 15, String(round), "middle")),
    label((left + right) / 2, bottom + 31, "round", "middle"),
    ...events(marks.filter(({ round }) => round >= first && round <= last), x, top, bottom),
    ...paths,
    ...(leading === null || won.has(leading) || wealth.length < 10 ? [] : [
      label(Math.min(right, x(first + wealth.length - 1)), Math.max(top + 10, y(wealth.at(-1)[leading].wealth) - 6), names[leading], "end", "word"),
    ]),
    ...[...won].flatMap(([contrast, round]) => {
      const [at, high] = [x(round), y(wealth[round - first]?.[contrast].wealth ?? needed)];
      const early = at < (left + right) / 2;
      return [svg("circle", { cx: at, cy: high, r: 5, class: "seal" }), label(at + (early ? 8 : -8), high - 6, names[contrast], early ? "start" : "end", "word won")];
    }),
  ]);
}

/** The actions: a block per tool, in it a column per style and a row per memory. */
export function actionGrid(container, components, { removedBy, chosen, looked, choose }) {
  const [memory, tool, style] = components.map(({ values }) => values);
  const wide = width(container);
  const left = 124;
  const inRow = wide < 420 ? 2 : 3;
  const gap = 8;
  const size = Math.min(18, Math.floor((wide - left - gap * (inRow - 1)) / (inRow * style.length)));
  const high = memory.length * size;
  const bands = Math.ceil(tool.length / inRow);
  const band = high + 34;
  const parts = [];
  for (let row = 0; row < bands; row++) {
    memory.forEach((name, index) => parts.push(label(left - 8, row * band + 22 + (index + 0.5) * size + 4, name, "end")));
  }
  tool.forEach((name, block) => {
    const x = left + (block % inRow) * (style.length * size + gap);
    const y = Math.floor(block / inRow) * band + 22;
    const room = Math.floor((style.length * size) / 6.2);
    const short = name.replaceAll("_", " ");
    parts.push(label(x, y - 7, short.length > room ? `${short.slice(0, room - 1)}.` : short));
    for (let row = 0; row < memory.length; row++) {
      for (let column = 0; column < style.length; column++) {
        const action = (row * tool.length + block) * style.length + column;
        const off = removedBy[action];
        const kinds = ["cell", off === null ? "" : `off r${off}`, action === chosen ? "tried" : "", action === looked ? "looked" : ""];
        const cell = svg(
          "rect",
          { x: x + column * size + 1, y: y + row * size + 1, width: size - 2, height: size - 2, rx: 2, class: kinds.join(" ").trim() },
          svg("title", {}, `${memory[row]}, ${name}, ${style[column]}`),
        );
        cell.addEventListener("click", () => choose(action));
        parts.push(cell);
      }
    }
  });
  const count = removedBy.filter((rule) => rule === null).length;
  const says = `${count} of ${removedBy.length} actions are left: blocks are tools, rows memories, columns styles.`;
  show(container, wide, bands * band, says, parts);
}

/** A bar to the left or to the right. */
export function share(value, most) {
  const x = value < 0 ? 50 + (50 * value) / most : 50;
  const bar = svg("rect", { x, y: 2, width: (50 * Math.abs(value)) / most, height: 12, class: value < 0 ? "against" : "mean" });
  return svg("svg", { viewBox: "0 0 100 16", height: 16, preserveAspectRatio: "none", "aria-hidden": "true" }, line(50, 0, 50, 16, "zero"), bar);
}
