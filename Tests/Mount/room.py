"""Where something is used up: the disk, a quota, the descriptors of the process."""

import contextlib
import errno
import os
import subprocess

from checks import NotTried, check, fails, read, write
from world import USER, refused, require, same, until


LIMIT = 4 << 20


def full_disk(world, path):
    """Makes a small file system there; the error of a call that finds no room."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={LIMIT},mode=700,uid={USER},gid={USER}", "none", path], check=True)
    return errno.ENOSPC


def quota(world, path):
    """Makes a file system there of which only a part may be used."""
    image = world.root / "image"
    with open(image, "wb") as file:
        file.truncate(256 << 20)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
    mounted = subprocess.run(["mount", "-t", "btrfs", "-o", "loop", image, path], capture_output=True, text=True)
    if mounted.returncode != 0:
        raise NotTried(f"no file system with quotas: {mounted.stderr.splitlines()[0]}")
    for words in (["quota", "enable", path], ["qgroup", "limit", str(LIMIT), path]):
        subprocess.run(["btrfs", *words], check=True)
    os.chown(path, USER, USER)
    return errno.EDQUOT


@contextlib.contextmanager
def mounted(world, name, make=None, descriptors="unlimited"):
    """A further mount, with as many descriptors; its mount point, and what `make` says of the directory below."""
    below, point = (world.root / f"{name}-{word}" for word in ("below", "point"))
    for path in (below, point):
        path.mkdir()
        os.chown(path, USER, USER)
    made = make(world, below) if make else None
    limit = "true" if descriptors == "unlimited" else f"ulimit -n {descriptors}"
    world.run("sh", "-c", f'{limit} && exec "$0" "$@"', world.programs / "keychainctl", "file", "mount", below, point)
    try:
        yield point, made
    finally:
        world.command("file", "unmount", point)
        if make:
            until(lambda: subprocess.run(["umount", below], capture_output=True).returncode == 0)


@check("where there is no room a call is refused, nothing is lost, and the room is used again after something is removed",
       full_disk, quota)
def full(world, make):
    with mounted(world, make.__name__, make) as (point, number):
        def work():
            write(point / "kept", b"kept" * 10_000)
            def fill():
                with open(point / "filler", "wb", 0) as file:
                    while True:
                        file.write(b"x" * 65536)
            refused(number, fill)
            same(read(point / "kept"), b"kept" * 10_000)
            same(set(read(point / "filler")), {ord("x")})
            refused(number, lambda: write(point / "more", b"y" * (1 << 20)))
            os.unlink(point / "filler")
            # The kernel says a moment later that it has forgotten the file.
            until(lambda: not fails(number, lambda: write(point / "again", b"z" * (1 << 20))), "the space is not back")
            same(read(point / "again"), b"z" * (1 << 20))
            same(read(point / "kept"), b"kept" * 10_000)
        world.child(work)


@check("more files than the process may have descriptors")
def many(world, _):
    with mounted(world, "numerous", descriptors=400) as (point, _):
        def work():
            for number in range(1_500):
                write(point / "new", b"%d" % number)
                os.rename(point / "new", point / str(number))
            for _ in range(2):
                subprocess.run(["ls", "-l", point], check=True, stdout=subprocess.DEVNULL)
                for number in range(0, 1_500, 7):
                    same(read(point / str(number)), b"%d" % number)
                # Each takes two descriptors. Other files rest meanwhile.
                held = [open(point / str(number), "rb") for number in range(120)]
                same([file.read() for file in held], [b"%d" % number for number in range(len(held))])
                for file in held:
                    file.close()
            os.link(point / "7", point / "linked")
            os.unlink(point / "7")
            os.rename(point / "14", point / "renamed")
            same([read(point / name) for name in ("linked", "renamed")], [b"7", b"14"])
            same(os.stat(point / "linked").st_nlink, 1)
        world.child(work)


@check("more directories than the process may have descriptors: a call is refused and makes none, until some are removed")
def directories(world, _):
    with mounted(world, "deep", descriptors=400) as (point, _):
        def work():
            write(point / "kept", b"kept")
            made = []
            def make():
                while True:
                    path = point / str(len(made))
                    path.mkdir()
                    made.append(path)
            refused(errno.EMFILE, make)
            for path in made[-50:]:
                path.rmdir()
            same(set(os.listdir(point)) ^ {"kept", *(path.name for path in made[:-50])}, set())
            same(read(point / "kept"), b"kept")
            write(point / "new", b"new")
            same(read(point / "new"), b"new")
            return len(made)
        require(world.child(work) > 200, "few directories are too many")
