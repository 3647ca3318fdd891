"""What the mount and the kernel remember of files is not believed after another program has changed them."""

import ctypes
import os
import signal
import subprocess
import time

from checks import CACHED, GUARDED, check, read, write
from world import LIBC, require, same


def change(path, other, times):
    """Another program gives a file below the bytes of one of the same stored size, at the same times of modification."""
    content = read(other)
    with open(path, "r+b", 0) as file:
        require(os.fstat(file.fileno()).st_size == len(content), "the control: the sizes differ")
        file.write(content)
    os.utime(path, ns=times)


def length(path):
    """The length that the mount itself says, which the kernel may not answer: AT_STATX_FORCE_SYNC of statx(2)."""
    answer = ctypes.create_string_buffer(256)
    require(LIBC.statx(-100, os.fsencode(path), 0x2000, 0x7ff, answer) == 0, "statx fails")
    return int.from_bytes(answer.raw[40:48], "little")


@check("the length of a file is the present one, though size and time below are as before", *CACHED, *GUARDED)
def lengths(world, name):
    below, mount = world.below / name, world.mount / name
    def work():
        for number in (100, 200, 300):
            write(mount / f"length{number}", bytes(number))
        write(mount / "length", bytes(100))
        # Older than a moment, so that the mount remembers it.
        time.sleep(4.2)
        status = os.stat(below / "length")
        for number in (200, 300, 100, 200):
            length(mount / "length")
            change(below / "length", below / f"length{number}", (status.st_atime_ns, status.st_mtime_ns))
            same(length(mount / "length"), number)
    world.child(work)


@check("an opening sees content of the same length and time that another program has put there", *CACHED)
def pages(world, name):
    below, mount = world.below / name, world.mount / name
    def work():
        first, second = os.urandom(9000), os.urandom(9000)
        for path, content in ((mount / "pages", first), (mount / "other", second)):
            write(path, content)
        status = os.stat(below / "pages")
        for _ in range(3):
            same(read(mount / "pages"), first)
        change(below / "pages", below / "other", (status.st_atime_ns, status.st_mtime_ns))
        require(read(mount / "pages") == second, "the kernel has kept former content")
    world.child(work)


@check("the attributes of an open file wait for no keychain")
def hanging(world, _):
    path = world.mount / "A/hanging"
    def work():
        write(path, bytes(5000))
        with open(path, "rb", 0):
            subprocess.run([world.programs / "keychainctl", "lock"], check=True)
            if world.daemon:
                os.kill(world.daemon.pid, signal.SIGSTOP)
            began = time.monotonic()
            try:
                for _ in range(8):
                    same(length(path), 5000)
            finally:
                if world.daemon:
                    os.kill(world.daemon.pid, signal.SIGCONT)
            require(time.monotonic() - began < 20, "each look has waited")
    try:
        world.child(work)
    finally:
        world.unlock()
