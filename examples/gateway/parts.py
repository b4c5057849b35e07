"""What is started here and ended with the example: PostgreSQL, processes of the service, a board in QEMU."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[2]
FIRMWARE = TOP / "examples" / "firmware"


class Trouble(Exception):
    """Something that has to be there is not, or does not work."""


def run(command, **options):
    """Runs a program that has to succeed, and returns what it says."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise Trouble(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def build():
    """The command `fable`: what FABLE names, or built if need be."""
    if os.environ.get("FABLE"):
        return pathlib.Path(os.environ["FABLE"])
    if shutil.which("cargo") is None:
        raise Trouble("cargo is missing: install Rust with rustup")
    if subprocess.run(["cargo", "build", "--quiet", "--locked", "--package", "fable-std", "--bin", "fable"], cwd=TOP).returncode != 0:
        raise Trouble("fable cannot be built")
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target")) / "debug" / "fable"


class Postgres:
    """A server of the example's own, at a UNIX socket in its folder, which nobody else can enter."""

    def __init__(self, folder):
        self.folder = folder / "postgres"
        installed = [path.parent for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")]
        found = shutil.which("initdb")
        installed += [pathlib.Path(found).resolve().parent] if found else []
        if not installed:
            raise Trouble("PostgreSQL is missing: apt-get install postgresql")
        self.programs = max(installed, key=lambda path: [int(part) for part in path.parent.name.split(".") if part.isdigit()])
        self.folder.mkdir(mode=0o700)
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            shutil.chown(self.folder, "postgres")
        self.do("initdb", "-D", "data", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N", "--auth=trust")
        self.version = self.do("postgres", "--version").split()[2]
        self.url = f"postgres://postgres@/fleet?host={self.folder}"

    def start(self):
        options = f"-k {self.folder} -c listen_addresses="
        self.do("pg_ctl", "-D", "data", "-l", "log", "-o", options, "-w", "-s", "start", capture=False)
        self.do("createdb", "-h", self.folder, "-U", "postgres", "fleet")

    def do(self, program, *arguments, capture=True):
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*user, self.programs / program, *arguments]
        if capture:
            return run(command, cwd=self.folder)
        # What the server inherits it keeps open.
        if subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode != 0:
            log = self.folder / "log"
            raise Trouble(f"{program} failed:\n{log.read_text() if log.exists() else ''}")

    def close(self):
        if (self.folder / "data" / "postmaster.pid").exists():
            self.do("pg_ctl", "-D", "data", "-m", "fast", "-w", "-s", "stop", capture=False)


class Process:
    """A `fable serve` at a free port, one of several with the same store."""

    def __init__(self, fable, store, metrics, tokens):
        command = [fable, "serve", "--catalog", "tau2", "--store", store, "--http", "127.0.0.1:0", "--metrics", metrics]
        own = {"FABLE_TOKENS_DECIDE": tokens["decide"], "FABLE_TOKENS_ALL": tokens["all"]}
        self.child = subprocess.Popen(
            command, env={**os.environ, **own}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        try:
            said = self.child.stdout.readline()
            if not said:
                raise Trouble("fable serve has ended; what it says is above")
            (url,) = json.loads(said)["listening"]
            self.port = int(url.rsplit(":", 1)[1])
        except BaseException:
            self.kill()
            raise

    def kill(self):
        """As kill -9 does."""
        self.child.kill()
        self.child.wait()

    def close(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.child.returncode


class Board:
    """The micro:bit in QEMU, with a place for a prior; its serial port is at a TCP port of this machine."""

    TARGET = "thumbv6m-none-eabi"

    def __init__(self, folder):
        if shutil.which("qemu-system-arm") is None:
            raise Trouble("QEMU is missing: apt-get install qemu-system-arm, or go without a board: --no-board")
        image = self.image()
        for _ in range(3):  # the port may be taken before QEMU takes it
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            self.address = f"127.0.0.1:{port}"
            command = ["qemu-system-arm", "-M", "microbit", "-kernel", image, "-display", "none", "-monitor", "none"]
            command += ["-semihosting-config", "enable=on,target=native", "-serial", f"tcp:{self.address},server=on,wait=off"]
            with open(folder / "board.log", "w") as log:
                self.child = subprocess.Popen(
                    command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.wait(0.5)
                continue
            return
        raise Trouble("QEMU does not start:\n" + (folder / "board.log").read_text())

    def image(self):
        """The firmware, built if need be, with rustup's core or one that Debian's compiler builds."""
        environment = dict(os.environ)
        libraries = pathlib.Path(run(["rustc", "--print", "sysroot"]).strip()) / "lib" / "rustlib" / self.TARGET / "lib"
        if not libraries.is_dir() and "FABLE_BUILD_STD" not in environment:
            if not (os.access("/usr/bin/rustc", os.X_OK) and os.access("/usr/bin/cargo", os.X_OK)):
                raise Trouble(f"the board's target is missing: rustup target add {self.TARGET}, or go without a board: --no-board")
            environment["FABLE_BUILD_STD"] = "1"
        script = '. ./toolchain.sh && board microbit && build device --features prior && echo "$image"'
        return run(["bash", "-euo", "pipefail", "-c", script], cwd=FIRMWARE, env=environment).splitlines()[-1]

    def wait(self, seconds):
        """Waits for the end of QEMU, and kills it if something else happens to the example."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise
        except BaseException:
            self.close()
            raise

    def close(self):
        self.child.kill()
        self.child.wait()
