"""The users, programs and daemons of the attacks in isolation.py."""

import contextlib
import ctypes
import grp
import os
import pathlib
import pickle
import plistlib
import pwd
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import traceback

import client

PATIENCE = client.PATIENCE
LIBC = client.LIBC
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
PR_SET_DUMPABLE, PR_SET_PDEATHSIG = 4, 1


class Broken(Exception):
    """The suite cannot do its work here."""


def call(name, *words):
    """A function of the C library that sets errno."""
    result = getattr(LIBC, name)(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def status(pid, field):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(line.split()[1:] for line in file if line.startswith(f"{field}:"))


def is_reached(condition):
    """Looks until it is so, without sleeping; a hang ends after a minute."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if condition():
                return True
        os.sched_yield()
    raise Broken("it did not come to that")


def end_with_parent():
    """Has the kernel kill this process when the one that has started it is gone. A change of user undoes it."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Person:
    """An account that is there already, of which no process runs: nothing of the system is changed for these tests."""

    def __init__(self, entry):
        self.uid, self.gid, self.name = entry.pw_uid, entry.pw_gid, entry.pw_name

    def become(self):
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        # As after an exec: others of the same user may look into it.
        LIBC.prctl(PR_SET_DUMPABLE, 1)
        end_with_parent()


def unused_people(count):
    running = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            running.add(process.stat().st_uid)
    people = [Person(entry) for entry in pwd.getpwall() if 0 < entry.pw_uid < 1000 and entry.pw_name != "_keychain"
              and entry.pw_gid not in (0, 65534) and entry.pw_uid not in running]
    if len(people) < count:
        raise Broken(f"{count} accounts without a process are needed, and there are {len(people)}")
    return people[-count:]


def unused_groups(count):
    first = {entry.pw_gid for entry in pwd.getpwall()}
    groups = [entry for entry in grp.getgrall() if 0 < entry.gr_gid < 1000 and not entry.gr_mem
              and entry.gr_gid not in first and entry.gr_name != "keychain"]
    if len(groups) < count:
        raise Broken(f"{count} groups without members are needed, and there are {len(groups)}")
    return groups[-count:]


def unused_number():
    used = {entry.pw_uid for entry in pwd.getpwall()} | {entry.gr_gid for entry in grp.getgrall()}
    return next(number for number in range(30000, 31000) if number not in used)


def fork(work):
    """The number of a process that does this work, and nothing else whatever becomes of it."""
    pid = os.fork()
    if pid == 0:
        try:
            end_with_parent()
            work()
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


class Child:
    """Work that another process does, as a person or as root."""

    def __init__(self, work, person=None):
        self.end, theirs = os.pipe()

        def act():
            os.close(self.end)
            try:
                if person:
                    person.become()
                result = client.outcome(work)
            except BaseException as error:
                result = error if isinstance(error, OSError) else Broken(traceback.format_exc())
            with open(theirs, "wb") as file:
                pickle.dump(result, file)

        self.pid = fork(act)
        os.close(theirs)

    def result(self):
        """What the work came to. An error of the system is raised here."""
        said = b""
        while True:
            if not select.select([self.end], [], [], PATIENCE)[0]:
                os.kill(self.pid, signal.SIGKILL)
                raise Broken("it waits for ever")
            part = os.read(self.end, 1 << 16)
            if not part:
                break
            said += part
        os.close(self.end)
        os.waitpid(self.pid, 0)
        result = pickle.loads(said)
        if isinstance(result, Exception):
            raise result
        return result


def done(work, person=None):
    return Child(work, person).result()


def attempt(work, person=None):
    """What the kernel refuses, as its name."""
    try:
        return done(work, person)
    except OSError as error:
        return f"refused by the kernel ({error.strerror})"


class Program:
    """A program that runs as a person, and takes the orders of client.py."""

    def __init__(self, words, person, prepare=lambda: None):
        def begin():
            prepare()
            person.become()

        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=begin, cwd="/", env={})
        self.pid = self.process.pid

    def order(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        self.process.stdin.flush()
        return self.line()

    def line(self):
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise Broken("a program does not answer")
        return self.process.stdout.readline().decode().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Naive:
    """A server that judges its clients as these tests show that one must not. It serves when it is told to, as a busy one
    would after a while."""

    def __init__(self, world, judge):
        self.path = f"{world.base}/run/naive"
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.settimeout(PATIENCE)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(16)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.judge, self.world = judge, world

    def serve(self):
        stream, _ = self.listener.accept()
        with stream:
            stream.settimeout(PATIENCE)
            pid, _, _ = struct.unpack("3i", stream.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            _, said, _, _ = stream.recvmsg(16, socket.CMSG_SPACE(12))
            sender = struct.unpack("3i", said[0][2])[0]
            stream.sendall(self.world.secret.encode() if self.judge(pid, sender) else b"refused")
        self.listener.close()

    def against(self, work, person):
        """What an attack on it comes to. It is given the path."""
        child = Child(lambda: work(self.path), person)
        self.serve()
        return child.result()


def ask_naive(stream):
    stream.settimeout(PATIENCE)
    stream.sendall(b"get")
    return "found " + stream.recv(256).decode()


class Daemon:
    """keychaind, with a socket that root listens at."""

    def __init__(self, world, program, words, uid, gid, name):
        self.world, self.program, self.words, self.uid, self.gid = world, program, words, uid, gid
        self.path = f"{world.base}/run/{name}"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.listener.listen(512)
        self.log = f"{world.base}/{name}.log"
        self.start()

    def start(self):
        self.pid = fork(self.run)

    def run(self):
        os.set_inheritable(os.dup2(self.listener.fileno(), 3), True)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.closerange(4, 4096)
        os.setgroups([])
        os.setresgid(self.gid, self.gid, self.gid)
        os.setresuid(self.uid, self.uid, self.uid)
        end_with_parent()
        os.chdir("/")
        environment = {"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid()), "HOME": "/nonexistent"}
        os.execve(self.program, [self.program, *self.words], environment)

    def end(self, number=signal.SIGTERM):
        os.kill(self.pid, number)
        _, code = os.waitpid(self.pid, 0)
        return code

    @contextlib.contextmanager
    def stopped(self):
        """It does nothing meanwhile, as on a machine that has other things to do."""
        os.kill(self.pid, signal.SIGSTOP)
        is_reached(lambda: status(self.pid, "State")[0] == "T")
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)


class World:
    # What the attacks are after.
    secret = "nobody-else-may-have-this"
    # What every program of the user may have.
    shared = "everybody-has-this"
    mail, web, common = "isolation.mail", "isolation.web", "isolation.common"

    def __init__(self, programs):
        if os.geteuid() != 0:
            raise Broken("this is for root, who makes itself other users")
        self.keychainctl, self.keychaind = (f"{programs}/{name}" for name in ("keychainctl", "keychaind"))
        self.daemons = []
        self.base = tempfile.mkdtemp(prefix="isolation.", dir="/tmp")
        os.chmod(self.base, 0o755)

    def begin(self):
        if os.statvfs(self.base).f_flag & os.ST_NOSUID:
            raise Broken("/tmp is mounted with nosuid, and no program there can have a group of its own")
        self.ann, self.bob = unused_people(2)
        self.groups = unused_groups(3)
        self.manifests = self.directory("manifests")
        self.directory("run")
        self.home = self.directory("home", self.ann)
        self.code = self.directory("code")
        for name in ("client.py", "keychain_wire_pb2.py", "item_metadata_pb2.py"):
            for place in (HERE, pathlib.Path(client.wire.__file__).parent):
                if (place / name).exists():
                    shutil.copy(place / name, self.code)
        number = unused_number()
        state = self.directory("state", uid=number)
        users = self.directory("of-ann", self.ann)
        self.system = Daemon(
            self, self.keychaind, ["--system", "--state", state, "--manifests", self.manifests], number, number, "socket")
        # A daemon without any of the checks: every program of its user says itself what it is.
        self.user = Daemon(
            self, self.keychaind, ["--user", "--store", f"{users}/store", "--device-key", f"{users}/key"], self.ann.uid,
            self.ann.gid, "user")
        self.daemons = [self.system, self.user]
        self.directory("programs")
        # Programs with a group of its system, which are for nobody but those two.
        self.guarded = self.directory("guarded")
        os.chown(self.guarded, 0, self.ann.gid)
        os.chmod(self.guarded, 0o710)
        self.compile()
        self.write_manifest("mail", self.groups[0].gr_name, [self.mail, self.common])
        self.write_manifest("web", self.groups[1].gr_name, [self.web, self.common])

    def directory(self, name, person=None, uid=None):
        path = f"{self.base}/{name}"
        os.mkdir(path, 0o755)
        if person or uid:
            os.chown(path, *([person.uid, person.gid] if person else [uid, uid]))
            os.chmod(path, 0o700)
        return path

    def compile(self):
        def cc(source, output, *options):
            subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-o", output, HERE / source, *options], check=True)

        directory = f"{self.base}/programs"
        self.plain = f"{directory}/plain"
        cc("gate.c", self.plain, f'-DCLIENT="{self.code}/client.py"', f'-DSOCKET="{self.system.path}"',
           f"-DONE={self.ann.uid}", f"-DOTHER={self.bob.uid}")
        self.mailer, self.server = (self.entitled(self.plain, name, group)
                                    for name, group in zip(("mailer", "server"), self.groups))
        self.intruder, self.intruded = f"{directory}/intruder.so", f"{self.home}/intruded"
        cc("intruder.c", self.intruder, "-shared", "-fPIC", f'-DPLACE="{self.intruded}"')
        self.forge, self.host = f"{directory}/forge.so", f"{directory}/host"
        cc("forge.c", self.forge, "-shared", "-fPIC")
        cc("host.c", self.host)

    def entitled(self, program, name, group, directory=None):
        """A copy of a program, with a group of its own."""
        path = f"{directory or self.base + '/programs'}/{name}"
        shutil.copy(program, path)
        os.chown(path, 0, group.gr_gid)
        os.chmod(path, 0o2755)
        return path

    def write_manifest(self, name, group, groups, kind="group"):
        path = f"{self.manifests}/{name}.plist"
        content = plistlib.dumps({f"swift-keychain.{kind}": group, "keychain-access-groups": groups})
        with open(f"{path}.new", "wb") as file:
            file.write(content)
        os.chmod(f"{path}.new", 0o644)
        os.rename(f"{path}.new", path)
        return path

    def program(self, *words, person=None, prepare=lambda: None):
        return Program(words or [self.mailer], person or self.ann, prepare)

    def log(self):
        with open(self.system.log, encoding="utf-8") as file:
            return file.read()

    def close(self):
        for daemon in self.daemons:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                daemon.end(signal.SIGKILL)
        shutil.rmtree(self.base)
