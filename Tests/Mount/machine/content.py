"""Writes a file of each class, or maps it privately. Each page begins with a mark, which is computed here: the machine is not told it."""

import ctypes
import hashlib
import mmap
import pathlib
import sys
import time

PAGES = 256
HERE = pathlib.Path(__file__).parent


def mark(seed, name):
    return hashlib.sha256(seed + name.encode()).digest()


def resident(mapping):
    """How many pages of a mapping the system has."""
    pages = (ctypes.c_ubyte * PAGES)()
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapping))
    assert ctypes.CDLL(None).mincore(ctypes.c_void_p(start), ctypes.c_size_t(PAGES * 4096), pages) == 0
    return sum(page & 1 for page in pages)


def main():
    seed = (HERE / "seed").read_bytes()
    files = {name: pathlib.Path("mount", name, "content") for name in "ABC"}
    if sys.argv[1] == "write":
        for name, path in files.items():
            path.write_bytes((mark(seed, name) + bytes(4064)) * PAGES)
        return
    mappings = {}
    for name, path in files.items():
        with open(path, "rb") as file:
            mappings[name] = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
        # One byte of each page.
        assert len(mappings[name][::4096]) == PAGES
    # An open file of class B would stay open.
    mappings.pop("B").close()
    pathlib.Path("mapped").touch()
    while resident(mappings["A"]):
        time.sleep(0.2)
    pathlib.Path("unmapped").touch()
    time.sleep(3600)


if __name__ == "__main__":
    main()
