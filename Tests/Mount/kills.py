"""A mount whose process is killed while programs write: what was acknowledged is there, and every file is whole.

Programs of the user write below the mount:
  - one adds records to a file and syncs each;
  - one commits to an SQLite database;
  - one saves files by writing a new one, syncing it and giving it the place of the old one;
  - SQLite's shell commits to another database, and git commits to a repository.
Each notes what has returned, outside of the mount. After a kill the next mount begins while the former mount point may still be
there, and all of it is read. With a disk (power.py) the power fails with each kill: the three that ask for syncs write then.
"""

import contextlib
import errno
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time

import power
from checks import check
from world import CLASSES, Child, Failure, World, require, same, until

# Files of a repository before it is begun anew, and commits between two packings.
MOST_COMMITS, COMMITS_OF_A_PACK = 120, 25


class Refused(Exception):
    """A program of the system ended with a failure."""


def gone(error, directory):
    """Whether a call failed since the mount has gone. SQLite has one word for that and for other errors, and the kernel gives EIO
    for a request that was being read: then the mount point tells."""
    if isinstance(error, OSError) and error.errno in (errno.ENOTCONN, errno.ECONNABORTED):
        return True
    try:
        os.statvfs(directory)
        return not os.path.ismount(directory.parent)
    except OSError as other:
        return other.errno in (errno.ENOTCONN, errno.ECONNABORTED, errno.ENOENT, errno.EIO)


def synced(directory):
    """Forces the names of a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def ran(*words):
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode != 0:
        raise Refused(f"{words} ended with {result.returncode}: {result.stderr}")
    return result.stdout


# What writes.


def records(directory, note):
    file = os.open(directory / "records", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    synced(directory)
    number = len((directory / "records").read_bytes()) // 16
    while True:
        os.write(file, b"%015d\n" % number)
        os.fsync(file)
        note(number)
        number += 1


def rows(directory, note):
    # It is never synced. Without its first page it is a plain file, which is only read, and which a person removes.
    index = directory / "rows.db-shm"
    if index.exists() and not any(index.read_bytes()[:4096]):
        index.unlink()
    base = sqlite3.connect(directory / "rows.db", isolation_level=None, timeout=1)
    if directory.name in "CD":
        base.execute("pragma journal_mode=wal")
    # Without "extra" the names of its journals are not synced.
    base.execute("pragma synchronous=extra")
    base.execute("create table if not exists t(number integer primary key, filler)")
    synced(directory)
    number = base.execute("select count(*) from t").fetchone()[0]
    while True:
        base.execute("insert into t values(?, randomblob(500))", (number,))
        note(number)
        number += 1


def saves(directory, note):
    path = directory / "saved"
    number = int(path.read_text().split()[0]) + 1 if path.exists() else 0
    while True:
        with open(directory / "saved.new", "w") as file:
            file.write(f"{number} " + "x" * 20_000)
            file.flush()
            os.fsync(file.fileno())
        os.rename(directory / "saved.new", path)
        synced(directory)
        note(number)
        number += 1


def shell(directory, note):
    def asked(text):
        return ran("sqlite3", "-bail", "-cmd", ".timeout 1000", directory / "shell.db", text)
    asked("create table if not exists t(number integer primary key, filler);")
    number = int(asked("select count(*) from t;"))
    while True:
        asked(f"insert into t values({number}, hex(randomblob(300)));")
        note(number)
        number += 1


def git(directory, *words):
    # Nothing of it goes on behind the call.
    return ran("git", "-C", directory / "repository", "-c", "user.name=a", "-c", "user.email=a", "-c",
               "maintenance.auto=false", *words)


def subject(directory):
    return int(git(directory, "log", "-1", "--format=%s"))


def remove_locks(directory):
    """A git that was killed leaves locks and half a list of references, which a person removes."""
    for pattern in ("*.lock", "packed-refs.new"):
        for path in (directory / "repository/.git").rglob(pattern):
            path.unlink()


def commits(directory, note):
    repository = directory / "repository"
    remove_locks(directory)
    # The file is there once the repository is whole.
    if not (repository / "whole").exists() or subject(directory) >= MOST_COMMITS:
        note(-1)
        (repository / "whole").unlink(missing_ok=True)
        shutil.rmtree(repository, ignore_errors=True)
        repository.mkdir()
        # Given the path, git would make the directories above, where the mount was, too.
        git(directory, "init", "-q", "-b", "main")
        git(directory, "commit", "-q", "--allow-empty", "-m", "0")
        (repository / "whole").touch()
    number = subject(directory) + 1
    while True:
        (repository / f"file{number % 10}").write_text(f"{number}\n" * 100)
        git(directory, "add", "-A")
        git(directory, "commit", "-q", "-m", str(number))
        note(number)
        if number % COMMITS_OF_A_PACK == 0:
            git(directory, "gc", "-q", "--force")
        number += 1


WORK = (records, rows, saves, shell, commits)
# Those that sync what they note.
OF_THE_DISK = (records, rows, saves)


def notes(world, work, name):
    return world.root / f"home/{work.__name__}-{name}"


def last(path):
    lines = path.read_bytes().splitlines() if path.exists() else []
    return int(lines[-1]) if lines else -1


# What reads. Each is given the last number that was noted.


def of_records(directory, noted):
    require((directory / "records").exists(), "the synced records are lost")
    content = (directory / "records").read_bytes()
    whole = content[:len(content) // 16 * 16]
    same(whole, b"".join(b"%015d\n" % number for number in range(len(whole) // 16)), "records")
    require(len(whole) // 16 > noted, "a synced record is lost:", len(whole) // 16, noted)
    # A write that was not synced may have been cut off by the kill; it is removed, as any program does with its own log.
    if len(content) != len(whole):
        os.truncate(directory / "records", len(whole))


def of_base(name):
    def look(directory, noted):
        with contextlib.closing(sqlite3.connect(directory / name)) as base:
            same(base.execute("pragma integrity_check").fetchone(), ("ok",), name)
            same(base.execute("select count(*), max(number) + 1 from t where number <= ?", (noted,)).fetchone(),
                 (noted + 1,) * 2, "committed rows of", name)
    return look


def of_saves(directory, noted):
    number, _, filler = (directory / "saved").read_text().partition(" ")
    require(int(number) >= noted, "a saved file is an older one:", number, noted)
    same(filler, "x" * 20_000)


def of_commits(directory, noted):
    remove_locks(directory)
    git(directory, "fsck", "--strict")
    number = subject(directory)
    require(number >= noted, "a commit is lost:", number, noted)
    git(directory, "reset", "-q", "--hard")
    same((directory / f"repository/file{number % 10}").read_text(), f"{number}\n" * 100, "a committed file")


LOOKS = {records: of_records, rows: of_base("rows.db"), saves: of_saves, shell: of_base("shell.db"), commits: of_commits}


def look_at(world, name, works):
    def look():
        for work in works:
            noted = last(notes(world, work, name))
            if noted >= 0:
                LOOKS[work](world.mount / name, noted)
    world.child(look)


class Rounds:
    """Kills, one after the other, in one world."""

    def __init__(self, world, seed, disk=None):
        self.world, self.disk, self.works = world, disk, OF_THE_DISK if disk else WORK
        self.chance = random.Random(seed)
        self.choose = power.Forgetful() if disk and disk.lies else power.Chance(seed)

    def kill(self):
        """Lets programs write in the directory of some class, kills the mount meanwhile, and looks at what is left."""
        name = self.chance.choice("ABCD")
        paths = [notes(self.world, work, name) for work in self.works]
        sizes = [path.stat().st_size if path.exists() else 0 for path in paths]
        children = [Child(self.world, lambda work=work: self.run(work, name)) for work in self.works]
        try:
            if self.disk or self.chance.randrange(2):
                until(lambda: all(path.exists() and path.stat().st_size > size for path, size in zip(paths, sizes)),
                      "a program writes nothing")
            time.sleep(self.chance.uniform(0.02, 0.3 if self.disk else 0.8))
        finally:
            os.kill(self.world.process(), signal.SIGKILL)
            for child in children:
                # SQLite's write-ahead log is a mapping in classes C and D, which the kill takes away. A git that lists a
                # directory does not end when that is gone.
                child.result(may_end_by=(signal.SIGBUS, signal.SIGKILL), within=20)
                # What a program began that has failed.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
        # The mount point may be a dead one at this moment, or be given back.
        self.world.await_end()
        if self.disk:
            self.disk.cut(self.choose)
            self.world.unlock()
        try:
            self.world.begin()
        except Failure as failure:
            raise Failure(failure, "; the mount point has", *self.world.mount.rglob("*"))
        try:
            look_at(self.world, name, self.works)
        except Failure as failure:
            raise Failure(failure, self.world.command("file", "fsck", "--recursive", self.world.below / name, check=False))

    def run(self, work, name):
        os.setsid()
        file = os.open(notes(self.world, work, name), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        directory = self.world.mount / name
        def note(number):
            # If the mount goes before SQLite opens the directory that it wants to sync, SQLite does without that. In a power cut
            # it would have gone too.
            os.statvfs(directory)
            os.write(file, b"%d\n" % number)
        try:
            work(directory, note)
        except Exception as error:
            if not gone(error, directory):
                raise Failure(name, repr(error), getattr(error, "sqlite_errorname", "")) from error

    @property
    def acknowledged_by(self):
        """The number of writes that each program has noted."""
        paths = [[notes(self.world, work, name) for name in CLASSES] for work in self.works]
        return [sum(line != b"-1" for path in of_one if path.exists() for line in path.read_bytes().splitlines())
                for of_one in paths]


def loses_nothing(directory, programs, rounds, seed, with_cuts=False, lies=False):
    """Kills so often, or for so many seconds if that is a text. Gives a sentence."""
    world = World(directory, programs)
    disk = power.Disk(world, lies) if with_cuts else None
    world.begin().classes()
    work = Rounds(world, seed, disk)
    if disk:
        disk.keep()
    number, end = 0, time.monotonic() + (float(rounds) if isinstance(rounds, str) else float("inf"))
    def sentence():
        by = work.acknowledged_by
        return (f"none of {sum(by):,} acknowledged writes lost under {number:,} {'power cuts' if disk else 'kills'}: " +
                ", ".join(f"{one.__name__} {count:,}" for one, count in zip(work.works, by)))
    try:
        while number != rounds and time.monotonic() < end:
            work.kill()
            number += 1
            if number % 50 == 0:
                world.command("file", "fsck", "--recursive", *(world.below / name for name in CLASSES))
                print(sentence(), flush=True)
    except BaseException:
        # The mount may be dead.
        with contextlib.suppress(Failure):
            world.end()
        raise
    world.end()
    return sentence()


@check("what was synced outlives power cuts, and is missed where a disk has only said so")
def cuts(world, _):
    # In a child, which enters a mount namespace with another boot id.
    def rounds(name, lies):
        seed = random.randrange(1 << 32)
        (world.root / name).mkdir()
        try:
            sentence = Child(world, lambda: loses_nothing(world.root / name, world.programs, 4, seed, True, lies),
                             is_user=False).result()
        except Failure as failure:
            return require(lies and "are lost" in str(failure), "seed", seed, failure)
        require(not lies, sentence)
    rounds("honest-disk", False)
    rounds("lying-disk", True)


@check("after a power cut an open file has the size of what is left of it")
def size_after_cut(world, _):
    def work():
        (world.root / "cut").mkdir()
        cut = World(world.root / "cut", world.programs)
        disk, paths = power.Disk(cut), [cut.mount / name / "cut" for name in CLASSES]
        cut.begin().classes()
        def write():
            for path in paths:
                with open(path, "wb", 0) as file:
                    file.write(b"x" * 50_000)
                    os.fsync(file.fileno())
                    synced(path.parent)
                    file.write(b"y" * 50_000)
        def look():
            for path in paths:
                same(os.stat(path).st_size, 100_000, "the control: what the header claims")
                with open(path, "rb") as file:
                    same(os.fstat(file.fileno()).st_size, 50_000, path.parent.name)
                    same(file.read(), b"x" * 50_000)
                with open(path, "ab") as file:
                    same(file.tell(), 50_000)
                    file.write(b"z")
                same(os.stat(path).st_size, 50_001)
        cut.child(write)
        os.kill(cut.process(), signal.SIGKILL)
        cut.await_end()
        disk.cut(power.HeaderAlone())
        cut.unlock()
        cut.begin()
        try:
            cut.child(look)
        finally:
            cut.end()
    Child(world, work, is_user=False).result()


def main(directory, programs, rounds, with_cuts):
    """Rounds: so many, or minutes with an 'm' behind them."""
    seed = random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    rounds = str(float(rounds[:-1]) * 60) if rounds.endswith("m") else int(rounds)
    print(loses_nothing(directory, programs, rounds, seed, with_cuts), flush=True)
    return 0
