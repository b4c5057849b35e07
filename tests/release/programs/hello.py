"""Starts every board of an unpacked firmware archive in QEMU, by its boards.txt, and asks it.

  hello.py FOLDER FABLE

A board has to answer `hello`, decide, learn from a reward, and count one round more, through the command FABLE.
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What each catalog wants to be told of a request.
CONTEXT = {
    "tau2": [],
    "agent": ["--task", "coding", *(word for signal in ["risk=0.1", "ambiguity=0.2", "memory_need=0.7", "tool_need=0.3"] for word in ["--signal", signal])],
}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def ask(fable, port, *words):
    command = [fable, "device", "--tcp", f"127.0.0.1:{port}", "--json", *words]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)


def answer(done):
    if done.returncode:
        raise RuntimeError(f"{' '.join(done.args[1:])}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def board(folder, fable, name, command):
    """Everything about one board; raises if it does not answer."""
    place = Path(tempfile.mkdtemp(prefix=f"{name}-"))
    with open(place / "virt.flash", "wb") as flash:
        flash.truncate(32 << 20)
    port = free_port()
    command = [*command, str(folder / "images" / f"{name}.elf"), "-display", "none", "-monitor", "none"]
    command += ["-semihosting-config", "enable=on,target=native", "-serial", f"tcp:127.0.0.1:{port},server=on,wait=off"]
    qemu = subprocess.Popen(command, cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        hello = ask(fable, port, "hello")
        deadline = time.monotonic() + 60
        while hello.returncode and qemu.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
            hello = ask(fable, port, "hello")
        if qemu.poll() is not None:
            raise RuntimeError(f"QEMU ended: {qemu.stderr.read().decode().strip()}")
        before = answer(hello)
        decided = answer(ask(fable, port, "decide", *CONTEXT[before["catalog"]]))
        answer(ask(fable, port, "feedback", str(decided["decision"]), "0.5"))
        return before, decided, answer(ask(fable, port, "hello"))
    finally:
        qemu.kill()
        qemu.wait()
        shutil.rmtree(place)


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    folder, fable, failed = Path(sys.argv[1]).resolve(), sys.argv[2], 0
    rows = [line.split(None, 3) for line in (folder / "boards.txt").read_text().splitlines() if line and not line.startswith("#")]
    for name, target, _, command in rows:
        try:
            before, decided, after = board(folder, fable, name, re.split(r"\s+", command))
            if after["rounds"] != before["rounds"] + 1 or after["observations"] != before["observations"] + 1:
                raise RuntimeError(f"it said {before}, and after a round {after}")
            print(f"ok   {name} ({target}): chose {json.dumps(decided['action'])}, and learned")
        except (RuntimeError, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            print(f"FAIL {name}: {error}", file=sys.stderr)
            failed += 1
    return 1 if failed or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
