#!/usr/bin/env python3
"""Makes RESULTS.md of what the two studies have written: report.py COBA.json OBP.json RESULTS.md"""

import json
import statistics
import sys
from pathlib import Path

import goals
from goals import FABLE, FLAT, LINTS, LINUCB, PAPER, RANDOM, VW

#: 97.5% quantiles of Student's t for 1, 2, ... degrees of freedom; the normal one beyond them.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09]
PEERS = [FABLE, PAPER, FLAT, VW, LINUCB, LINTS, RANDOM]
REPLAYED = [FABLE, PAPER, FLAT, VW, LINUCB, LINTS, RANDOM]
SEES_THE_SAME, EXACT, LOOSE = "LinUCB on Fable's features", "Fable, noise variance 0.01", "Fable, base precision 4"


def mean_and_half(values):
    """The mean of independent numbers and half of its 95% interval."""
    freedom = len(values) - 1
    if freedom < 1:
        return statistics.fmean(values), float("nan")
    quantile = STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96
    return statistics.fmean(values), quantile * statistics.stdev(values) / len(values) ** 0.5


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in ([head] + rows)]
    lines.insert(1, "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|")
    return "\n".join(lines)


def read_coba(runs):
    """environment -> learner -> the mean reward of each seed, and the microseconds of a round with each seed."""
    made = {}
    for run in runs:
        rows = made.setdefault(run["environment"], {})
        for learner, quarters in run["got"].items():
            row = rows.setdefault(learner, {"rewards": [], "last": [], "times": []})
            row["rewards"].append(sum(quarters) / run["rounds"])
            row["last"].append(quarters[3] / (run["rounds"] / 4))
            if learner in run["spent"]:
                row["times"].append(run["spent"][learner] / run["rounds"] * 1e6)
    return made


def coba_tables(made):
    rewards, differences, times, reasons = [], [], [], []
    for name, rows in made.items():
        of = {learner: row["rewards"] for learner, row in rows.items()}
        best = max(statistics.fmean(of[learner]) for learner in PEERS)
        shown = []
        for learner in PEERS:
            mean, half = mean_and_half(of[learner])
            text = f"{mean:.3f} ± {half:.3f}"
            shown.append(f"**{text}**" if mean == best else text)
        rewards.append([name, *shown, f"{statistics.fmean(of['best']):.3f}"])
        paired = [mean_and_half([ours - theirs for ours, theirs in zip(of[FABLE], of[other])]) for other in PEERS[1:]]
        differences.append([name, *(f"{mean:+.3f} ± {half:.3f}" for mean, half in paired)])
        times.append([name, *(f"{statistics.median(rows[learner]['times']):,.0f}" for learner in PEERS)])
        looked = [FABLE, EXACT, LOOSE, LINUCB, SEES_THE_SAME]
        reasons.append([name, *("{:.3f} ± {:.3f}".format(*mean_and_half(of[learner])) for learner in looked)])
    return (
        table(["mean reward", *PEERS, "best action"], rewards),
        table(["Fable minus ...", *PEERS[1:]], differences),
        table(["microseconds", *PEERS], times),
        table(["mean reward", FABLE, EXACT, LOOSE, LINUCB, SEES_THE_SAME], reasons),
    )


def rate_interval(rewards):
    """The click rate of the rows that matched, with Wilson's 95% interval, which also holds without a click."""
    count, square = len(rewards), 1.96**2
    if count == 0:
        return float("nan"), 0.0, 1.0
    rate = statistics.fmean(rewards)
    middle, half = rate + square / (2 * count), 1.96 * (rate * (1 - rate) / count + square / (4 * count**2)) ** 0.5
    return rate, (middle - half) / (1 + square / count), (middle + half) / (1 + square / count)


def difference_interval(ours, theirs):
    """Fable's click rate minus another one's, with Newcombe's 95% interval."""
    (rate, low, high), (other, other_low, other_high) = rate_interval(ours), rate_interval(theirs)
    below = ((rate - low) ** 2 + (other_high - other) ** 2) ** 0.5
    above = ((high - rate) ** 2 + (other - other_low) ** 2) ** 0.5
    return rate - other - below, rate - other + above


def obp_tables(study):
    replay, judged = [], {}
    ours = [reward for _, reward in study["replay"][FABLE]["matched"]]
    for name in REPLAYED:
        matched, seconds = study["replay"][name]["matched"], study["replay"][name]["seconds"]
        theirs = [reward for _, reward in matched]
        (rate, low, high), (lower, upper) = rate_interval(theirs), difference_interval(ours, theirs)
        clicks = sum(theirs)
        apart = "" if name == FABLE else f"{lower:+.4f} to {upper:+.4f}"
        replay.append([name, str(len(matched)), f"{clicks:.0f}", f"{rate:.4f}", f"{low:.4f} to {high:.4f}", apart, f"{seconds * 1e6:,.0f}"])
        judged[name] = {"low": lower, "high": upper, "time": seconds}
    columns = [FABLE, PAPER, FLAT, VW, LINUCB, RANDOM]
    learned = []
    for pair in study["pairs"]:
        row = [f"{pair['campaign']}, learned from {pair['taught']}", f"{pair['logged']:.4f}"]
        for name in columns:
            value, low, high = pair["learners"][name]["dr"]
            row.append(f"{value:.4f} ({low:.4f} to {high:.4f})")
        learned.append(row)
    others = []
    for pair in study["pairs"]:
        row = [f"{pair['campaign']}, learned from {pair['taught']}"]
        for name in columns:
            learner = pair["learners"][name]
            row.append(f"{learner['ips'][0]:.4f} / {learner['snips'][0]:.4f} / {learner['matched']}")
        others.append(row)
    head = ["replay", "rows", "clicks", "click rate", "95% interval", "Fable's rate minus it", "microseconds"]
    return (
        table(head, replay),
        table(["doubly robust value", "the log's mean", *columns], learned),
        table(["IPS / SNIPS / rows that agree", *columns], others),
        judged,
    )


def main():
    coba_file, obp_file, output = sys.argv[1:]
    coba, obp = (json.loads(Path(name).read_text(encoding="utf-8")) for name in (coba_file, obp_file))
    made = read_coba(coba["runs"])
    rewards, differences, times, reasons = coba_tables(made)
    replay, learned, others, judged = obp_tables(obp)
    means = {
        name: {
            learner: {"reward": statistics.fmean(row["rewards"]), "time": statistics.median(row["times"] or [0.0])}
            for learner, row in rows.items()
        }
        for name, rows in made.items()
    }
    pairs = [{name: {"dr": learner["dr"][0], "logged": pair["logged"]} for name, learner in pair["learners"].items()} for pair in obp["pairs"]]
    seen = {**goals.judge_coba(means), **goals.judge_obp(judged, pairs)}
    reached = [[name, text, seen[name][1], "reached" if seen[name][0] else "**missed**"] for name, text in goals.GOALS]
    runs = coba["runs"]
    text = Path(__file__).with_name("page.md").read_text(encoding="utf-8")
    clipped = {key: statistics.fmean(run["clipped"][key] for run in runs) for key in ("rewards", "signals")}
    filled = text.format(
        date=goals.DATE,
        goals=table(["", "goal", "seen", ""], reached),
        reached=sum(bool(holds) for holds, _ in seen.values()),
        count=len(goals.GOALS),
        seeds=len({run["seed"] for run in runs}),
        rounds=runs[0]["rounds"],
        rewards=rewards,
        differences=differences,
        times=times,
        reasons=reasons,
        clipped_rewards=f"{clipped['rewards']:.0f}",
        clipped_signals=f"{clipped['signals']:.0f}",
        rows=f"{obp['rows']:,}",
        replay=replay,
        learned=learned,
        others=others,
        load=f"{coba['load']:.0f}",
        seconds=f"{coba['seconds']:.0f} s and {obp['seconds']:.0f} s",
    )
    Path(output).write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
