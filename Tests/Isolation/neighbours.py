"""How long a user waits for the system's daemon while another user keeps it as busy as it can."""

import contextlib
import mmap
import os
import signal
import struct
import time

import client
from client import Client
from world import done, fork

ROUNDS, PROGRAMS, CONNECTIONS, ITEMS = 200, 8, 16, 2000


def find_all(one):
    """Asks for all items with their secrets, and reads all of them."""
    asked = client.wire.Query(item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, wants_secrets=True, all=True)
    one.write(one.message(find=asked))
    while one.receive()[0].more:
        pass


def add(one):
    name = os.urandom(8).hex()
    one.ask(name.encode(), add=client.wire.Add(
        item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=client.texts(svce=name), secret_size=len(name)))


def ask_and_not_read(one):
    """The answers fill what the kernel and the daemon keep for a connection."""
    one.stream.setblocking(False)
    asked = client.wire.Query(item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, wants_secrets=True, all=True)
    with contextlib.suppress(BlockingIOError):
        while True:
            one.stream.sendall(one.message(find=asked))
    time.sleep(1)


def connect(one):
    """Connects anew, as often as it can."""
    Client(one.path).stream.close()


KINDS = {"nothing": None, "long searches": find_all, "writes": add, "questions whose answers nobody reads": ask_and_not_read,
         "connections": connect}


def press(path, work, count, number):
    """Does this work on many connections in turn, and counts it. A refusal is no end."""
    ones, finished = [None] * CONNECTIONS, 0
    while True:
        for place in range(CONNECTIONS):
            try:
                if ones[place] is None:
                    ones[place] = Client(path)
                    ones[place].path = path
                work(ones[place])
                finished += 1
                struct.pack_into("Q", count, 8 * number, finished)
            except (client.Refused, OSError):
                ones[place] = None


def longest(path):
    """Milliseconds that the slowest and the middle one of many look-ups took, each after a breath."""
    one, figures = Client(path), []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        one.find()
        figures.append((time.perf_counter() - began) * 1e3)
        time.sleep(0.01)
    return max(figures), sorted(figures)[ROUNDS // 2]


def fill(path):
    one = Client(path)
    for _ in range(ITEMS):
        add(one)


def run(world):
    path = world.system.path
    done(lambda: fill(path), world.ann)
    done(lambda: Client(path).add(None, b"of the neighbour"), world.bob)

    count = mmap.mmap(-1, 8 * PROGRAMS)

    def begin(work, number):
        world.ann.become()
        press(path, work, count, number)

    print("| meanwhile | done of it | a look-up | the slowest of 200 |\n|---|---|---|---|")
    for name, work in KINDS.items():
        count[:] = bytes(len(count))
        running = [fork(lambda work=work, number=number: begin(work, number)) for number in range(PROGRAMS if work else 0)]
        try:
            slowest, middle = done(lambda: longest(path), world.bob)
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        finished = sum(struct.unpack(f"{PROGRAMS}Q", count))
        print(f"| {name} | {finished} | {middle:.1f} ms | {slowest:.0f} ms |", flush=True)
    return 0
