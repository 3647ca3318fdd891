"""How fast the mount is, beside gocryptfs and the plain file system, in turns in one run. Medians; in the order of the table.

    mount.py PROGRAMS --speed [ROUNDS]
"""

import os
import pathlib
import shutil
import statistics
import subprocess
import time

from world import USER, Child, World, require

SIZE = 512 << 20
FILES = 5_000
TRACKED = 10_000


def timed(work):
    began = time.monotonic()
    work()
    return time.monotonic() - began


def forget():
    """The system forgets what it has read of every disk. Only root may say so."""
    os.sync()
    pathlib.Path("/proc/sys/vm/drop_caches").write_text("3")


class Places:
    """Directories of the user: in the plain file system, in a mount of each kind."""

    def __init__(self, world):
        self.world = world
        self.paths = {"plain": world.root / "plain"}
        for name in ("plain", "cipher", "gocryptfs"):
            (world.root / name).mkdir()
            os.chown(world.root / name, USER, USER)
        world.run("gocryptfs", "-init", "-q", "-scryptn", "10", "-extpass", "echo password", world.root / "cipher")
        world.run("gocryptfs", "-q", "-extpass", "echo password", world.root / "cipher", world.root / "gocryptfs")
        self.paths["gocryptfs"] = world.root / "gocryptfs"
        world.begin().classes()
        self.paths["class C"] = world.mount / "C"
        self.paths["class A"] = world.mount / "A"

    def end(self):
        self.world.end()
        self.world.run("fusermount3", "-u", self.world.root / "gocryptfs")


def write(path):
    block = os.urandom(1 << 20)
    with open(path / "large", "wb", 0) as file:
        for _ in range(SIZE >> 20):
            file.write(block)
        os.fsync(file.fileno())


def read(path):
    with open(path / "large", "rb", 0) as file:
        memory = bytearray(1 << 20)
        while file.readinto(memory):
            pass


def make(path):
    (path / "small").mkdir()
    for number in range(FILES):
        file = os.open(path / f"small/{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(file, b"x" * 1024)
        os.close(file)


def read_all(path):
    for number in range(FILES):
        file = os.open(path / f"small/{number}", os.O_RDONLY)
        require(len(os.read(file, 4096)) == 1024)
        os.close(file)


def status(path):
    subprocess.run(["git", "-C", path / "tree", "status", "--porcelain"], check=True, stdout=subprocess.DEVNULL)


def make_tree(path):
    tree = path / "tree"
    tree.mkdir()
    subprocess.run(["git", "init", "-q", tree], check=True)
    for number in range(TRACKED):
        directory = tree / f"{number // 100}"
        if number % 100 == 0:
            directory.mkdir()
        (directory / f"{number}").write_text(f"{number}\n")
    subprocess.run(["git", "-C", tree, "add", "."], check=True)
    subprocess.run(["git", "-C", tree, "-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "all"], check=True)


def bytes_a_second(seconds): return f"{SIZE / 1e6 / seconds:,.0f} MB/s"
def files_a_second(seconds): return f"{FILES / seconds:,.0f}/s"
def plainly(seconds): return f"{seconds:.2f} s"


# name, what comes before (the system forgets), the work, how the seconds are shown; how fast class C has to be beside others
LINES = (
    ("write and sync 512 MiB", None, write, bytes_a_second, {"gocryptfs": 1.2}),
    ("read it, cold", forget, read, bytes_a_second, {"gocryptfs": 1.2}),
    ("read it, warm", None, read, bytes_a_second, {}),
    ("make 5,000 files of 1 KiB", None, make, files_a_second, {"gocryptfs": 2}),
    ("read them, cold", forget, read_all, files_a_second, {"gocryptfs": 2}),
    ("read them, warm", None, read_all, files_a_second, {}),
    ("`git status`, 10,000 files, cold", forget, status, plainly, {"gocryptfs": 1, "plain": 1 / 3}),
    ("`git status`, warm", None, status, plainly, {"gocryptfs": 1, "plain": 1 / 3}),
)


def main(directory, programs, words):
    rounds = int(words[0]) if words else 3
    world = World(directory, programs)
    places = Places(world)
    results = {}
    try:
        for place in places.paths.values():
            world.child(lambda place=place: make_tree(place))
        for _ in range(rounds):
            for name, before, work, _, _ in LINES:
                for kind, place in places.paths.items():
                    if before:
                        before()
                    # The child is there before the clock starts.
                    results.setdefault((name, kind), []).append(world.child(lambda: timed(lambda: work(place))))
            for place in places.paths.values():
                world.child(lambda place=place: [shutil.rmtree(place / "small"), os.unlink(place / "large")])
    finally:
        places.end()
    kinds = list(places.paths)
    print(f"| work | {' | '.join(kinds)} | class C beside others |")
    print("|---" * (len(kinds) + 2) + "|")
    for name, _, _, shown, goals in LINES:
        values = {kind: statistics.median(results[name, kind]) for kind in kinds}
        cells = [shown(values[kind]) for kind in kinds]
        ratios = {other: values[other] / values["class C"] for other in ("gocryptfs", "plain")}
        told = [f"{ratio:.2f} of {other}" + (f" ({'met' if ratio >= goals[other] else 'MISSED'}: {goals[other]:.2g})"
                                             if other in goals else "") for other, ratio in ratios.items()]
        print(f"| {name} | {' | '.join(cells)} | {', '.join(told)} |")
    return 0
