"""What each class allows in each state of the keychain, cell by cell."""

import errno
import os
import subprocess

from checks import check, fails, read, write
from world import CLASSES, same, until

# A letter is a class, in the order of CLASSES. '+': the call succeeds; '-': it gets EACCES; '.': it cannot be tried.
STATES = ("unlocked", "locked", "locked, the fifth class's time is over", "before the first unlock")
TABLE = {       # classes:  ABECD    ABECD    ABECD    ABECD
    "open":               ("+++++", "--+++", "---++", "----+"),
    "open to write":      ("+++++", "--+++", "---++", "----+"),
    "cut by name":        ("+++++", "--+++", "---++", "----+"),
    "read open":          ("+++++", "-++++", "-+-++", "....."),
    "write open":         ("+++++", "-++++", "-+-++", "....."),
    "cut open":           ("+++++", "-++++", "-+-++", "....."),
    "make":               ("+++++", "-++++", "-+-++", "-+--+"),
    "open made":          ("+++++", ".-+++", ".-.++", ".-..+"),
    "class to D":         ("+++++", "--+++", "---++", "----+"),
    "class to B":         ("+++++", "--+++", "---++", "----+"),
    "class to A":         ("+++++", "-----", "-----", "-----"),
    **{name: ("+++++",) * 4 for name in ("stat", "list", "read class", "chmod", "link", "rename", "unlink")},
}
CONTENT = b"content" * 1000


def perform(work, path, file):
    def to(name):
        os.setxattr(path, "user.keychain.class", CLASSES[name].encode())
    match work:
        case "open": same(read(path), CONTENT)
        case "open to write": os.close(os.open(path, os.O_RDWR))
        case "cut by name": os.truncate(path, 5)
        case "read open": same(os.pread(file, 7, 0), b"content")
        case "write open": os.pwrite(file, b"c", 0)
        case "cut open": os.ftruncate(file, 9)
        case "make": write(f"{path}.made", CONTENT)
        case "open made": same(read(path.with_name(path.name.replace("open made", "make") + ".made")), CONTENT)
        case "class to D" | "class to B" | "class to A": to(work[-1])
        case "stat": same(os.stat(path).st_size, len(CONTENT))
        case "list": same(path.name in os.listdir(path.parent), True)
        case "read class": same(os.getxattr(path, "user.keychain.class").decode(), CLASSES[path.parent.parent.name])
        case "chmod": os.chmod(path, 0o640)
        case "link": os.link(path, f"{path}.link")
        case "rename": os.rename(path, f"{path}.renamed")
        case "unlink": os.unlink(path)


@check("each class allows in each state of the keychain what the table says, and a restart loses nothing")
def table(world, _):
    places = {name: world.mount / name / "table" for name in CLASSES}
    def path(name, work, state):
        return places[name] / f"{STATES.index(state)} {work}"
    def make():
        for place in places.values():
            place.mkdir()
        for name in CLASSES:
            for work in TABLE:
                for state in STATES:
                    write(path(name, work, state), CONTENT)
    def row(state, work, files):
        letters = ""
        for name, wanted in zip(CLASSES, TABLE[work][STATES.index(state)]):
            try:
                if wanted != ".":
                    perform(work, path(name, work, state), files.get(name))
                letters += "." if wanted == "." else "+"
            except PermissionError as error:
                letters += "-" if error.errno == errno.EACCES else "?"
        return letters
    def look(state, files):
        same({work: row(state, work, files) for work in TABLE},
             {work: cells[STATES.index(state)] for work, cells in TABLE.items()}, state)
    def while_it_runs():
        for place in places.values():
            write(place / "held", CONTENT)
        files = {name: os.open(places[name] / "held", os.O_RDWR) for name in CLASSES}
        look(STATES[0], files)
        for state, words in ((STATES[1], ()), (STATES[2], ("--now",))):
            subprocess.run([world.programs / "keychainctl", "lock", *words], check=True)
            # With a daemon the lock is seen within a moment.
            until(lambda: fails(errno.EACCES, lambda: open(places["A" if state == STATES[1] else "E"] / "held")), state)
            look(state, files)
    def all_is_there():
        for name in CLASSES:
            for state in STATES[1:]:
                same(read(path(name, "open", state)), CONTENT, name, state)
        for name, state in (("B", 1), ("B", 2), ("B", 3), ("E", 1), ("C", 1), ("D", 3)):
            same(read(path(name, "make", STATES[state]).with_suffix(".made")), CONTENT, "made:", name, STATES[state])
    world.child(make)
    try:
        world.child(while_it_runs)
        world.restart()
        world.child(lambda: look(STATES[3], {}))
    finally:
        world.unlock()
    world.child(all_is_there)
