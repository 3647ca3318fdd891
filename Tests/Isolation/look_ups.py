"""How long a look-up takes with the system's daemon, and with that of a user, in turn."""

import statistics
import time

import client
from client import Client
from world import done

ROUNDS, CALLS = 40, 500


def microseconds(one):
    """Of a look-up, whose bytes are made before."""
    asked = [one.message(find=client.query(secret=True)) for _ in range(CALLS)]
    began = time.perf_counter()
    for request in asked:
        one.stream.sendall(request)
        one.stream.recv(1 << 16)
    return (time.perf_counter() - began) / CALLS * 1e6


def measure(world):
    hosts = [Client(world.system.path), Client(world.user.path, groups=["unconfined"])]
    for one in hosts:
        if one.caller.startswith("declared"):
            one.add(None, world.shared.encode())
        assert one.find() == f"found {world.shared}"
        microseconds(one)
    figures = [[], []]
    for count in range(ROUNDS):
        for host in (0, 1) if count % 2 else (1, 0):
            figures[host].append(microseconds(hosts[host]))
    system, user = map(statistics.median, figures)
    return (f"a look-up takes {system:.1f} µs with the system's daemon and {user:.1f} µs with a user's, "
            f"{system / user:.2f}×, the client's part in Python included")


def run(world):
    print(f"isolation: {done(lambda: measure(world), world.ann)}")
    return 0
