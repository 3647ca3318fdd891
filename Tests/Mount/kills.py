"""A mount that is killed while programs write: what was acknowledged is there, and every file is whole.

Three programs of the user write below the mount:
  - one adds records to a file and syncs each;
  - one commits to an SQLite database;
  - one saves files by writing a new one, syncing it and giving it the place of the old one.
Each notes what has returned, outside of the mount. After a kill the next mount begins while the former mount point may still be
there, and all of it is read.
"""

import contextlib
import errno
import os
import random
import signal
import sqlite3
import time

from world import CLASSES, Child, World, require, same


def gone(error, directory):
    """Whether a call failed since the mount has gone. SQLite has one word for that and for other errors, and the kernel gives EIO
    for a request that was being read: then the mount point tells."""
    if isinstance(error, OSError) and error.errno in (errno.ENOTCONN, errno.ECONNABORTED):
        return True
    try:
        os.statvfs(directory)
        return not os.path.ismount(directory.parent)
    except OSError as other:
        return other.errno in (errno.ENOTCONN, errno.ECONNABORTED, errno.ENOENT)


def records(directory, notes):
    file = os.open(directory / "records", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    number = os.fstat(file).st_size // 16
    while True:
        os.write(file, b"%015d\n" % number)
        os.fsync(file)
        os.write(notes, b"%d\n" % number)
        number += 1


def rows(directory, notes):
    base = sqlite3.connect(directory / "rows.db", isolation_level=None, timeout=1)
    if directory.name in "CD":
        base.execute("pragma journal_mode=wal")
    base.execute("pragma synchronous=full")
    base.execute("create table if not exists t(number integer primary key, filler)")
    number = base.execute("select count(*) from t").fetchone()[0]
    while True:
        base.execute("insert into t values(?, randomblob(500))", (number,))
        os.write(notes, b"%d\n" % number)
        number += 1


def saves(directory, notes):
    path = directory / "saved"
    number = int(path.read_text().split()[0]) + 1 if path.exists() else 0
    while True:
        with open(directory / "saved.new", "w") as file:
            file.write(f"{number} " + "x" * 20_000)
            file.flush()
            os.fsync(file.fileno())
        os.rename(directory / "saved.new", path)
        os.write(notes, b"%d\n" % number)
        number += 1


WORK = (records, rows, saves)


def last(path):
    words = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return int(words[-1]) if words else -1


def check(world, name):
    directory, noted = world.mount / name, {work: last(world.root / f"home/{work.__name__}-{name}") for work in WORK}

    def look():
        content = (directory / "records").read_bytes() if noted[records] >= 0 else b""
        whole = content[:len(content) // 16 * 16]
        same(whole, b"".join(b"%015d\n" % number for number in range(len(whole) // 16)), "records")
        require(len(whole) // 16 > noted[records], "a synced record is lost:", len(whole) // 16, noted[records])
        # A write that was not synced may have been cut off by the kill; it is removed, as any program does with its own log.
        if len(content) != len(whole):
            os.truncate(directory / "records", len(whole))
        with contextlib.closing(sqlite3.connect(directory / "rows.db")) as base:
            same(base.execute("pragma integrity_check").fetchone(), ("ok",))
            if noted[rows] >= 0:
                same(base.execute("select count(*), max(number) + 1 from t where number <= ?",
                                  (noted[rows],)).fetchone(), (noted[rows] + 1,) * 2, "committed rows")
        if noted[saves] >= 0:
            number, _, filler = (directory / "saved").read_text().partition(" ")
            require(int(number) >= noted[saves], "a saved file is an older one")
            same(filler, "x" * 20_000)
    world.child(look)
    return noted


def main(directory, programs, rounds):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    world = World(directory, programs).begin().classes()
    acknowledged = 0
    for number in range(rounds):
        name = chance.choice("ABCD")
        children = []
        for work in WORK:
            def run(work=work):
                notes = os.open(world.root / f"home/{work.__name__}-{name}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                try:
                    work(world.mount / name, notes)
                except Exception as error:
                    if not gone(error, world.mount / name):
                        raise
            children.append(Child(world, run))
        time.sleep(chance.uniform(0.02, 0.3))
        os.kill(world.process(), signal.SIGKILL)
        for child in children:
            # SQLite's write-ahead log is a mapping in classes C and D, which the kill takes away.
            child.result(may_end_by=signal.SIGBUS)
        # The mount point may be a dead one at this moment, or be given back.
        world.await_end()
        world.begin()
        acknowledged = sum(last(world.root / f"home/{work.__name__}-{one}") + 1 for work in WORK for one in CLASSES)
        check(world, name)
        if number % 50 == 49 or number == rounds - 1:
            world.command("file", "fsck", "--recursive", *(world.below / name for name in CLASSES))
            print(f"{number + 1} kills, {acknowledged} acknowledged writes, none lost", flush=True)
    world.end()
    require(acknowledged > 0, "nothing was written")
    return 0
