"""What a lock leaves in the memory of a whole machine, seen from outside.

    scan.py PROGRAMS MACHINE       MACHINE is one of Scripts/test-machine

In the machine a user fills and maps files of classes A, B and C, and locks (machine/). Then the machine ends, and the pages that
still have their content are counted. With init_on_free=1 the kernel erases what it gives back. Controls: class C, which stays, and
a machine whose user does not lock.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent / "machine"))
from content import PAGES, mark

HERE = pathlib.Path(__file__).parent
ERASES = "init_on_free=1"


def pages(file, seed):
    """How many pages of each class are somewhere in a machine's memory."""
    counts = dict.fromkeys("ABC", 0)
    with open(file, "rb") as memory:
        while piece := memory.read(64 << 20):
            for name in counts:
                counts[name] += piece.count(mark(seed, name))
    return counts


def left(programs, machine, locks, options):
    with tempfile.TemporaryDirectory() as work:
        folder, memory, seed = pathlib.Path(work, "folder"), pathlib.Path(work, "memory"), os.urandom(16)
        shutil.copytree(HERE / "machine", folder, ignore=shutil.ignore_patterns("__pycache__"))
        for program in ("keychainctl", "keychain-mount"):
            shutil.copy(programs / program, folder)
        (folder / "LOCKS").write_text("yes" if locks else "no")
        (folder / "seed").write_bytes(seed)
        subprocess.run([HERE.parent.parent / "Scripts/test-machine", "run", machine, folder, "--memory", memory,
                        *(["--boot", options] if options else [])], check=True)
        return pages(memory, seed)


def main():
    programs, machine = pathlib.Path(sys.argv[1]), sys.argv[2]
    sentences, failed = [], False
    for locks, options in ((True, ERASES), (False, ERASES), (True, "")):
        counts = left(programs, machine, locks, options)
        sentences.append(f"{'locked' if locks else 'unlocked'}, {'with' if options else 'without'} {ERASES}: " +
                         ", ".join(f"{name} {count}" for name, count in counts.items()))
        guarded = counts["A"], counts["B"]
        # What the kernel gives back and does not erase may be anywhere.
        is_right = counts["C"] >= PAGES and (not options or guarded == (0, 0) if locks else min(guarded) >= PAGES)
        failed |= not is_right
        print(f"{'passed' if is_right else 'FAILED'}  {sentences[-1]}", flush=True)
    print(f"pages of {PAGES} that are left of each class: {'; '.join(sentences)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
