"""What a lock leaves in the memory of the mount's process, as root or a debugger sees it."""

import os

from checks import CACHED, check, read, write
from keys import Keys
from world import CLASSES, PASSCODE, Child, found_in, memory_has, require, same, until


@check("after a lock the mount's process has no plaintext of guarded files")
def plaintext_after_lock(world, _):
    markers = {name: os.urandom(24) for name in CLASSES}
    def work():
        for name, marker in markers.items():
            write(world.mount / name / "marked", marker * 40_000)
            same(read(world.mount / name / "marked"), marker * 40_000)
    world.child(work)
    pid = world.process()
    try:
        # The control is the name of the mount point, which this process has in its memory.
        require(memory_has(pid, str(world.mount).encode()), "the search finds nothing at all")
        world.lock()
        for name in CLASSES:
            require(not memory_has(pid, markers[name]), "plaintext of", name)
    finally:
        world.unlock()


def needles(world, paths):
    store, device_key = world.key_files
    keys = Keys(store, device_key.read_bytes(), PASSCODE)
    named = {f"class key {number}": key for number, key in keys.of_class.items()}
    for name, path in paths.items():
        named[f"file key {name}"], named[f"content key {name}"] = keys.of_file(path)
    return named


@check("after a lock the mount's process has no key of guarded files, nor of their classes")
def keys_after_lock(world, _):
    ready, closed, locked, done = (world.root / f"home/keys-{word}" for word in ("ready", "closed", "locked", "done"))
    for path in (ready, closed, locked, done):
        path.unlink(missing_ok=True)
    def hold():
        files = {}
        for name in CLASSES:
            write(world.mount / name / "keyed", os.urandom(50_000))
            files[name] = open(world.mount / name / "keyed", "r+b", 0)
            files[name].write(b"once more")
        ready.touch()
        # An open file of class B goes on while locked, and its key stays.
        until(closed.exists, "the search takes too long")
        files["B"].close()
        locked.touch()
        until(done.exists, "the search takes too long")
    holder = Child(world, hold)
    try:
        until(ready.exists, "no file is open")
        pid = world.process()
        named = needles(world, {name: world.below / name / "keyed" for name in CLASSES})
        # The control.
        seen = found_in(pid, named)
        require({f"file key {name}" for name in CLASSES} <= seen, "of open files the search finds only", seen)
        closed.touch()
        until(locked.exists, "the file of class B is not closed")
        world.lock("--now")
        # Those of classes C and D stay until the system restarts.
        stay = {f"{kind} key {name}" for kind in ("file", "content") for name in CACHED} | {"class key 3", "class key 4"}
        left = set(named)
        def nothing_is_left():
            left.intersection_update(found_in(pid, named) - stay)
            return not left
        until(nothing_is_left, "these keys are left after the lock:", left)
        require({"file key C", "file key D"} <= found_in(pid, named), "the search finds no key at all")
    finally:
        done.touch()
        world.unlock()
    holder.result()
