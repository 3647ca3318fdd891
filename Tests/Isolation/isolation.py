"""Attacks on what a program with a group of its own keeps at the system's daemon, by other programs of the same user.

    isolation.py PROGRAMS [--all] [WORD]...      PROGRAMS has keychainctl and keychaind; with WORDs only attacks that have them;
                                                 with --all an attack that cannot be tried here is a fault
    isolation.py PROGRAMS --kills ROUNDS         kills.py

Each attack is tried where nothing stops it, the control, and then on what should. It prints a line of the table for each, and
ends with 1 if one did not end as it is written here. Scripts/check-isolation has made what it needs.
"""

import collections
import contextlib
import ctypes
import errno
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback

import client
import kills
import look_ups
import neighbours
from client import Client
from world import (LIBC, PYTHON, Broken, Child, Naive, World, ask_naive, attempt, call, done, fork,
                   is_reached, status)

ATTACKS = []
CLONE_FS, CLONE_FILES, CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x200, 0x400, 0x20000, 0x10000000, 0x20000000
NUMBERS = {"x86_64": {"clone": 56, "execveat": 322, "pidfd_getfd": 438, "process_vm_readv": 310},
           "aarch64": {"clone": 220, "execveat": 281, "pidfd_getfd": 438, "process_vm_readv": 270}}[os.uname().machine]
DEPUTY = "the threat model: an entitled program is its user's deputy"


def attack(name, control, result):
    """Expressions that the outcomes of the control and of the attack must match. SECRET is what must not be had."""
    return lambda work: ATTACKS.append((name, control, result, work))


def system_call(name, *words):
    # As long as the kernel wants them: those beyond the sixth lie in memory.
    result = LIBC.syscall(NUMBERS[name], *(ctypes.c_long(word) if isinstance(word, int) else word for word in words))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def group_of(pid):
    return int(status(pid, "Gid")[1])


# ---- What an application does to items that are not its own (CVE-2026-28864, -86905, -28860)


def of_another(order):
    """The control is the daemon of the user, where a program says itself which groups it has."""
    def work(world):
        def act(path):
            one = Client(path, [world.mail])
            return getattr(one, order)(world.mail, b"forged")

        done(lambda: Client(world.user.path, [world.mail]).add(world.mail, world.secret.encode()), world.ann)
        control = done(lambda: act(world.user.path), world.ann)
        client.outcome(lambda: done(lambda: Client(world.user.path, [world.mail]).delete(world.mail), world.ann))
        result = done(lambda: act(world.system.path), world.ann)
        with world.program() as mailer:
            kept = mailer.order("find", world.mail)
        return control, f"{result}; kept: {kept}"
    return work


attack("reads what is another program's", "found SECRET", "-34018.*; kept: found SECRET")(of_another("find"))
attack("changes it", "updated", "-34018.*; kept: found SECRET")(of_another("update"))
attack("deletes it", "deleted", "-34018.*; kept: found SECRET")(of_another("delete"))


@attack("does so without naming a group", "found SECRET", "found everybody.*, updated, deleted; kept: found SECRET")
def implicit(world):
    def act(path, *orders):
        one = Client(path, [world.mail])
        return ", ".join(client.outcome(lambda: getattr(one, order)(None, b"everybody-has-this")) for order in orders)

    def find_on_user():
        Client(world.user.path, [world.mail]).add(world.mail, world.secret.encode())
        said = act(world.user.path, "find")
        act(world.user.path, "delete")
        return said

    control = done(find_on_user, world.ann)
    result = done(lambda: act(world.system.path, "find", "update", "delete"), world.ann)
    done(lambda: Client(world.system.path).add(None, world.shared.encode()), world.ann)
    with world.program() as mailer:
        return control, f"{result}; kept: {mailer.order('find', world.mail)}"


@attack("stores an item of the same name, which would show that there is one", "-25299", "added, deleted")
def same_name(world):
    def twice(path, group):
        one = Client(path, [group])
        return ", ".join(client.outcome(work) for work in (lambda: one.add(group, b"1"), lambda: one.delete(group)))

    def duplicate():
        one = Client(world.user.path, [world.mail])
        one.add(world.mail, b"1")
        try:
            return client.outcome(lambda: one.add(world.mail, b"1"))
        finally:
            one.delete(world.mail)

    def unconfined():
        one = Client(world.system.path)
        one.delete()
        said = twice(world.system.path, "unconfined")
        Client(world.system.path).add(None, world.shared.encode())
        return said

    return done(duplicate, world.ann), done(unconfined, world.ann)


@attack("says that it is the owner, and takes everything along", "exported 1", "^-34018")
def owner(world):
    def control():
        one = Client(world.user.path, [world.mail], owner=True)
        one.add(world.mail, world.secret.encode())
        said = client.outcome(one.export)
        one.delete(world.mail)
        return said

    return done(control, world.ann), done(lambda: Client(world.system.path, owner=True).export(), world.ann)


@attack("says that it is the owner, and reads", "found SECRET", "-34018.*; found everybody-has-this$")
def owner_reads(world):
    def control():
        Client(world.user.path, [world.mail]).add(world.mail, world.secret.encode())
        one = Client(world.user.path, ["other"], owner=True)
        said = client.outcome(lambda: one.find(world.mail))
        one.delete(world.mail)
        return said

    def result():
        one = Client(world.system.path, owner=True)
        asked = client.query(secret=True)
        asked.all = True
        found = sorted(secret.decode() for secret in one.ask(find=asked)[1])
        return f"{client.outcome(lambda: one.find(world.mail))}; found {', '.join(found)}"

    return done(control, world.ann), done(result, world.ann)


@attack("knows the reference of the item", "found SECRET", "-25300")
def reference(world):
    def act(path, groups, identifier):
        asked = client.wire.Query(item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD, wants_secrets=True,
                                  persistent_reference=b"genp" + bytes.fromhex(identifier))
        _, secrets = Client(path, groups).ask(find=asked)
        return f"found {secrets[0].decode()}"

    def control():
        one = Client(world.user.path, [world.mail])
        one.add(world.mail, world.secret.encode())
        said = act(world.user.path, [world.mail], one.reference(world.mail))
        one.delete(world.mail)
        return said

    with world.program() as mailer:
        identifier = mailer.order("reference", world.mail)
    return done(control, world.ann), done(lambda: act(world.system.path, [], identifier), world.ann)


@attack("counts the items", "1 more", "0 more")
def count(world):
    def more(path, add, delete):
        one = Client(path, [world.mail])
        before = one.count()
        add()
        after = one.count()
        delete()
        return f"{after - before} more"

    def control():
        one = Client(world.user.path, [world.mail])
        return more(world.user.path, lambda: one.add(world.mail, b"1"), lambda: one.delete(world.mail))

    def order(name):
        with world.program() as mailer:
            return mailer.order(name, world.common, "1")

    said = done(control, world.ann)
    ready, gone = os.pipe(), os.pipe()

    def wait():
        os.write(ready[1], b"r")
        os.read(gone[0], 1)

    child = Child(lambda: more(world.system.path, wait, lambda: None), world.ann)
    os.read(ready[0], 1)
    order("add")
    os.write(gone[1], b"r")
    result = child.result()
    order("delete")
    return said, result


@attack("does the owner's work", "^((?!-34018).)*$", "^(-34018[^;]*(; |$)){5}$")
def owners_work(world):
    def act(path):
        one = Client(path, [world.mail], owner=True)
        kinds = dict(check=client.wire.Nothing(), compact=client.wire.Nothing(), expired_items=client.wire.ExpiredItems(),
                     remove_expired=client.wire.Nothing(), give_up_store=client.wire.Nothing())
        if path == world.user.path:
            # What follows needs it.
            del kinds["give_up_store"]
        return "; ".join(client.outcome(lambda: one.ask(**{kind: asked})[0].WhichOneof("kind")).replace(";", ",")
                         for kind, asked in kinds.items())

    return done(lambda: act(world.user.path), world.ann), done(lambda: act(world.system.path), world.ann)


@attack("listens to the changes of what is another program's", "told of isolation.mail", "^told of unconfined, told of unconfined$")
def changes(world):
    def listen(path, group):
        listener = Client(path, [group])
        listener.write(listener.message(subscribe=client.wire.Subscribe()))
        listener.receive()
        return listener

    def heard(listener):
        return f"told of {listener.receive()[0].item_event.access_group}"

    def control():
        listener = listen(world.user.path, world.mail)
        one = Client(world.user.path, [world.mail])
        one.add(world.mail, b"1")
        said = heard(listener)
        one.delete(world.mail)
        return said

    def result():
        listener = listen(world.system.path, "anything")
        os.write(ready[1], b"r")
        os.read(gone[0], 1)
        one = Client(world.system.path)
        # What was not told first could be told second.
        said = []
        for _ in range(2):
            one.update(None, world.shared.encode())
            said.append(heard(listener))
        return ", ".join(said)

    said = done(control, world.ann)
    ready, gone = os.pipe(), os.pipe()
    child = Child(result, world.ann)
    os.read(ready[0], 1)
    with world.program() as mailer:
        mailer.order("update", world.mail, world.secret)
    os.write(gone[1], b"r")
    return said, child.result()


@attack("another user asks", "found SECRET", "-34018")
def other_user(world):
    with world.program() as mailer:
        control = mailer.order("find", world.mail)
    return control, done(lambda: Client(world.system.path).find(world.mail), world.bob)


@attack("another user runs the program itself", "found SECRET", "-25300")
def other_users_program(world):
    with world.program() as mailer, world.program(person=world.bob) as bobs:
        return mailer.order("find", world.mail), bobs.order("find", world.mail)


@attack("another entitled program asks", "found SECRET", "-34018.*; -25300")
def other_program(world):
    with world.program() as mailer, world.program(world.server) as server:
        return mailer.order("find", world.mail), f"{server.order('find', world.mail)}; {server.order('find', '-')}"


# ---- The connection


def with_entitled_program(world, path, request, is_late=False):
    """Connects, writes, and becomes an entitled program; another process, which has the socket too, reads the answer."""
    ours, theirs = socket.socketpair()

    def act():
        if is_late:
            one = Client(path)
            socket.send_fds(theirs, [b"connected"], [one.stream.fileno()])
            theirs.recv(1)
            one.stream.sendall(request(one))
        else:
            stream = client.open_socket(path)
            stream.sendall(request(None))
            socket.send_fds(theirs, [b"connected"], [stream.fileno()])
        os.execv(world.mailer, [world.mailer, "wait"])

    child = fork(act)
    _, descriptors, _, _ = socket.recv_fds(ours, 16, 1)
    return child, ours, socket.socket(fileno=descriptors[0])


def exec_attack(world, path, request, tell, wait, is_late=False):
    child, channel, stream = with_entitled_program(world, path, request, is_late)
    try:
        if is_late:
            os.write(tell, b"r")
            os.read(wait, 1)
            channel.send(b"r")
        is_reached(lambda: group_of(child) == world.groups[0].gr_gid)
        os.write(tell, b"r")
        one = Client(None, stream=stream, greets=False)
        if path != world.system.path:
            return "found " + stream.recv(256).decode()
        if not is_late:
            one.receive()
        return f"found {one.receive()[1].decode()}"
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def by_group(world):
    """The mistake of a judge that looks at the process when it answers, and not when it was asked."""
    return lambda pid, _: group_of(pid) == world.groups[0].gr_gid


def sent_before(world, one, is_guessed):
    nonce = bytes(16) if is_guessed else b""
    message = client.wire.ClientMessage(id=1, nonce=nonce, find=client.query(world.mail, secret=True))
    return client.hello() + client.frame(message)


def controlled(world):
    naive = Naive(world, by_group(world))
    told, tell = os.pipe()
    child = Child(lambda: exec_attack(world, naive.path, lambda _: b"get", tell, None), world.ann)
    os.read(told, 1)
    naive.serve()
    return child.result()


@attack("sends, and then becomes the entitled program", "found SECRET", "closed")
def send_then_exec(world):
    told, tell = os.pipe()
    with world.system.stopped():
        child = Child(lambda: exec_attack(
            world, world.system.path, lambda one: sent_before(world, one, True), tell, None), world.ann)
        os.read(told, 1)
    return controlled(world), child.result()


@attack("is welcomed, sends, and then becomes the entitled program", "found SECRET", "closed")
def exec_after_welcome(world):
    told, tell = os.pipe()
    wait, go = os.pipe()
    child = Child(lambda: exec_attack(
        world, world.system.path, lambda one: one.message(find=client.query(world.mail, secret=True)), tell, wait,
        is_late=True), world.ann)
    os.read(told, 1)
    with world.system.stopped():
        os.write(go, b"r")
        os.read(told, 1)
    return controlled(world), child.result()


@attack("writes a request before it is welcomed", "found everybody", "closed.*; closed")
def early(world):
    def act(path, is_guessed):
        one = Client(path, stream=client.open_socket(path), greets=False)
        nonce = bytes(16) if is_guessed else b""
        message = client.wire.ClientMessage(id=1, nonce=nonce, find=client.query(secret=True))
        one.write(client.hello(["unconfined"]) + client.frame(message))
        one.receive()
        return f"found {one.receive()[1].decode()}"

    def control():
        one = Client(world.user.path, ["unconfined"])
        one.add(None, world.shared.encode())
        said = act(world.user.path, False)
        one.delete()
        return said

    said = done(control, world.ann)
    return said, "; ".join(done(lambda: act(world.system.path, guessed), world.ann) for guessed in (False, True))


USE = ("import sys; sys.path.insert(0, {code!r}); import client, socket\n"
       "one = client.Client(None, stream=socket.socket(fileno=int(sys.argv[1])), greets=False)\n"
       "one.nonce = bytes.fromhex(sys.argv[2].strip('-'))\nprint(client.outcome(one.find))")


def handed_on(world, hand_on):
    """The control: a judge who asks only which process has connected."""
    def act(path):
        stream = client.open_socket(path)
        return hand_on(stream)

    return Naive(world, lambda pid, sender: pid != sender).against(act, world.ann)


@attack("inherits the connection of an entitled program", "found SECRET", "closed")
def inherited(world):
    def hand_on(stream):
        return done(lambda: ask_naive(stream))

    script = f"{world.code}/use.py"
    with open(script, "w", encoding="utf-8") as file:
        file.write(USE.format(code=world.code))
    with world.program() as mailer:
        return handed_on(world, hand_on), mailer.order("duplicate", PYTHON, "-I", script)


@attack("is sent the connection of an entitled program", "found SECRET", "closed")
def passed(world):
    path = f"{world.home}/passed"
    ready, is_ready = os.pipe()

    def take():
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(1)
            os.chmod(path, 0o666)
            os.write(is_ready, b"r")
            other, _ = listener.accept()
            nonce, descriptors, _, _ = socket.recv_fds(other, 64, 1)
            one = Client(None, stream=socket.socket(fileno=descriptors[0]), greets=False)
            one.nonce = nonce.strip(b"-") if len(nonce) != 16 else nonce
            try:
                return client.outcome(one.find)
            finally:
                other.send(b"r")

    def hand_on(stream):
        ours, theirs = socket.socketpair()
        socket.send_fds(ours, [b"-"], [stream.fileno()])
        return done(lambda: ask_naive(socket.socket(fileno=socket.recv_fds(theirs, 1, 1)[1][0])))

    taker = Child(take, world.ann)
    os.read(ready, 1)
    with world.program() as mailer:
        # A daemon that has seen it closes the connection; the program itself has another one then.
        mailer.order("send", path)
        return handed_on(world, hand_on), taker.result()


def at_both(world, act):
    """At a program of the user without a group of its own, and at one with it."""
    with world.program(world.plain) as plain, world.program() as mailer:
        return [attempt(lambda: act(*map(int, program.order("hold").split())), world.ann) for program in (plain, mailer)]


@attack("takes the connection out of the program (pidfd_getfd)", "a descriptor", "refused by the kernel")
def take_descriptor(world):
    def act(pid, _, number):
        process = os.pidfd_open(pid)
        system_call("pidfd_getfd", process, number, 0)
        return "a descriptor"
    return at_both(world, act)


# ---- The memory


@attack("reads its memory (/proc/PID/mem)", "found everybody", "refused by the kernel")
def memory(world):
    def act(pid, address, _):
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
            file.seek(address)
            return "found " + file.read(18).decode()
    return at_both(world, act)


@attack("reads its memory (process_vm_readv)", "found everybody", "refused by the kernel")
def remote_memory(world):
    def act(pid, address, _):
        own = ctypes.create_string_buffer(18)
        vector = ctypes.c_uint64 * 2
        ours, theirs = vector(ctypes.addressof(own), 18), vector(address, 18)
        system_call("process_vm_readv", pid, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
        return "found " + own.value.decode()
    return at_both(world, act)


@attack("traces it (ptrace)", "found everybod", "refused by the kernel")
def trace(world):
    def act(pid, address, _):
        LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        LIBC.ptrace.restype = ctypes.c_long
        call("ptrace", 16, pid, None, None)  # ATTACH
        os.waitpid(pid, 0)
        said = struct.pack("l", LIBC.ptrace(2, pid, address, None)) + struct.pack("l", LIBC.ptrace(2, pid, address + 8, None))
        return "found " + said.decode()
    return at_both(world, act)


@attack("looks into the daemon", "mem, environ, fd, exe, ptrace", "nothing")
def daemon_memory(world):
    def act(pid):
        seen = []
        for name, look in (("mem", open), ("environ", open), ("fd", os.listdir), ("exe", os.readlink)):
            with contextlib.suppress(PermissionError):
                look(f"/proc/{pid}/{name}")
                seen.append(name)
        with contextlib.suppress(OSError):
            call("ptrace", 16, pid, 0, 0)
            seen.append("ptrace")
        return ", ".join(seen) or "nothing"

    with world.program(world.plain) as plain:
        plain.order("caller")
        # A traced process would wait.
        return done(lambda: act(plain.pid), world.ann), done(lambda: act(world.system.pid), world.ann)


# ---- Code of the attacker in the program


def with_variables(world, **variables):
    def run(program):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(world.intruded)
        subprocess.run([program, "end"], env=variables, check=True, preexec_fn=world.ann.become, stderr=subprocess.DEVNULL)
        if not os.path.exists(world.intruded):
            return "no code of another"
        with open(world.intruded, encoding="utf-8") as file:
            return "code of another, with group " + file.read().split()[-1]
    return run(world.plain), run(world.mailer)


@attack("brings its code in (LD_PRELOAD)", "code of another", "no code of another")
def preload(world):
    return with_variables(world, LD_PRELOAD=world.intruder)


@attack("brings its code in (LD_AUDIT)", "code of another", "no code of another")
def audit(world):
    return with_variables(world, LD_AUDIT=world.intruder)


@attack("brings its code in (GCONV_PATH)", "code of another", "no code of another")
def conversion(world):
    directory = f"{world.base}/conversion"
    os.makedirs(directory, exist_ok=True)
    with open(f"{directory}/gconv-modules", "w", encoding="utf-8") as file:
        file.write(f"module INTRUDER// INTERNAL {world.intruder} 1\nmodule INTERNAL INTRUDER// {world.intruder} 1\n")
    return with_variables(world, GCONV_PATH=directory)


@attack("says that its file is the entitled one's (PR_SET_MM_MAP)", "found SECRET", "closed|-34018")
def forged_file(world):
    def act(path):
        request = "676574" if path != world.system.path else sent_before(world, None, True)[len(client.hello()):].hex()
        greeting = "-" if path != world.system.path else client.hello().hex()
        said = subprocess.run([world.host, world.forge, world.mailer, path, greeting, request], check=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL).stdout.decode()
        if path != world.system.path:
            return "found " + bytes.fromhex(said).decode()
        left, right = socket.socketpair()
        right.sendall(bytes.fromhex(said))
        right.close()
        return f"found {Client(None, stream=left, greets=False).receive()[1].decode()}"

    # The mistake of a judge that looks at the program's file.
    naive = Naive(world, lambda pid, _: os.path.samefile(f"/proc/{pid}/exe", world.mailer))
    return naive.against(act, world.ann), done(lambda: act(world.system.path), world.ann)


@attack("runs a copy from memory (memfd)", "found SECRET", "unconfined.*; -34018")
def from_memory(world):
    def start(words):
        with open(world.mailer, "rb") as file:
            copy = os.memfd_create("mailer", 0)
            os.write(copy, file.read())
        # One that is open for writing is not run.
        reading = os.open(f"/proc/self/fd/{copy}", os.O_RDONLY)
        os.close(copy)
        os.execve(f"/proc/self/fd/{reading}", words, {})

    def has_same_bytes(pid, _):
        with open(f"/proc/{pid}/exe", "rb") as one, open(world.mailer, "rb") as other:
            return one.read() == other.read()

    return believed(world, start, has_same_bytes), ordered(world, start)


@attack("has the loader run it (ld.so PROGRAM)", "found SECRET", "unconfined.*; -34018")
def loader(world):
    with open(world.mailer, "rb") as file:
        path = re.search(rb"/lib[^\0]*ld-linux[^\0]*", file.read())[0].decode()

    def has_mapped(pid, _):
        with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
            return any(line.rstrip().endswith(world.mailer) for line in maps)

    def start(words):
        os.execve(path, [path, *words], {})

    return believed(world, start, has_mapped), ordered(world, start)


def believed(world, start, judge):
    """What comes of a judge that believes in the program which has connected by the time that it is served."""
    naive = Naive(world, judge)
    answer, answered = os.pipe()

    def act():
        world.ann.become()
        stream = client.open_socket(naive.path)
        fork(lambda: os.write(answered, ask_naive(stream).encode()))
        start([world.mailer, "wait"])

    pid = fork(act)
    is_reached(lambda: judge(pid, pid))
    naive.serve()
    said = os.read(answer, 256).decode()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return said


def ordered(world, start, *orders):
    """What the daemon knows of the program that is started like this, and what the program gets."""
    read, order = os.pipe()
    answer, say = os.pipe()

    def act():
        os.close(order)
        os.close(answer)
        if os.getuid() == 0:
            world.ann.become()
        os.dup2(read, 0)
        os.dup2(say, 1)
        os.close(say)
        start([world.mailer])

    pid = fork(act)
    os.close(say)
    os.close(read)
    os.write(order, "".join(f"{line}\n" for line in orders or ("caller", f"find {world.mail}")).encode())
    os.close(order)
    said = b""
    while part := os.read(answer, 1 << 16):
        said += part
    os.close(answer)
    os.waitpid(pid, 0)
    return "; ".join(said.decode().splitlines())


def plainly(world):
    return ordered(world, lambda words: os.execve(words[0], words, {}))


@attack("has the program itself ask", "found SECRET", "setgid.*; found SECRET")
def deputy(world):
    """So it ends for whoever may run the program: it prints what it prints."""
    return plainly(world), plainly(world)


@attack("runs it by a descriptor (execveat)", "setgid.*; found SECRET", "setgid.*; found SECRET")
def by_descriptor(world):
    def start(words):
        all_words = (ctypes.c_char_p * 2)(words[0].encode(), None)
        none = (ctypes.c_char_p * 1)(None)
        system_call("execveat", os.open(words[0], os.O_RDONLY | os.O_CLOEXEC), b"", all_words, none, 0x1000)
    return plainly(world), ordered(world, start)


@attack("shares its memory until it runs (vfork)", "setgid.*; found SECRET", "setgid.*; found SECRET")
def spawn(world):
    return plainly(world), ordered(world, lambda words: os.waitpid(os.posix_spawn(words[0], words, {}), 0))


@attack("shares its directory with the program (CLONE_FS)", "setgid.*; found SECRET", "unconfined.*; -34018")
def shared_directory(world):
    def start(words):
        child = system_call("clone", CLONE_FS | signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            os.execve(words[0], words, {})  # or 'fork' ends it
        os.waitpid(child, 0)
    return plainly(world), ordered(world, start)


@attack("shares its descriptors with the program (CLONE_FILES)", "1 socket", "0 sockets")
def shared_descriptors(world):
    def sockets():
        return [name for name in os.listdir("/proc/self/fd")
                if client.outcome(lambda: look(name)).startswith("socket:")]

    def look(name):
        try:
            return os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            return "closed"

    def act(is_program):
        read, order = os.pipe()
        answer, say = os.pipe()
        os.dup2(read, 0)
        os.dup2(say, 1)
        before = len(sockets())
        child = system_call("clone", CLONE_FILES | signal.SIGCHLD, 0, 0, 0, 0)
        if child == 0:
            if is_program:
                os.execve(world.mailer, [world.mailer], {})
            kept = client.open_socket(world.system.path)
            os.write(1, b"connected")
            kept.detach()
            signal.pause()
        os.write(order, b"caller\n")
        os.read(answer, 1 << 10)
        count = len(sockets()) - before
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return f"{count} socket{'' if count == 1 else 's'}"

    return done(lambda: act(False), world.ann), done(lambda: act(True), world.ann)


# ---- Namespaces


def enter_namespaces(flags):
    user, group = os.getuid(), os.getgid()
    call("unshare", flags)
    if flags & CLONE_NEWUSER:
        for name, line in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="utf-8") as file:
                file.write(line)


def from_namespaces(world, flags):
    def act():
        enter_namespaces(flags)
        return done(lambda: f"{Client(world.system.path).caller}; " + client.outcome(
            lambda: Client(world.system.path).find(world.mail)))

    def control():
        enter_namespaces(flags)
        return done(lambda: f"user {os.geteuid()}, process {os.getpid()}")

    return done(control, world.ann), done(act, world.ann)


AT_MOST_UNCONFINED = "unconfined - unconfined; -34018|closed"


@attack("is root in a user namespace of its own", "user 0", AT_MOST_UNCONFINED)
def user_namespace(world):
    return from_namespaces(world, CLONE_NEWUSER)


@attack("has a pid namespace of its own", "user 0, process 1$", AT_MOST_UNCONFINED)
def pid_namespace(world):
    return from_namespaces(world, CLONE_NEWUSER | CLONE_NEWPID)


@attack("has a mount namespace of its own", "user 0", AT_MOST_UNCONFINED)
def mount_namespace(world):
    return from_namespaces(world, CLONE_NEWUSER | CLONE_NEWNS)


@attack("runs the program in namespaces of its own", "setgid.*; found SECRET", "(unconfined|closed).*; (-34018|closed)")
def program_in_namespaces(world):
    def start(words):
        enter_namespaces(CLONE_NEWUSER | CLONE_NEWPID)
        os.waitpid(fork(lambda: os.execve(words[0], words, {})), 0)
    return plainly(world), ordered(world, start)


@attack("is root's container, and runs the program (another pid namespace alone)", "setgid.*; found SECRET", "closed")
def container(world):
    def act():
        call("unshare", CLONE_NEWPID)
        return done(lambda: plainly(world))
    return plainly(world), done(act)


@attack("forges its number in credentials", "found SECRET", "closed|-34018")
def forged_number(world):
    def act(path):
        enter_namespaces(CLONE_NEWUSER | CLONE_NEWPID)

        def first():
            stream = client.open_socket(path)
            one = Client(None, stream=stream, greets=False)
            if path == world.system.path:
                one = Client(path)
            data = b"get" if path != world.system.path else one.message(find=client.query(world.mail, secret=True))
            forged = struct.pack("3i", os.getpid(), 0, 0)
            done(lambda: one.stream.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, forged)]))
            if path == world.system.path:
                return f"found {one.receive()[1].decode()}"
            return "found " + one.stream.recv(256).decode()

        return done(first)

    # The mistake of a judge that believes what a message says of its sender.
    naive = Naive(world, lambda pid, sender: pid == sender)
    return naive.against(act, world.ann), done(lambda: act(world.system.path), world.ann)


# ---- Threads and processes


@attack("a thread of the program without its group asks", "found SECRET", "closed")
def thread_without_group(world):
    naive = Naive(world, by_group(world))

    def control():
        group = world.groups[0].gr_gid
        os.setgroups([])
        os.setresgid(world.ann.gid, group, group)
        os.setresuid(world.ann.uid, world.ann.uid, world.ann.uid)

        def ask():
            client.drop_group()
            return ask_naive(client.open_socket(naive.path))

        return client.in_thread(ask)

    child = Child(control)
    naive.serve()
    with world.program() as mailer:
        return child.result(), mailer.order("thread", "drop")


@attack("a thread of the program with its group asks, and the others have it not", "found SECRET", "closed")
def thread_with_group(world):
    with world.program() as mailer, world.program() as other:
        return other.order("find", world.mail), mailer.order("thread", "keep")


@attack("the first thread of the program ends", "found SECRET", "found SECRET|closed")
def first_thread(world):
    with world.program() as mailer, world.program() as other:
        return other.order("find", world.mail), mailer.order("leave")


@attack("its own first thread ends", "found SECRET", "-25300|found everybody|closed")
def own_first_thread(world):
    with world.program() as mailer, world.program(world.plain) as plain:
        return mailer.order("find", world.mail), plain.order("leave")


@attack("stops the program in the midst, and lets it go on", "T", "found everybody.*; found SECRET")
def stop(world):
    with world.program() as mailer:
        mailer.order("caller")
        done(lambda: os.kill(mailer.pid, signal.SIGSTOP), world.ann)
        is_reached(lambda: status(mailer.pid, "State")[0] == "T")
        state = status(mailer.pid, "State")[0]
        said = done(lambda: Client(world.system.path).find(), world.ann)
        done(lambda: os.kill(mailer.pid, signal.SIGCONT), world.ann)
        return state, f"{said}; {mailer.order('find', world.mail)}"


@attack("ends, and the program gets its number", "found SECRET", "^closed")
def reused_number(world):
    def ghost(path, data):
        """A connection whose process is gone, and the number that this process had."""
        ours, theirs = socket.socketpair()

        def act():
            world.ann.become()
            stream = client.open_socket(path)
            stream.sendall(data)
            socket.send_fds(theirs, [b"c"], [stream.fileno()])

        child = fork(act)
        stream = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
        stream.settimeout(client.PATIENCE)
        os.waitpid(child, 0)
        return child, stream

    @contextlib.contextmanager
    def program_with(number):
        for _ in range(2000):
            with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
                file.write(str(number - 1))
            with world.program() as mailer:
                if mailer.pid == number:
                    is_reached(lambda: group_of(number) == world.groups[0].gr_gid)
                    yield
                    return
        raise Broken(f"no process got the number {number}")

    naive = Naive(world, by_group(world))
    number, stream = ghost(naive.path, b"get")
    with program_with(number):
        naive.serve()
        control = "found " + stream.recv(256).decode()
    with world.system.stopped():
        number, stream = ghost(world.system.path, client.hello())
        running = program_with(number)
        running.__enter__()

    def read():
        # Nothing that a process has written is judged by another one: there is not even a welcome.
        one = Client(None, stream=stream, greets=False)
        one.welcome = one.receive()[0].welcome
        return f"welcomed as {one.caller}"

    try:
        return control, client.outcome(read)
    finally:
        running.__exit__(None, None, None)


# ---- The library's part


def run_command(world, program, *words, prepare=lambda: None, host=None, secret=b"s3cret"):
    environment = {"KEYCHAIN_HOST": f"unix:{host or world.system.path}", "HOME": world.home, "PATH": "/usr/bin:/bin"}

    def begin():
        world.ann.become()
        prepare()

    ended = subprocess.run([program, *words], env=environment, input=secret, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, preexec_fn=begin, timeout=client.PATIENCE)
    return f"{ended.returncode} {ended.stdout.decode().strip()}"


@attack("takes the group away from the program (no_new_privs)", "^0", "^30 .*started without it.*; left: 0$")
def no_new_privileges(world):
    """The control is the same command without a group of its own: the library would store where everybody reads."""
    program = world.entitled(world.keychainctl, "keychainctl", world.groups[0], world.guarded)

    def prepare():
        call("prctl", 38, 1, 0, 0, 0)

    def run(program):
        said = run_command(world, program, "add", "generic", "--service", "no-new-privs", "--account", "ann", "--group",
                           "unconfined", prepare=prepare)
        asked = client.wire.Query(item_class=client.wire.ITEM_CLASS_GENERIC_PASSWORD,
                                  attributes=client.texts(svce="no-new-privs"))

        def clear():
            return f"{Client(world.system.path).ask(delete=asked)[0].deleted.count} left"

        return said, done(clear, world.ann)

    said, left = run(world.keychainctl)
    refused, leaves = run(program)
    return f"{said}; left: {left}", f"{refused}; left: {'0' if leaves.startswith('-25300') else leaves}"


@attack("listens in the place of the daemon", "told [1-9]", "told 0 bytes")
def listener(world):
    def tell(person):
        directory = tempfile.mkdtemp(dir=world.base)
        os.chmod(directory, 0o777)
        path, (ready, is_ready) = f"{directory}/socket", os.pipe()

        def listen():
            with socket.socket(socket.AF_UNIX) as listening:
                listening.bind(path)
                os.chmod(path, 0o666)
                listening.listen(1)
                os.write(is_ready, b"r")
                stream, _ = listening.accept()
                return f"told {len(stream.recv(1 << 16))} bytes"

        child = Child(listen, person)
        os.read(ready, 1)
        run_command(world, world.keychainctl, "find", host=path)
        return child.result()

    return tell(None), tell(world.bob)


# ---- Manifests


@attack("changes which groups a program has", "setgid .* isolated.third$", "^(closed[^;]*(; |$)){9}$")
def manifests(world):
    group = world.groups[2]
    program = world.entitled(world.plain, "third", group)
    path = f"{world.manifests}/third.plist"

    def caller():
        with world.program(program) as third:
            return third.order("caller").replace(";", ",")

    def write(*, groups=("isolated.third",), name="third"):
        return world.write_manifest(name, group.gr_name, list(groups))

    def linked():
        os.rename(path, f"{world.base}/elsewhere.plist")
        os.symlink(f"{world.base}/elsewhere.plist", path)

    def unknown_key():
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("<dict>", "<dict><key>com.example.unknown</key><true/>", 1))

    def garbage():
        with open(path, "w", encoding="utf-8") as file:
            file.write("no property list")

    ways = (
        lambda: os.chmod(path, 0o666), lambda: os.chmod(path, 0o664), lambda: os.chown(path, world.ann.uid, 0), linked,
        garbage, unknown_key, lambda: write(groups=("unconfined",)), lambda: write(name="third-too"),
        lambda: os.chmod(world.manifests, 0o777))
    said = []
    for way in ways:
        write()
        if not said:
            control = caller()
        way()
        said.append(caller())
        os.chmod(world.manifests, 0o755)
        for name in ("third", "third-too"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{world.manifests}/{name}.plist")
    return control, "; ".join(said)


@attack("sets a passcode, and keeps it", "rekeyed", "-34018")
def first_passcode(world):
    def act(path):
        one = Client(path, owner=True)
        return one.ask(b"ransom", set_passcode=client.wire.SetPasscode(passcode_size=6))[0].WhichOneof("kind")

    # The last one that asks the user's own daemon.
    return done(lambda: act(world.user.path), world.ann), done(lambda: act(world.system.path), world.ann)


@attack("two programs share a group (no attack)", "added|-25299", "found SECRET")
def common_group(world):
    with world.program() as mailer, world.program(world.server) as server:
        return mailer.order("add", world.common, world.secret), server.order("find", world.common)


# ---- The whole


def prepare(world):
    """What everybody is after, and what everybody has."""
    known = done(lambda: Client(world.system.path).caller, world.ann)
    if not known.startswith("unconfined"):
        raise Broken(f"an ordinary program is known as '{known}' here, such as below a unit of the system")
    with world.program() as mailer:
        for said in (mailer.order("caller"), mailer.order("add", world.mail, world.secret)):
            if not re.search("setgid .*isolation.mail|added", said):
                raise Broken(f"the entitled program is not served: {said}\n{world.log()}")
    said = done(lambda: Client(world.system.path).add(None, world.shared.encode()), world.ann)
    if said != "added":
        raise Broken(f"an ordinary program is not served: {said}\n{world.log()}")


NOT_TRIED = "not tried here"


def ends_as_written(world, control, result, work):
    """The two outcomes, and whether they are the right ones."""
    try:
        outcomes = work(world)
    except OSError as error:
        # A container may have no namespaces, and a system may let nobody trace anything.
        if error.errno in (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOSPC):
            return (f"{NOT_TRIED} ({error})", "–", True)
        return ("–", traceback.format_exc(), False)
    except Exception:
        return ("–", traceback.format_exc(), False)
    if outcomes[0].startswith("refused by the kernel"):
        return (f"{NOT_TRIED} ({outcomes[0]})", "–", True)
    expected = (control.replace("SECRET", world.secret), result.replace("SECRET", world.secret))
    is_right = all(re.search(pattern, said) for pattern, said in zip(expected, outcomes))
    # What may not be had is not had, unless it is written so.
    is_right = is_right and (world.secret not in outcomes[1] or "SECRET" in result)
    return (*outcomes, is_right)


def try_all(world, words, wants_all):
    print("| attack | where nothing stops it | here |\n|---|---|---|")
    counts = collections.Counter()
    for name, control, result, work in ATTACKS:
        if not all(word in name for word in words):
            continue
        *outcomes, is_right = ends_as_written(world, control, result, work)
        is_tried = not outcomes[0].startswith(NOT_TRIED)
        is_right = is_right and (is_tried or not wants_all)
        cells = [said.replace(world.secret, "SECRET").replace(world.base, "…").replace("|", " ") for said in outcomes]
        shown = [re.sub(r"\s+", " ", cell)[:100] for cell in cells] if is_right else cells
        print(f"| {name} | {shown[0]} | {shown[1]} |" + ("" if is_right else " **NOT AS WRITTEN**"), flush=True)
        counts.update(attacks=1, wrong=not is_right, untried=not is_tried)
    if counts["wrong"]:
        print(world.log(), file=sys.stderr)
    untried = f", {counts['untried']} not tried here" if counts["untried"] else ""
    print(f"isolation: {counts['attacks']} attacks{untried}, {counts['wrong']} did not end as written")
    return 1 if counts["wrong"] or not counts["attacks"] else 0


def main():
    # What was begun is ended and taken away.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    programs, *words = sys.argv[1:]
    wants_all = "--all" in words
    words = [word for word in words if word != "--all"]
    world = World(programs)
    try:
        world.begin()
        prepare(world)
        if words[:1] == ["--kills"]:
            return kills.run(world, int(words[1]))
        for option, measurement in {"--look-ups": look_ups, "--neighbours": neighbours}.items():
            if words == [option]:
                return measurement.run(world)
        return try_all(world, words, wants_all)
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
