"""What programs find in a mount of protected files, and what a lock leaves of it.

    mount.py PROGRAMS [WORD]...        PROGRAMS has keychainctl and keychain-mount; with WORDs only checks that have them
    mount.py PROGRAMS --kills ROUNDS   kills.py, also with --cuts
    mount.py PROGRAMS --builds         programs.py
    mount.py PROGRAMS --speed          speed.py

It prints a line for each check and ends with 1 if one failed. Scripts/check-mount has made what it needs.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import pathlib
import random
import resource
import select
import shutil
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
import tempfile
import time
import traceback

import caches
import kills
import memory
import programs
import room
import speed
import table
from checks import CACHED, CHECKS, GUARDED, NotTried, check, fails, read, write
from world import (CLASSES, LIBC, PASSCODE, USER, Child, Failure, World, call, memory_has, refused, require, same, until)

# So many worlds make the checks that need no daemon.
LANES = 2
PASSED, FAILED, NOT_TRIED = b"+", b"-", b"?"

# ---- One set of files


@check("programs read and write, and the directory below has ciphertext alone", *CLASSES)
def ciphertext(world, name):
    marker = os.urandom(32)
    path = world.mount / name / "letter"
    control = world.root / "home/letter"
    world.child(lambda: [write(place, marker * 5000) for place in (path, control)])
    same(world.child(lambda: read(path)), marker * 5000)
    require(marker in read(control), "the control does not see plaintext")
    require(marker not in read(world.below / name / "letter"), "plaintext lies below")
    found = world.command("file", "class", world.below / name / "letter").stdout
    require(CLASSES[name] in found, "the class is", found)


@check("the command and the mount see one set of files")
def one_set(world, _):
    world.child(lambda: write(world.mount / "C/of-mount", b"by the mount"))
    same(world.command("file", "cat", world.below / "C/of-mount").stdout, "by the mount")
    world.command("file", "write", world.below / "C/of-command", words="by the command")
    same(world.child(lambda: read(world.mount / "C/of-command")), b"by the command")
    # Written in the place of a file that the mount has read, and has open.
    def follow():
        with open(world.mount / "C/of-command", "rb") as old:
            same(old.read(), b"by the command")
            subprocess.run([world.programs / "keychainctl", "file", "write", world.below / "C/of-command"],
                           input=b"once more", check=True)
            until(lambda: read(world.mount / "C/of-command") == b"once more", "the new content is not seen")
            old.seek(0)
            same(old.read(), b"by the command", "the open file")
    world.child(follow)


@check("a file that a program writes is not converted below")
def conversion(world, _):
    def work():
        with open(world.mount / "C/busy", "wb", 0) as file:
            file.write(b"one")
            result = subprocess.run([world.programs / "keychainctl", "file", "unprotect", world.below / "C/busy"],
                                    capture_output=True, text=True)
            require(result.returncode != 0 and "has it open for writing" in result.stderr, result)
            file.write(b"two")
        same(read(world.mount / "C/busy"), b"onetwo")
        subprocess.run([world.programs / "keychainctl", "file", "unprotect", world.below / "C/busy"], check=True)
        until(lambda: read(world.mount / "C/busy") == b"onetwo", "what became a plain file")
    world.child(work)
    same(read(world.below / "C/busy"), b"onetwo")
    (world.below / "C/busy").unlink()


@check("the size is the content's length, and blocks are those below", *CLASSES)
def size(world, name):
    def work():
        path = world.mount / name / "sized"
        for count in (0, 1, 4096, 16384, 100_001):
            write(path, b"x" * count)
            same(os.stat(path).st_size, count)
        with open(path, "ab") as file:
            file.write(b"yz")
            file.flush()
            same(os.fstat(file.fileno()).st_size, 100_003)
        return os.stat(path).st_blocks
    require(world.child(work) * 512 >= 100_003)
    same(os.stat(world.below / name / "sized").st_size // 4096 > 24, True)


@check("a plain file is read as it is, is not written, and is replaced by a protected one")
def plain(world, _):
    world.run("sh", "-c", "echo plain > plain; echo plain > saved; echo plain > emptied", cwd=world.below)
    def work():
        path = world.mount / "plain"
        same(read(path), b"plain\n")
        refused(errno.ENODATA, lambda: os.getxattr(path, "user.keychain.class"), "its class")
        refused(errno.EPERM, lambda: open(path, "r+b"), "opening it for writing")
        refused(errno.EPERM, lambda: os.truncate(path, 3), "cutting it")
        same(read(path), b"plain\n")
        write(world.mount / "new", b"new")
        os.rename(world.mount / "new", world.mount / "saved")
        write(world.mount / "emptied", b"other")
        return [os.getxattr(world.mount / one, "user.keychain.class") for one in ("saved", "emptied")]
    same(set(world.child(work)), {CLASSES["C"].encode()})
    require(b"other" not in read(world.below / "emptied"))
    require(b"plain" not in read(world.below / "emptied"))


@check("with --json the errors of the programs that mount and unmount are JSON, and the exit status stays")
def json_errors(world, _):
    absent = world.root / "home/absent"
    for words in (("mount", absent, world.mount), ("unmount", absent)):
        plain, told = (world.command("file", *words, *option, check=False) for option in ((), ("--json",)))
        error = json.loads(told.stderr)["error"]
        require(plain.returncode != 0 and plain.stderr.rstrip() == error["message"], error, "is not", plain.stderr)
        same([told.returncode, error["status"]], [plain.returncode] * 2, "the exit status")


@check("a damaged file gives EIO, one of another keychain ENOKEY, and both can be replaced and removed")
def strange(world, _):
    def flip(name, places):
        with open(world.below / "C" / name, "r+b") as file:
            for place in places:
                file.seek(place)
                byte = file.read(1)
                file.seek(place)
                file.write(bytes([byte[0] ^ 1]))
    directory = world.mount / "C/strange"
    def make():
        directory.mkdir()
        for name in ("content", "header", "sound"):
            write(directory / name, b"content" * 5000)
    world.child(make)
    world.command("file", "write", world.below / "C/strange/other", words="other",
                  environment={"HOME": str(world.root / "home/other")})
    flip("strange/content", [5000])
    flip("strange/header", [100, 2148])
    def look():
        refused(errno.EIO, lambda: read(directory / "content"), "reading damaged content")
        for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
            refused(errno.EIO, lambda: os.open(directory / "header", flags), "opening a damaged header")
            refused(errno.ENOKEY, lambda: os.open(directory / "other", flags), "opening a file of another keychain")
        for name in ("content", "header", "other"):
            os.stat(directory / name)
            write(directory / "new", b"new")
            os.rename(directory / "new", directory / name)
            same(read(directory / name), b"new")
            os.unlink(directory / name)
        same(read(directory / "sound"), b"content" * 5000)
    world.child(look)


@check("a refusal leaves a plain file as it is")
def plain_refused(world, _):
    (world.below / "A/plain").write_text("plain")
    (world.below / "A/large").write_text("plain" * 5000)
    for name in ("plain", "large"):
        os.chown(world.below / "A" / name, USER, USER)
    world.lock()
    try:
        def work():
            for name in ("plain", "large"):
                refused(errno.EACCES, lambda: open(world.mount / "A" / name, "wb"), "opening it with O_TRUNC")
                refused(errno.EACCES, lambda: os.truncate(world.mount / "A" / name, 0), "cutting it")
        world.child(work)
        same((world.below / "A/plain").read_text(), "plain")
        same((world.below / "A/large").read_text(), "plain" * 5000)
    finally:
        world.unlock()
    def replace():
        for name in ("plain", "large"):
            write(world.mount / "A" / name, b"new")
            same(read(world.mount / "A" / name), b"new")
    world.child(replace)
    for name in ("plain", "large"):
        require(b"plain" not in read(world.below / "A" / name) and b"new" not in read(world.below / "A" / name))


@check("a file that takes the place of another one has its class, if that is stronger")
def replaced_class(world, _):
    def work():
        os.setxattr(world.mount / "C", "user.keychain.class", CLASSES["C"].encode())
        for strong, weak, wanted in (("A", "C", "A"), ("D", "C", "C"), ("B", "D", "B"), ("A", "B", "A")):
            write(world.mount / "C/strong", b"old")
            write(world.mount / "C/weak", b"new")
            os.setxattr(world.mount / "C/strong", "user.keychain.class", CLASSES[strong].encode())
            os.setxattr(world.mount / "C/weak", "user.keychain.class", CLASSES[weak].encode())
            os.rename(world.mount / "C/weak", world.mount / "C/strong")
            same(os.getxattr(world.mount / "C/strong", "user.keychain.class").decode(), CLASSES[wanted], strong, weak)
            same(read(world.mount / "C/strong"), b"new")
        os.setxattr(world.mount / "C/strong", "user.keychain.class", CLASSES["A"].encode())
        subprocess.run(["sed", "-i", "s/new/saved/", world.mount / "C/strong"], check=True)
        same(os.getxattr(world.mount / "C/strong", "user.keychain.class").decode(), CLASSES["A"])
        # Exchanged files keep their classes.
        write(world.mount / "C/other", b"other")
        call(LIBC.renameat2, -100, os.fsencode(world.mount / "C/strong"), -100, os.fsencode(world.mount / "C/other"), 2)
        same(os.getxattr(world.mount / "C/strong", "user.keychain.class").decode(), CLASSES["C"])
        os.unlink(world.mount / "C/other")
    world.child(work)


@check("classes are read and set as user.keychain.class, of files and of directories")
def attribute(world, _):
    def work():
        directory, path = world.mount / "classes", world.mount / "classes/file"
        directory.mkdir()
        refused(errno.ENODATA, lambda: os.getxattr(directory, "user.keychain.class"))
        write(path, b"content")
        same(os.getxattr(path, "user.keychain.class").decode(), CLASSES["C"])
        for value in CLASSES.values():
            os.setxattr(path, "user.keychain.class", value.encode())
            os.setxattr(directory, "user.keychain.class", value.encode())
            write(directory / value, b"new")
            same([os.getxattr(one, "user.keychain.class").decode() for one in (path, directory, directory / value)],
                 [value] * 3)
            require("user.keychain.class" in os.listxattr(path))
        refused(errno.EINVAL, lambda: os.setxattr(path, "user.keychain.class", b"secret"))
        refused(errno.EPERM, lambda: os.removexattr(path, "user.keychain.class"))
        os.removexattr(directory, "user.keychain.class")
        os.mkdir(directory / "sub")
        write(directory / "sub/file", b"new")
        same(os.getxattr(directory / "sub/file", "user.keychain.class").decode(), CLASSES["C"])
        same(read(path), b"content")
    world.child(work)


# ---- The lock


def residency(mapping, count):
    """How many pages of a private mapping the system has."""
    pages = (ctypes.c_ubyte * count)()
    call(LIBC.mincore, ctypes.c_void_p(mapping), ctypes.c_size_t(count * 4096), pages)
    return sum(page & 1 for page in pages)


def mapped(descriptor, count):
    LIBC.mmap.restype = ctypes.c_void_p
    place = LIBC.mmap(None, ctypes.c_size_t(count), mmap.PROT_READ, mmap.MAP_PRIVATE, descriptor, ctypes.c_long(0))
    require(place not in (None, ctypes.c_void_p(-1).value), "no mapping")
    return place


def dies_of_touching(place):
    pid = os.fork()
    if pid == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.string_at(place, 1)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS


@check("after a lock no page of guarded files is in the system's memory, and a mapping of them reads nothing")
def pages(world, _):
    count = 64
    content = os.urandom(count * 4096)
    def work():
        places = {}
        for name in CLASSES:
            path = world.mount / name / "mapped"
            write(path, content)
            descriptor = os.open(path, os.O_RDONLY)
            places[name] = mapped(descriptor, len(content))
            same(ctypes.string_at(places[name], len(content)), content)
            same(residency(places[name], count), count, "pages before the lock,", name)
        subprocess.run([world.programs / "keychainctl", "lock"], check=True)
        until(lambda: residency(places["A"], count) == 0, "pages of A after the lock")
        require(dies_of_touching(places["A"]), "a mapping of A still reads")
        for name in CACHED:
            same(residency(places[name], count), count, "pages of the control,", name)
            same(ctypes.string_at(places[name], len(content)), content)
        # An open file of class B goes on, until it is closed.
        same(ctypes.string_at(places["B"], len(content)), content)
    try:
        world.child(work)
    finally:
        world.unlock()


@check("a lock that another user has on one file keeps no page of the others, and nothing waits for it for long")
def hostile_lock(world, _):
    count, content = 4, os.urandom(4 * 4096)
    name = world.mount / "A/many"
    def make():
        name.mkdir()
        for number in range(12):
            write(name / str(number), content)
        write(name / "stuck", b"stuck")
        write(name / "other", b"other")
    world.child(make)
    # Root stands for another user who may read the file below.
    with open(world.below / "A/many/stuck", "rb") as file, open(world.below / "A/many/other", "rb") as other:
        for one in (file, other):
            fcntl.fcntl(one, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 4096, 0))  # F_OFD_SETLK
        opened = [world.root / f"home/opened{number}" for number in range(3)]
        for path in opened:
            path.unlink(missing_ok=True)
        def held(number):
            with open(name / "stuck", "r+b") as writer:
                opened[number].touch()
                refused(errno.EBUSY, lambda: writer.truncate(0), "writing the file")
        children = [Child(world, lambda number=number: held(number)) for number in range(3)]
        until(lambda: all(path.exists() for path in opened), "the file does not open")
        def work():
            places = []
            for number in range(12):
                place = mapped(os.open(name / str(number), os.O_RDONLY), len(content))
                same(ctypes.string_at(place, len(content)), content)
                places.append(place)
            for _ in range(2):
                subprocess.run([world.programs / "keychainctl", "lock"], check=True)
                until(lambda: not any(residency(place, count) for place in places), "pages after the lock")
                subprocess.run([world.programs / "keychainctl", "unlock"], input=f"{PASSCODE}\n".encode(), check=True)
                for place in places:
                    same(ctypes.string_at(place, len(content)), content)
        try:
            world.child(work)
            # Openings of the file take no threads from the others: what is refused once is refused at once for a while.
            many = [Child(world, lambda: refused(errno.EBUSY, lambda: open(name / "other", "wb"), "O_TRUNC")) for _ in range(36)]
            same(world.child(lambda: read(name / "3")), content)
            # Reading needs no lock.
            same(world.child(lambda: read(name / "stuck")), b"stuck")
            for child in children + many:
                child.result()
        finally:
            world.unlock()


@check("a class that another program has set counts from the next opening on, and at the lock")
def class_from_outside(world, _):
    marker = os.urandom(24)
    path = world.mount / "C/outside"
    def change(name):
        subprocess.run([world.programs / "keychainctl", "file", "class", "--set", CLASSES[name], world.below / "C/outside"],
                       check=True, stdout=subprocess.DEVNULL)
    def work():
        write(path, marker * 20_000)
        with open(path, "rb") as old:
            same(old.read(), marker * 20_000)
            change("A")
            with open(path, "r+b") as file:
                refused(errno.ENODEV, lambda: mmap.mmap(file.fileno(), 0), "a shared mapping")
                same(file.read(), marker * 20_000)
            change("D")
            with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
                same(mapping[:24], marker)
            change("A")
            same(read(path), marker * 20_000)
            place = mapped(old.fileno(), 4096)
            same(ctypes.string_at(place, 24), marker)
            subprocess.run([world.programs / "keychainctl", "lock"], check=True)
            until(lambda: residency(place, 1) == 0, "pages after the lock")
    pid = world.process()
    try:
        world.child(work)
        require(not memory_has(pid, marker), "plaintext in the process")
    finally:
        world.unlock()


@check("what another program changes is seen at the next opening, and within a moment in an open file", *CACHED)
def changes(world, name):
    path = world.mount / name / "changed"
    def work():
        for letter in b"xy":
            write(world.mount / name / f"{letter}", bytes([letter]) * 65536)
        write(path, b"x" * 65536)
        status = os.stat(world.below / name / "changed")
        with open(path, "rb") as old:
            same(set(old.read()), {ord("x")})
            write(world.below / name / "changed", read(world.below / name / f"{ord('y')}"))
            # With the old time, too.
            os.utime(world.below / name / "changed", ns=(status.st_atime_ns, status.st_mtime_ns))
            same(set(read(path)), {ord("y")}, "the next opening")
            write(world.below / name / "changed", read(world.below / name / f"{ord('x')}"))
            def seen():
                old.seek(0)
                return set(old.read()) == {ord("x")}
            until(seen, "the change is not seen in an open file")
        os.rename(world.below / name / f"{ord('y')}", world.below / name / "seen")
        until((world.mount / name / "seen").exists, "a new name is not seen")
    world.child(work)


@check("commands do not encrypt a second time what they find in the mount")
def twice(world, _):
    def work():
        path = world.mount / "C/once"
        write(path, b"content")
        for words in (("protect", path), ("protect", "--recursive", world.mount / "C"), ("write", path),
                      ("class", "--set", CLASSES["A"], world.mount / "C")):
            result = subprocess.run([world.programs / "keychainctl", "file", *words], input=b"other", capture_output=True)
            require(result.returncode != 0, *words, result)
        same(read(path), b"content")
    world.child(work)


@check("after a lock calls on open files and new ones get EACCES, by class, and work again after the unlock")
def refusals(world, _):
    def work():
        files, paths = {}, {}
        for name in CLASSES:
            paths[name] = world.mount / name / "open"
            write(paths[name], b"content")
            files[name] = os.open(paths[name], os.O_RDWR)
        subprocess.run([world.programs / "keychainctl", "lock"], check=True)
        for name, file in files.items():
            if name == "A":
                # With a daemon the lock is seen within a moment.
                until(lambda: fails(errno.EACCES, lambda: os.pread(file, 9, 0)), "reading A")
                refused(errno.EACCES, lambda: os.pwrite(file, b"x", 0), "writing A")
                refused(errno.EACCES, lambda: os.ftruncate(file, 0), "cutting A")
            else:
                same(os.pread(file, 9, 0), b"content")
                same(os.pwrite(file, b"C", 0), 1)
                os.ftruncate(file, 9)
                os.ftruncate(file, 7)
            # Class E stays open for its time after the lock.
            if name in ("A", "B"):
                until(lambda: fails(errno.EACCES, lambda: open(paths[name])), "opening", name)
            else:
                same(read(paths[name]), b"Content")
            # Names and attributes are those of the directory below.
            same(os.stat(paths[name]).st_size, 7)
            os.chmod(paths[name], 0o640)
            os.rename(paths[name], world.mount / name / "moved")
            os.rename(world.mount / name / "moved", paths[name])
            require("open" in os.listdir(world.mount / name))
        refused(errno.EACCES, lambda: write(world.mount / "A/new", b""), "making a file in A")
        same(os.path.exists(world.mount / "A/new"), False)
        write(world.mount / "B/new", b"made while locked")
        refused(errno.EACCES, lambda: read(world.mount / "B/new"), "opening what was made in B")
        subprocess.run([world.programs / "keychainctl", "unlock"], input=f"{PASSCODE}\n".encode(), check=True)
        same(os.pread(files["A"], 9, 0), b"content")
        same(read(world.mount / "B/new"), b"made while locked")
        same(read(paths["B"]), b"Content")
    try:
        world.child(work)
    finally:
        world.unlock()


@check("files of the class 'when user inactive' close when their time after the lock is over, pages too")
def inactive(world, _):
    path = world.mount / "E/inactive"
    def work():
        write(path, b"x" * 4096)
        file = os.open(path, os.O_RDWR)
        place = mapped(file, 4096)
        for policy, words in (("1s", ()), ("10m", ("--now",))):
            subprocess.run([world.programs / "keychainctl", "passcode", "policy", "--after-lock", policy], check=True,
                           input=f"{PASSCODE}\n".encode(), stdout=subprocess.DEVNULL)
            same(ctypes.string_at(place, 1), b"x")
            subprocess.run([world.programs / "keychainctl", "lock", *words], check=True)
            if not words:
                # The control: it may be read until then.
                fails(errno.EACCES, lambda: os.pread(file, 1, 0))
            until(lambda: fails(errno.EACCES, lambda: os.pread(file, 1, 0)), "the file stays open")
            until(lambda: residency(place, 1) == 0, "the page stays")
            refused(errno.EACCES, lambda: open(path), "opening it")
            subprocess.run([world.programs / "keychainctl", "unlock"], input=f"{PASSCODE}\n".encode(), check=True)
    try:
        world.child(work)
    finally:
        world.unlock()


@check("a lock forces to the disk what programs have written to open guarded files")
def forced(world, _):
    def attempt():
        with open(world.mount / "A/unsynced", "wb", 0) as file, open(world.mount / "C/unsynced", "wb", 0) as control:
            file.write(b"x" * 5000)
            control.write(b"x" * 5000)
            require(not is_durable(world.below / "A/unsynced"), "it is durable before the lock")
            subprocess.run([world.programs / "keychainctl", "lock"], check=True)
            subprocess.run([world.programs / "keychainctl", "unlock"], input=f"{PASSCODE}\n".encode(), check=True)
            require(not is_durable(world.below / "C/unsynced"), "it is durable without a lock")
            return is_durable(world.below / "A/unsynced")
    # A keychain waits for three seconds, which are not always enough beside other programs.
    require(any(world.child(attempt) for _ in range(5)), "no lock has forced it to the disk")


@check("a lock comes while files are written, with an announcement and without one")
def lock_under_load(world, _):
    begun, stop, noted = (world.root / f"home/{word}" for word in ("begun", "stop", "refused"))
    for path in (begun, stop):
        path.unlink(missing_ok=True)
    def work():
        size = 0
        with open(world.mount / "A/busy", "wb", 0) as busy, open(world.mount / "C/busy", "wb", 0) as other:
            begun.touch()
            while not stop.exists():
                try:
                    size += busy.write(b"x" * (1 << 20))
                except OSError as error:
                    same(error.errno, errno.EACCES)
                    noted.touch()
                other.write(b"x" * 4096)
        return size
    child = Child(world, work)
    try:
        until(begun.exists, "the files do not open")
        for words in ((), ("--now",), ()):
            world.lock(*words)
            until(noted.exists, "no write is refused")
            world.unlock()
            noted.unlink()
    finally:
        stop.touch()
    size = child.result()
    # Each write that succeeded is there, and no other.
    def look():
        same(os.stat(world.mount / "A/busy").st_size, size)
        os.unlink(world.mount / "A/busy")
    world.child(look)


OF_THE_LOCK = (pages, refusals, memory.plaintext_after_lock, memory.keys_after_lock, table.table, forced, lock_under_load,
               ciphertext, caches.hanging)


# ---- POSIX


@check("rename takes a place, refuses it, or exchanges", *CLASSES)
def rename(world, name):
    def work():
        one, two = world.mount / name / "one", world.mount / name / "two"
        def renameat2(flags):
            call(LIBC.renameat2, -100, os.fsencode(one), -100, os.fsencode(two), flags)
        write(one, b"1")
        write(two, b"2")
        refused(errno.EEXIST, lambda: renameat2(1), "RENAME_NOREPLACE")
        renameat2(2)
        same((read(one), read(two)), (b"2", b"1"))
        with open(two, "rb") as old:
            os.rename(one, two)
            same((read(two), old.read(), one.exists()), (b"2", b"1", False))
    world.child(work)


@check("hard and symbolic links, and files without a name", *CLASSES)
def links(world, name):
    def work():
        directory = world.mount / name
        write(directory / "first", b"first")
        os.link(directory / "first", directory / "second")
        same(os.stat(directory / "first").st_nlink, 2)
        same(os.stat(directory / "first").st_ino, os.stat(directory / "second").st_ino)
        with open(directory / "second", "ab") as file:
            file.write(b" and more")
        same(read(directory / "first"), b"first and more")
        os.symlink("first", directory / "symbolic")
        same((os.readlink(directory / "symbolic"), read(directory / "symbolic")), ("first", b"first and more"))
        os.symlink("x" * 4000, directory / "long")
        same(len(os.readlink(directory / "long")), 4000)
        os.symlink("nowhere", directory / "dangling")
        refused(errno.ENOENT, lambda: read(directory / "dangling"))
        with open(directory / "first", "r+b") as file:
            os.unlink(directory / "first")
            os.unlink(directory / "second")
            same(os.fstat(file.fileno()).st_nlink, 0)
            file.write(b"FIRST")
            file.seek(0)
            same(file.read(), b"FIRST and more")
            file.truncate(2)
            same(os.fstat(file.fileno()).st_size, 2)
        refused(errno.ENOENT, lambda: read(directory / "first"))
    world.child(work)


@check("two programs add to one file, and no record is lost", *CLASSES)
def appending(world, name):
    path = world.mount / name / "log"
    def work(letter):
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        for number in range(150):
            os.write(file, f"{letter}{number:09}\n".encode())
    children = [Child(world, lambda letter=letter: work(letter)) for letter in "xyz"]
    for child in children:
        child.result()
    lines = world.child(lambda: read(path)).decode().splitlines()
    same(sorted(lines), sorted(f"{letter}{number:09}" for letter in "xyz" for number in range(150)))
    for letter in "xyz":
        same([line for line in lines if line[0] == letter], [f"{letter}{number:09}" for number in range(150)])


@check("content past the system's memory (O_DIRECT)", *CLASSES)
def direct(world, name):
    def work():
        path = world.mount / name / "direct"
        memory = mmap.mmap(-1, 1 << 20)
        memory[:] = os.urandom(1 << 20)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o644)
        same(os.pwrite(file, memory, 0), 1 << 20)
        back = mmap.mmap(-1, 1 << 20)
        same(os.preadv(file, [back], 0), 1 << 20)
        same(back[:], memory[:])
        same(read(path), memory[:])
    world.child(work)


@check("shared mappings are written where they may be, and refused elsewhere", *CLASSES)
def mappings(world, name):
    def work():
        path = world.mount / name / "mapping"
        write(path, b"a" * 20_000)
        with open(path, "r+b") as file:
            if name in GUARDED:
                refused(errno.ENODEV, lambda: mmap.mmap(file.fileno(), 0), "a shared mapping")
            else:
                with mmap.mmap(file.fileno(), 0) as mapping:
                    mapping[10_000:10_005] = b"hello"
                    mapping.flush()
                    same(read(path)[9_999:10_006], b"ahelloa")
            with mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE) as own:
                own[0:1] = b"b"
                same(own[:2], b"ba")
            same(read(path)[:2], b"aa")
        write(world.mount / name / "script", b"#!/bin/sh\necho ran\n")
        os.chmod(world.mount / name / "script", 0o755)
        shutil.copy("/bin/true", world.mount / name / "program")
        same(subprocess.run([world.mount / name / "script"], capture_output=True).stdout, b"ran\n")
        same(subprocess.run([world.mount / name / "program"]).returncode, 0)
    world.child(work)


@check("random reads, writes, cuts and holes give what a model gives", *CLASSES)
def model(world, name):
    def work():
        chance = random.Random(name)
        content = bytearray()
        file = os.open(world.mount / name / "model", os.O_RDWR | os.O_CREAT, 0o644)
        for step in range(400):
            place, count = chance.randrange(120_000), chance.choice((1, 100, 4096, 20_000))
            match chance.randrange(6):
                case 0 | 1:
                    new = chance.randbytes(count)
                    if len(content) < place:
                        content.extend(bytes(place - len(content)))
                    content[place:place + count] = new
                    same(os.pwrite(file, new, place), count)
                case 2:
                    same(os.pread(file, count, place), bytes(content[place:place + count]), "step", step)
                case 3:
                    content = content[:place] + bytes(max(0, place - len(content)))
                    os.ftruncate(file, place)
                case 4:
                    call(LIBC.fallocate, file, 3, ctypes.c_long(place), ctypes.c_long(count))
                    end = min(place + count, len(content))
                    if place < end:
                        content[place:end] = bytes(end - place)
                case 5 if name in CACHED and content:
                    with mmap.mmap(file, 0) as mapping:
                        same(mapping[place:place + count], bytes(content[place:place + count]))
                        end = min(place + count, len(content))
                        if place < end:
                            mapping[place:end] = content[place:end] = chance.randbytes(end - place)
            same(os.fstat(file).st_size, len(content), "step", step)
        os.fsync(file)
        same(read(world.mount / name / "model"), bytes(content))
        return bytes(content)
    content = world.child(work)
    same(subprocess.run([world.programs / "keychainctl", "file", "cat", world.below / name / "model"], user=USER,
                        group=USER, env=world.environment, capture_output=True).stdout, content)


@check("holes read as zeros and take no room, and space is made or refused", *CLASSES)
def holes(world, name):
    def work():
        file = os.open(world.mount / name / "holes", os.O_RDWR | os.O_CREAT, 0o644)
        os.ftruncate(file, 1 << 30)
        os.pwrite(file, b"end", (1 << 30) - 3)
        same(os.pread(file, 5, 1 << 20), bytes(5))
        require(os.fstat(file).st_blocks * 512 < 1 << 20, "blocks", os.fstat(file).st_blocks)
        # The whole file counts as data.
        same((os.lseek(file, 5, os.SEEK_DATA), os.lseek(file, 5, os.SEEK_HOLE)), (5, 1 << 30))
        refused(errno.ENXIO, lambda: os.lseek(file, 1 << 30, os.SEEK_DATA))
        os.ftruncate(file, 0)
        os.posix_fallocate(file, 0, 100_000)
        same(os.fstat(file).st_size, 100_000)
        call(LIBC.fallocate, file, 1, ctypes.c_long(0), ctypes.c_long(200_000))
        same(os.fstat(file).st_size, 100_000, "KEEP_SIZE")
        call(LIBC.fallocate, file, 0x10, ctypes.c_long(50_000), ctypes.c_long(100_000))
        same(os.fstat(file).st_size, 150_000, "ZERO_RANGE")
        refused(errno.EOPNOTSUPP, lambda: call(LIBC.fallocate, file, 8, ctypes.c_long(0), ctypes.c_long(4096)))
        refused(errno.ENOSPC, lambda: call(LIBC.fallocate, file, 0, ctypes.c_long(0), ctypes.c_long(1 << 50)))
    world.child(work)


@check("locks keep other programs out: flock, fcntl and of open files", *CLASSES)
def locks(world, name):
    path = world.mount / name / "locked"
    def holds():
        file = open(path, "r+b")
        for work in (lambda: fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB),
                     lambda: fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)):
            try:
                work()
                return False
            except BlockingIOError:
                pass
        return True
    def work():
        write(path, b"x" * 100)
        file = open(path, "r+b")
        require(not Child(world, holds).result(), "the control is kept out")
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.lockf(file, fcntl.LOCK_EX, 20, 0)
        return Child(world, holds).result()
    require(world.child(lambda: work()), "a second program gets a lock")


@check("times, modes, the mask, and attributes of others", *CLASSES)
def attributes(world, name):
    def work():
        path = world.mount / name / "attributes"
        os.umask(0o027)
        write(path, b"x")
        same(stat.S_IMODE(os.stat(path).st_mode), 0o640)
        os.mkdir(world.mount / name / "sub", 0o777)
        same(stat.S_IMODE(os.stat(world.mount / name / "sub").st_mode), 0o750)
        os.chmod(path, 0o400)
        refused(errno.EACCES, lambda: open(path, "r+b"), "writing without the right")
        os.chmod(path, 0o600)
        os.utime(path, ns=(1_234_567_891_123_456_789, 987_654_321_987_654_321))
        same((os.stat(path).st_atime_ns, os.stat(path).st_mtime_ns), (1_234_567_891_123_456_789, 987_654_321_987_654_321))
        before = time.time() - 1
        with open(path, "ab") as file:
            file.write(b"y")
            file.flush()
            written = os.fstat(file.fileno()).st_mtime_ns
            require(written > before * 1e9, "the time of modification after a write")
            os.fsync(file.fileno())
            time.sleep(1.2)
            same(os.fstat(file.fileno()).st_mtime_ns, written, "the time of modification after fsync")
        os.setxattr(path, "user.other", b"value")
        same(os.getxattr(path, "user.other"), b"value")
        refused(errno.EEXIST, lambda: os.setxattr(path, "user.other", b"2", os.XATTR_CREATE))
        require("user.other" in os.listxattr(path))
        os.removexattr(path, "user.other")
        refused(errno.ENODATA, lambda: os.getxattr(path, "user.other"))
        refused(errno.EPERM, lambda: os.chown(path, 0, 0), "giving the file away")
        require(os.statvfs(path).f_bavail > 0 and os.statvfs(path).f_namemax >= 255)
        same(os.statvfs(path).f_blocks, os.statvfs(world.below).f_blocks)
    world.child(work)


@check("names of all bytes and of 255, pipes and sockets, and large directories")
def names(world, _):
    def work():
        directory = os.fsencode(world.mount / "names")
        os.mkdir(directory)
        for name in (b"\xff\xfe", "ä".encode() * 127, b"-", b" ", b"new\nline"):
            write(directory + b"/" + name, name)
            same(read(directory + b"/" + name), name)
        refused(errno.ENAMETOOLONG, lambda: write(directory + b"/" + b"x" * 256, b""))
        os.mkfifo(directory + b"/pipe")
        with socket.socket(socket.AF_UNIX) as listener:
            os.chdir(directory)
            listener.bind("socket")
        same(stat.S_ISSOCK(os.stat(directory + b"/socket").st_mode), True)
        many = directory + b"/many"
        os.mkdir(many)
        wanted = {b"%d" % number for number in range(3000)}
        for name in wanted:
            os.close(os.open(many + b"/" + name, os.O_CREAT | os.O_WRONLY))
        found = os.listdir(many)
        same((len(found), set(found)), (len(wanted), wanted))
        same(sum(entry.stat().st_size for entry in os.scandir(many)), 0)
        for name in found:
            os.unlink(many + b"/" + name)
        os.rmdir(many)
    world.child(work)


@check("many programs at once")
def crowd(world, _):
    def work(seed):
        chance = random.Random(seed)
        for _ in range(200):
            # Past the system's memory each read is one request, and gives what one write has left.
            one = world.mount / "A" / f"crowd{chance.randrange(10)}"
            try:
                match chance.randrange(6):
                    case 0: write(one, bytes([seed]) * 5000)
                    case 1: same(len(set(read(one))) <= 1, True, "a read of two writes")
                    case 2: os.rename(one, world.mount / "A" / f"crowd{chance.randrange(10)}")
                    case 3: os.unlink(one)
                    case 4: os.listdir(world.mount / "A")
                    case 5: os.stat(one)
            except FileNotFoundError:
                pass
    for child in [Child(world, lambda seed=seed: work(seed)) for seed in range(8)]:
        child.result()
    world.command("file", "fsck", "--recursive", world.below / "A", check=True)


# ---- The mount itself


@check("another user, root too, sees nothing")
def others(world, _):
    refused(errno.EACCES, lambda: os.listdir(world.mount))


@check("two mounts of one directory, one within the other, or over files, are refused")
def second(world, _):
    for path in ("other", "below/inner", "filled", "/mnt/point"):
        (world.root / path).mkdir()
        os.chown(world.root / path, USER, USER)
    (world.root / "filled/file").touch()
    def fails(*words):
        result = world.command("file", "mount", *words, check=False)
        require(result.returncode != 0, *words)
        return result.stderr
    require("mounted already" in fails(world.below, world.root / "other"))
    require("mounted already" in fails(world.below / "C", world.root / "other"))
    require("mounted already" in fails(world.root, "/mnt/point"))
    require("lie in each other" in fails(world.below, world.below / "inner"))
    require("lie in each other" in fails("/", world.root / "other"))
    require("not empty" in fails(world.root / "other", world.root / "filled"))
    require("no directory" in fails(world.below, world.root / "absent"))
    (world.below / "inner").rmdir()


@check("a killed mount is given back by itself, or is replaced by the next one, and nothing is lost")
def killed(world, _):
    def work():
        with open(world.mount / "C/synced", "wb") as file:
            file.write(b"synced" * 1000)
            file.flush()
            os.fsync(file.fileno())
        write(world.mount / "A/closed", b"closed" * 1000)
    world.child(work)
    os.kill(world.process(), signal.SIGKILL)
    until(lambda: not world.is_mounted(), "the mount point stays")
    world.begin()
    same(world.child(lambda: read(world.mount / "C/synced")), b"synced" * 1000)
    same(world.child(lambda: read(world.mount / "A/closed")), b"closed" * 1000)
    world.command("file", "fsck", "--recursive", *(world.below / name for name in CLASSES))
    # The next one comes first, and the kernel still has the attributes of the mount point.
    os.kill(world.process("-c", world.mount), signal.SIGKILL)
    world.child(lambda: os.stat(world.mount))
    os.kill(world.process(), signal.SIGKILL)
    world.await_end()
    world.begin()
    same(world.child(lambda: read(world.mount / "A/closed")), b"closed" * 1000)


@check("a mount that ends while the kernel waits for it leaves no program waiting for ever, and the next one alone",
       "killed", "told to end")
def waited_for(world, how):
    path, ready = world.mount / "C/waited-for", world.root / "home/waited-for"
    ready.unlink(missing_ok=True)
    world.child(lambda: write(path, b"x" * 32768))
    process, watcher = world.process(), world.process("-c", world.mount)
    def hold():
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            for page in range(8):
                mapping[page * 4096] = 1
            ready.touch()
            # The mount ends before it has written the pages.
            try:
                mapping.flush()
            except OSError as error:
                return error.errno
    def waiting():
        """The threads of the mount that wait for a page in the kernel, where a kill does not end them."""
        found = set()
        with contextlib.suppress(OSError):
            for task in os.listdir(f"/proc/{process}/task"):
                if "folio" in pathlib.Path(f"/proc/{process}/task/{task}/wchan").read_text():
                    found.add(task)
        return found
    with open(world.below / "C/waited-for", "rb") as file:
        # The pages cannot be written.
        fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 4096, 0))  # F_OFD_SETLK
        holder = Child(world, hold)
        until(ready.exists, "nothing is mapped")
        os.kill(process, signal.SIGTERM)
        until(waiting, "no thread waits")
        if how == "killed":
            os.kill(process, signal.SIGKILL)
        # It has the place already, and may have the connection's number.
        world.begin()
        require(select.select([holder.end], [], [], 60)[0], "a program waits for ever")
        told = holder.result()
        require(told in (errno.EIO, errno.EBUSY, errno.ECONNABORTED), "the program is told", told)
        until(lambda: not any(os.path.exists(f"/proc/{one}") for one in (process, watcher)), "the mount does not end")
    same(len(world.child(lambda: read(path))), 32768, "the next mount")


@check("after a kill of the mount, a private mapping reads on over a lock, as docs/mount.md says")
def killed_mapping(world, _):
    content = os.urandom(4 * 4096)
    ready, locked = world.root / "home/mapped", world.root / "home/locked"
    def hold():
        write(world.mount / "A/mapped-on", content)
        place = mapped(os.open(world.mount / "A/mapped-on", os.O_RDONLY), len(content))
        same(ctypes.string_at(place, len(content)), content)
        ready.touch()
        until(locked.exists, "no lock comes")
        same(ctypes.string_at(place, len(content)), content, "the page of documents is too hard on the mount")
    holder = Child(world, hold)
    until(ready.exists, "nothing is mapped")
    os.kill(world.process(), signal.SIGKILL)
    until(lambda: not world.is_mounted(), "the mount point stays")
    world.lock()
    locked.touch()
    try:
        holder.result()
    finally:
        world.unlock()
        world.begin()


@check("it ends at SIGTERM with files open, and an unmount is refused meanwhile")
def ended(world, _):
    def work():
        with open(world.mount / "C/held", "wb", 0) as file:
            file.write(b"held")
            result = subprocess.run([world.programs / "keychainctl", "file", "unmount", world.mount])
            require(result.returncode != 0, "an unmount with a file open")
            file.write(b" on")
    world.child(work)
    ready, ended_ = world.root / "home/ready", world.root / "home/ended"
    def hold():
        with open(world.mount / "C/held", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
            # Nothing forces it to the mount.
            mapping[:4] = b"HELD"
            ready.touch()
            until(ended_.exists, "the mount does not end")
    holder = Child(world, hold)
    until(ready.exists, "no program has the file open")
    os.kill(world.process(), signal.SIGTERM)
    world.await_end()
    require(not world.is_mounted())
    ended_.touch()
    holder.result()
    world.begin()
    same(world.child(lambda: read(world.mount / "C/held")), b"HELD on")


@check("a mount that fails leaves no dead mount point, and a variable of the caller does not mislead it")
def failing(world, _):
    for path in ("failing", "failing-point"):
        (world.root / path).mkdir()
        os.chown(world.root / path, USER, USER)
    world.run("env", "_FUSE_COMMFD=1", world.programs / "keychainctl", "file", "mount", world.root / "failing",
              world.root / "failing-point")
    world.child(lambda: write(world.root / "failing-point/file", b"x"))
    world.command("file", "unmount", world.root / "failing-point")


@check("a program of the library that writes without a pause does not keep the mount from writing")
def fair(world, _):
    stop = world.root / "home/stop"
    stop.unlink(missing_ok=True)
    path = world.mount / "C/shared"
    world.child(lambda: write(path, b""))
    def beside():
        with open(world.below / "C/shared", "r+b") as file:
            while not stop.exists():
                fcntl.fcntl(file, 38, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 4096, 0))  # F_OFD_SETLKW
                time.sleep(0.003)
                fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_UNLCK, os.SEEK_SET, 0, 4096, 0))
    children = [Child(world, beside)]
    def work():
        with open(path, "ab", 0) as file:
            for number in range(100):
                file.write(b"%09d\n" % number)
        same(read(path), b"".join(b"%09d\n" % number for number in range(100)))
    try:
        world.child(work)
    finally:
        stop.touch()
        for child in children:
            child.result()


@check("a sync through a descriptor for reading forces what another one has written", *CLASSES)
def sync_by_reader(world, name):
    path = world.mount / name / "synced"
    def work():
        with open(path, "wb", 0) as file:
            file.write(b"x" * 5000)
        same(is_durable(world.below / name / "synced"), False, "the control: without a sync the header is durable")
        subprocess.run(["sync", path], check=True)
        same(is_durable(world.below / name / "synced"), True, "after sync(1)")
        for flag in (os.O_SYNC, os.O_DSYNC):
            file = os.open(path, os.O_RDWR | flag)
            os.pwrite(file, b"z", 1)
            same(is_durable(world.below / name / "synced"), True, "after a write with O_SYNC or O_DSYNC")
            os.close(file)
        # The owner of a file that nobody may write syncs it too.
        with open(path, "r+b", 0) as writer:
            writer.write(b"w")
            os.chmod(path, 0o444)
            subprocess.run(["sync", path], check=True)
            same(is_durable(world.below / name / "synced"), True, "after sync(1) of a file that is only read")
            same(stat.S_IMODE(os.stat(path).st_mode), 0o444)
            os.chmod(path, 0o644)
        with open(path, "rb") as reader, open(path, "r+b", 0) as writer:
            writer.write(b"y")
            os.fsync(reader.fileno())
            same(is_durable(world.below / name / "synced"), True, "after fsync of a reader")
    world.child(work)


def is_durable(path):
    """Whether the newest header has no boot mark (docs/file-format.md)."""
    page = read(path)[:4096]
    slots = [page[start:start + 512] for start in (0, 2048)]
    newest = max(slots, key=lambda slot: int.from_bytes(slot[56:64], "big"))
    return newest[224:240] == bytes(16)


@check("files that were made empty get their class from their directory, whatever its name")
def made_empty(world, _):
    def work():
        for name in (b"\xff\xfed", b"d" * 200):
            directory = os.fsencode(world.mount / "A") + b"/" + name
            os.mkdir(directory)
            for kind in ("mknod", "plain"):
                path = directory + b"/" + kind.encode()
                os.mknod(path, 0o600 | stat.S_IFREG)
                write(path, b"content")
                same(os.getxattr(path, "user.keychain.class").decode(), CLASSES["A"])
                same(read(path), b"content")
            shutil.rmtree(directory)
    world.child(work)


@check("the names and the ends of the program itself")
def program(world, _):
    mount = world.programs / "keychain-mount"
    require(world.run(mount, "--version").stdout.strip())
    same(world.run(mount, "--sideways", check=False).returncode, 64)
    same(world.run(mount, "one", check=False).returncode, 64)
    with open(f"/proc/{world.process()}/status") as file:
        require("CoreDumping:\t0" in file.read())
    pid = world.process()
    world.child(lambda: refused(errno.EACCES, lambda: open(f"/proc/{pid}/mem", "rb"), "looking into its memory"))


def main():
    built, words = sys.argv[1], sys.argv[2:]
    option = words.pop(0) if words and words[0].startswith("--") else None
    with tempfile.TemporaryDirectory(prefix="keychain-mount-") as directory:
        os.chmod(directory, 0o755)
        if option in ("--kills", "--cuts"):
            return kills.main(directory, built, words[0], option == "--cuts")
        if option == "--speed":
            return speed.main(directory, built, words)
        # What depends on the keychain's host is tried with a daemon too.
        again = [(f"{name}, with a daemon", work, argument) for name, work, argument in CHECKS if work in OF_THE_LOCK]
        lists = (programs.BUILDS, []) if option == "--builds" else (CHECKS, again)
        chosen, again = ([one for one in checks if not words or any(word in one[0] for word in words)] for checks in lists)
        # Most checks wait for something, so there are several worlds.
        queue = numbers_of(chosen)
        lanes = [Lane(chosen, queue, pathlib.Path(directory, f"embedded{number}"), built) for number in range(LANES)]
        lanes.append(Lane(again, numbers_of(again), pathlib.Path(directory, "daemon"), built, has_daemon=True))
        results, count = b"".join(lane.results() for lane in lanes), len(chosen + again)
        print(f"{results.count(PASSED)} of {count} checks passed" +
              (f", {results.count(NOT_TRIED)} not tried" if NOT_TRIED in results else ""))
        return 0 if count > 0 and len(results) == count and FAILED not in results else 1


def numbers_of(checks):
    """A pipe with a byte for each check, from which each is taken once."""
    queue, end = os.pipe()
    os.write(end, bytes(range(len(checks))))
    os.close(end)
    return queue


class Lane:
    """A child with a world of its own, which makes those checks that no other lane with the same queue has taken."""

    def __init__(self, checks, queue, root, programs, has_daemon=False):
        self.end, other = os.pipe()
        sys.stdout.flush()
        if os.fork():
            return os.close(other)
        try:
            world = None
            while index := os.read(queue, 1):
                if not world:
                    root.mkdir()
                    world = World(root, programs, has_daemon).begin().classes()
                os.write(other, outcome(world, *checks[index[0]]))
            if world:
                world.end()
        except BaseException:
            print(f"FAILED  {root.name}: {traceback.format_exc()}", flush=True)
            os.write(other, FAILED)
        finally:
            os._exit(0)

    def results(self):
        """A byte for each check that it has made."""
        with os.fdopen(self.end, "rb") as file:
            return file.read()


def outcome(world, name, work, argument):
    began = time.monotonic()
    try:
        work(world, argument)
        print(f"passed  {name} ({time.monotonic() - began:.1f} s)", flush=True)
        return PASSED
    except NotTried as reason:
        print(f"not tried  {name}: {reason}", flush=True)
        return FAILED if "KEYCHAIN_TRIES_ALL" in os.environ else NOT_TRIED
    except Exception as error:
        text = str(error) if isinstance(error, Failure) else traceback.format_exc()
        print(f"FAILED  {name}: {text}", flush=True)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
