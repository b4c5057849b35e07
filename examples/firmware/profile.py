"""Counts the instructions of each function in the first 120 rounds of the `budget` image: profile.py IMAGE QEMU...

QEMU logs every block of code when it is translated, with its instructions, and every block that is executed.
"""

import bisect
import collections
import os
import subprocess
import sys

# WARM_UP and ROUNDS of src/bin/budget; after them the optimistic rule begins, whose first function is this one.
ROUNDS, NEXT = 120, "find_variances"


def functions(image):
    """Addresses and names, in order."""
    listed = subprocess.run(["readelf", "-sWC", image], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in listed.splitlines():
        words = line.split(None, 7)
        if len(words) == 8 and words[3] in ("FUNC", "NOTYPE") and words[6] != "UND" and not words[7].startswith("$"):
            found[int(words[1], 16) & ~1] = words[7]
    return sorted(found.items())


def executed(lines, name):
    """Instructions per function until the paper's rounds are over."""
    sizes, counts, block = {}, collections.Counter(), None
    for line in lines:
        if line.startswith("Trace"):
            block = None
            start = int(line.split("[")[1].split("/")[1], 16)
            if not counts[start] and NEXT in name(start):
                break
            counts[start] += 1
        elif line.startswith("IN:"):
            block = "next"
        elif line.startswith("0x") and block is not None:
            address = int(line.split(":")[0], 16)
            if block == "next":
                block, sizes[address] = address, 0
            sizes[block] += 1
    totals = collections.Counter()
    for start, count in counts.items():
        totals[name(start)] += count * sizes[start]
    return totals


def main(image, qemu):
    known = functions(image)
    addresses = [address for address, _ in known]
    name = lambda address: known[max(bisect.bisect_right(addresses, address) - 1, 0)][1]
    os.mkfifo("log")
    process = subprocess.Popen([*qemu, "-d", "in_asm,exec,nochain", "-D", "log"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        with open("log", errors="replace") as lines:
            totals = executed(lines, name)
    finally:
        process.kill()
        process.wait()
    total = sum(totals.values())
    print(f"{total / ROUNDS:>10,.0f}         a round, with what surrounds it")
    for function, count in totals.most_common(25):
        print(f"{count / ROUNDS:>10,.0f} {100 * count / total:5.1f}%  {function}")


main(sys.argv[1], sys.argv[2:])
