"""Power cuts below a mount: afterwards the disk has what was forced to it, and of the rest what it likes.

The mount's process tells a directory what it forces to the disk (forget.c). A cut kills it, and makes the directory below anew:
  - of a file each page is as it was when the file was last forced to the disk, or as it is now, and so is the size; of a file that
    never was there is a beginning (ForgetfulDisk of the tests draws sectors, and states in between);
  - a directory has the names of that time, or those of now;
  - the system has another boot id, and no key of the user in its memory.
"""

import os
import pathlib
import random
import shutil
import subprocess
import uuid

import world

PAGE = 4096
BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Disk:
    """The disk of a world, whose mount begins after this. It is the only one of its mount namespace."""

    def __init__(self, world_, lies=False):
        """With lies nothing that is forced to the disk reaches it: the control."""
        self.world, self.lies, self.copies = world_, lies, world_.root / "disk"
        self.copies.mkdir()
        os.chown(self.copies, world.USER, world.USER)
        library = world_.root / "forget.so"
        subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, pathlib.Path(__file__).parent / "forget.c"], check=True)
        world_.of_mount = {"LD_PRELOAD": str(library), "KEYCHAIN_TEST_DISK": str(self.copies)}
        if lies:
            world_.of_mount["KEYCHAIN_TEST_DISK_LIES"] = "1"
        # Only the processes of this one, and its children, are on the machine that restarts.
        world.call(world.LIBC.unshare, 0x20000)  # CLONE_NEWNS
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        self.boot = world_.root / "boot-id"
        self.boot.write_text(f"{uuid.uuid4()}\n")
        subprocess.run(["mount", "--bind", self.boot, BOOT_ID], check=True)
        world_.unlock()

    def keep(self):
        """The disk has everything that is there."""
        for path in self.copies.iterdir():
            path.unlink()
        # They keep their numbers, even if the mount removes them.
        self.held = []
        for directory, _, names in os.walk(self.world.below):
            self.copy(directory, names_of(directory))
            for name in names:
                path = pathlib.Path(directory, name)
                self.copy(path, path.read_bytes())

    def copy(self, path, content):
        self.held.append(world.Descriptor(path))
        (self.copies / str(os.lstat(path).st_ino)).write_bytes(content)

    def cut(self, choose):
        """What a power cut leaves. The mount's process is dead.

        choose: from the names of a directory, and the content of a file, as they were forced to the disk and as they are now.
        """
        below, new = self.world.below, self.world.root / "below.new"
        present = {os.lstat(path).st_ino: path for directory, _, names in os.walk(below)
                   for path in [pathlib.Path(directory), *(pathlib.Path(directory, name) for name in names)]}
        self.leave(os.lstat(below).st_ino, present, new, choose)
        self.held = []
        shutil.rmtree(below)
        new.rename(below)
        self.boot.write_text(f"{uuid.uuid4()}\n")
        self.keep()
        self.world.child(lambda: world.revoke(self.world.store_id))

    def leave(self, number, present, new, choose):
        """Makes what is left of the file with this number."""
        path, copied = present.get(number), self.copies / str(number)
        kept = copied.read_bytes() if copied.exists() else b""
        if path and path.is_dir():
            new.mkdir()
            for line in choose.names(kept, names_of(path)).splitlines():
                inode, _, name = line.partition(b" ")
                self.leave(int(inode), present, new / os.fsdecode(name), choose)
        else:
            content = path.read_bytes() if path else kept
            content = path.read_bytes() if path else kept
            new.write_bytes(choose.changed(kept, content) if copied.exists() else choose.beginning(content))
        if path:
            shutil.copystat(path, new)
        os.chown(new, world.USER, world.USER)


def names_of(directory):
    """As forget.c writes them. No name has the end of a line in it."""
    return b"".join(b"%d %s\n" % (entry.inode(), os.fsencode(entry.name)) for entry in os.scandir(directory))


class Chance:
    """Chooses by lot."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def names(self, old, new):
        return self.chance.choice((old, new))

    def changed(self, old, new):
        """Each page of one of the two, or all of one."""
        kind = self.chance.randrange(4)
        if kind < 2:
            return (old, new)[kind]
        size = max(len(old), len(new))
        parts = [content.ljust(size, b"\0") for content in (old, new)]
        pages = (self.chance.choice(parts)[start:start + PAGE] for start in range(0, size, PAGE))
        return b"".join(pages)[:len(self.chance.choice((old, new)))]

    def beginning(self, content):
        return content[:self.chance.randrange(len(content) // PAGE + 1) * PAGE]


class Forgetful:
    """Nothing has reached the disk that was not forced to it."""

    def names(self, old, new):
        return old

    def changed(self, old, new):
        return old

    def beginning(self, content):
        return b""


class HeaderAlone:
    """Of a file only the first page has reached the disk, without what it refers to."""

    def names(self, old, new):
        return new

    def changed(self, old, new):
        return new[:PAGE] + old[PAGE:]

    beginning = bytes
