"""Programs write while their daemon is killed, again and again. What it has acknowledged is there afterwards, once, and in the
keychain of the program that has written it."""

import contextlib
import os
import random
import signal

import client
from client import Client
from world import Broken, done, fork


def write(path, name, acknowledged):
    """Adds items, each of which has a name that is used once, until it is told to end; notes what is acknowledged."""
    count, one = 0, None
    while True:
        count += 1
        item = client.wire.Add(
            item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=client.texts(svce=name, acct=str(count)),
            secret_size=len(name))
        try:
            one = one or Client(path)
            one.ask(name.encode(), add=item)
            os.write(acknowledged, f"{name} {count}\n".encode())
        except (client.Refused, OSError) as error:
            # The daemon has ended: nobody knows whether it was added, and nobody was told so.
            if str(error).startswith("-"):
                raise
            one = None


def stored(path, name):
    """The items that are there, by their numbers."""
    one = Client(path)
    asked = client.wire.Query(item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=client.texts(svce=name),
                              wants_secrets=True, all=True)
    one.write(one.message(find=asked))
    found, more = [], True
    while more:
        answer, tail = one.receive()
        for item in answer.items:
            values = dict(zip(item.attributes.text_codes, item.attributes.texts))
            if tail[:item.secret_size] != name.encode():
                raise Broken(f"an item of {name} has another secret")
            tail = tail[item.secret_size:]
            found.append(int(values[int.from_bytes(b"acct", "big")]))
        more = answer.more
    return found


def run(world, rounds):
    """Two users with two programs each."""
    log = f"{world.base}/acknowledged"
    acknowledged = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    writers = {f"{person.name}-{number}": person for person in (world.ann, world.bob) for number in (1, 2)}

    def begin(name, person):
        person.become()
        write(world.system.path, name, acknowledged)

    running = [fork(lambda name=name, person=person: begin(name, person)) for name, person in writers.items()]
    size = 0
    try:
        for _ in range(rounds):
            # When some more was acknowledged: in the midst of something.
            wanted = size + random.randrange(1, 100)
            while (size := os.stat(log).st_size) < wanted:
                for pid in running:
                    if os.waitpid(pid, os.WNOHANG)[0]:
                        raise Broken("a program that writes has ended")
                os.sched_yield()
            world.system.end(signal.SIGKILL)
            world.system.start()
    finally:
        for pid in running:
            os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    with open(log, encoding="utf-8") as file:
        told = [line.split() for line in file]
    found = {name: done(lambda name=name: stored(world.system.path, name), person) for name, person in writers.items()}

    def count_lost(told):
        return len([number for name, number in told if int(number) not in found[name]])

    lost, twice = count_lost(told), sum(len(numbers) - len(set(numbers)) for numbers in found.values())
    if count_lost([*told, (next(iter(found)), "0")]) != lost + 1:
        raise Broken("one that was lost would not be noticed")
    print(f"isolation: {rounds} kills of the system's daemon, {len(told)} acknowledged writes, {lost} lost, {twice} there twice")
    return 1 if lost or twice or not told else 0
