"""What Python costs: single calls and batches against the same rounds in Rust, interleaved; the import; the wheel.

    python bench.py [--wheel FILE] [--least]     with the wheel installed, on a machine with little else to do

The rounds in Rust are those of `fable._fable._RustUsers`: `decide` and `feedback` of fable_core on the same catalog, nothing else.
Times are processor time of the thread, so that other programs do not count; the import's is that of a clock.
With --least only what a machine cannot change is judged: the size of the wheel.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time

import numpy

import fable
from fable import _fable

CONTEXT = {"task": "coding", "risk": 0.1, "ambiguity": 0.2, "memory_need": 0.7, "tool_need": 0.3}
MOST_ABOVE, MOST_TIMES, MOST_IMPORT, MOST_BYTES = 12.0, 1.2, 50.0, 3_000_000


def single(policy, blocks=60, rounds=100):
    """Microseconds of a decision with its reward through Python, and of the same in Rust."""
    user, rust = fable.User(policy, "u0"), _fable._RustUsers(policy, 1, CONTEXT)
    python_times, rust_times = [], []
    for _ in range(blocks):
        before = time.thread_time()
        for _ in range(rounds):
            user.feedback(user.decide(CONTEXT), 0.5)
        between = time.thread_time()
        rust.run(rounds)
        python_times.append((between - before) / rounds * 1e6)
        rust_times.append((time.thread_time() - between) / rounds * 1e6)
    differences = [python - rust for python, rust in zip(python_times, rust_times)]
    return statistics.median(python_times), statistics.median(rust_times), statistics.median(differences)


def batch(policy, count=1000, blocks=15):
    """Milliseconds of a batch with its rewards, and of the same loop in Rust."""
    users, rust = fable.Users(policy, [f"u{number}" for number in range(count)]), _fable._RustUsers(policy, count, CONTEXT)
    tasks, signals = numpy.zeros(count, int), numpy.tile(numpy.array([0.1, 0.2, 0.7, 0.3], numpy.float32), (count, 1))
    rewards = numpy.full(count, 0.5)
    python_times, rust_times = [], []
    for _ in range(blocks):
        before = time.thread_time()
        users.feedback(users.decide(tasks, signals), rewards)
        between = time.thread_time()
        rust.run(1)
        python_times.append((between - before) * 1e3)
        rust_times.append((time.thread_time() - between) * 1e3)
    ratios = [python / rust for python, rust in zip(python_times, rust_times)]
    return statistics.median(python_times), statistics.median(rust_times), statistics.median(ratios)


def imported(times=15):
    """Milliseconds of the import in a fresh interpreter."""
    code = "import time; before = time.perf_counter(); import fable; print((time.perf_counter() - before) * 1e3)"
    runs = [subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True) for _ in range(times)]
    return statistics.median(float(run.stdout) for run in runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", help="the wheel whose size is judged")
    parser.add_argument("--least", action="store_true", help="judge nothing that depends on the machine")
    arguments = parser.parse_args()
    policy = fable.Policy(fable.Catalog("agent"))
    rows = []
    python, rust, above = single(policy)
    rows.append(
        (
            "decide + feedback, agent",
            f"{python:.1f} us",
            f"{rust:.1f} us in Rust",
            f"{above:+.1f} us",
            f"at most {MOST_ABOVE:.0f} us",
            above <= MOST_ABOVE,
        )
    )
    python, rust, ratio = batch(policy)
    rows.append(
        (
            "1,000 users in a batch",
            f"{python:.1f} ms",
            f"{rust:.1f} ms in Rust",
            f"{ratio:.2f} times",
            f"at most {MOST_TIMES}",
            ratio <= MOST_TIMES,
        )
    )
    took = imported()
    rows.append(("import fable", f"{took:.1f} ms", "", "", f"under {MOST_IMPORT:.0f} ms", took < MOST_IMPORT))
    failed = [] if arguments.least else [row[0] for row in rows if not row[-1]]
    if arguments.wheel:
        size = os.path.getsize(arguments.wheel)
        rows.append(("wheel", f"{size / 1e6:.2f} MB", "", "", f"under {MOST_BYTES / 1e6:.0f} MB", size < MOST_BYTES))
        failed += ["wheel"] if size >= MOST_BYTES else []
    for name, *numbers, asked, held in rows:
        print(f"{name:<26}{numbers[0]:>10}  {numbers[1]:<20}{numbers[2]:>12}   {asked:<16}{'' if held else 'MISSED'}")
    if failed:
        sys.exit(f"missed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
