"""A user with a keychain, a directory of protected files and a mount, in the mount namespace of Scripts/check-mount.

The caller is root, which may look into other processes. All that uses the mount runs in children that are an ordinary user.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import time
import traceback

USER = 65534
PASSCODE = "four quiet herons"
CLASSES = {"A": "complete", "B": "complete-unless-open", "E": "complete-when-user-inactive",
           "C": "complete-until-first-user-authentication", "D": "none"}
# The longest time of one check. None comes near it.
LONGEST = 300


LIBC = ctypes.CDLL(None, use_errno=True)


class Failure(Exception):
    """Something is not as it has to be."""


def require(condition, *words):
    if not condition:
        raise Failure(" ".join(str(word) for word in words))


def same(found, wanted, *words):
    require(found == wanted, *words, f"{found!r} instead of {wanted!r}")


def refused(number, work, *words):
    """The work has to fail with this errno value."""
    try:
        result = work()
    except OSError as error:
        return same(error.errno, number, *words)
    raise Failure(" ".join(map(str, words)) + f" succeeded: {result!r}")


def call(function, *words):
    """Calls a function of the C library, which gives -1 if it fails."""
    result = function(*words)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


class Descriptor:
    """A descriptor that only names a file, and is closed when nothing has it any more."""

    def __init__(self, path):
        self.number = os.open(path, os.O_PATH | os.O_NOFOLLOW)

    def __del__(self):
        os.close(self.number)


class World:
    """In the directory of the world: home (HOME), below (the protected files), mount (the mount point)."""

    def __init__(self, directory, programs, has_daemon=False):
        self.root = pathlib.Path(directory)
        self.programs = pathlib.Path(programs)
        self.below, self.mount = self.root / "below", self.root / "mount"
        self.store, self.daemon = self.root / "home", None
        # Variables of the mount's process alone.
        self.of_mount = {}
        for path in (self.below, self.mount, self.store):
            path.mkdir()
            os.chown(path, USER, USER)
        os.chmod(self.root, 0o755)
        self.environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(self.store), "LANG": "C.UTF-8"}
        if has_daemon:
            self.begin_daemon()
        self.command("passcode", "set", words=f"{PASSCODE}\n{PASSCODE}\n")
        self.store_id = json.loads(self.command("status", "--json").stdout)["storeID"].lower()
        require('"unlocked"' in self.command("status", "--json").stdout, "the keyring of the user takes no keys")

    def begin_daemon(self):
        socket, store = self.root / "home/socket", self.root / "home/store"
        self.environment["KEYCHAIN_HOST"] = f"unix:{socket}"
        self.daemon = subprocess.Popen([self.programs / "keychaind", "--user", "--socket", socket, "--store", store,
                                        "--device-key", self.root / "home/device", "--log-level", "error"],
                                       env=self.environment, user=USER, group=USER, extra_groups=[])
        until(socket.exists, "the daemon does not begin")

    @property
    def key_files(self):
        """The directory of the keychain's store, and the device key."""
        store, device = ("store", "device") if self.daemon else (".local/share/keychain", ".local/state/keychain")
        return self.store / store, self.store / device / "device-key"

    # The user's programs

    def run(self, *words, text="", check=True, **options):
        # The directory is entered by the user, since root may not.
        words = ["sh", "-c", 'cd "$0" && exec "$@"', options.pop("cwd", self.root), *words]
        environment = {**self.environment, **options.pop("environment", {})}
        result = subprocess.run([str(word) for word in words], input=text, text=True, env=environment, user=USER,
                                group=USER, extra_groups=[], cwd="/", capture_output=True, timeout=LONGEST, **options)
        if check:
            require(result.returncode == 0, *words, "ended with", result.returncode, result.stderr[-2000:])
        return result

    def command(self, *words, words_in="", **options):
        return self.run(self.programs / "keychainctl", *words, text=options.pop("words", words_in), **options)

    def lock(self, *words):
        self.command("lock", *words)

    def unlock(self):
        self.command("unlock", words=f"{PASSCODE}\n")

    def child(self, work):
        """What a child that is the user returns."""
        return Child(self, work).result()

    # The mount

    def begin(self):
        self.command("file", "mount", self.below, self.mount, environment=self.of_mount)
        return self

    def process(self, *named):
        """The number of the process of the mount, or of the one that was started with these words."""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if all(str(word).encode() in words for word in named or ("--report", self.below)):
                    return int(entry.name)
        raise Failure("the mount's process has gone")

    def is_mounted(self):
        return f" {self.mount} " in pathlib.Path("/proc/self/mountinfo").read_text()

    def end(self):
        if self.is_mounted():
            self.command("file", "unmount", self.mount)
        self.await_end()
        if self.daemon:
            self.daemon.terminate()
            self.daemon.wait()
        self.child(lambda: revoke(self.store_id))

    def restart(self):
        """As after a restart of the system: no process has run on, and no key is in memory."""
        self.end()
        if self.daemon:
            self.begin_daemon()
        self.begin()

    def await_end(self):
        """Waits until the process of the mount has ended."""
        until(lambda: not self.has_process(), "the mount's process does not end")

    def has_process(self):
        try:
            self.process()
            return True
        except Failure:
            return False

    def classes(self):
        """Makes a directory of each class in the mount."""
        def work():
            for name, value in CLASSES.items():
                path = self.mount / name
                path.mkdir(exist_ok=True)
                os.setxattr(path, "user.keychain.class", value.encode())
        self.child(work)
        return self


def too_late(*_):
    """So that a child tells at which place it waits."""
    raise TimeoutError(f"after {LONGEST} seconds")


class Child:
    """A child that is the user, unless it is to be root, and does some work."""

    def __init__(self, world, work, is_user=True):
        self.end, other = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid:
            os.close(other)
            return
        os.close(self.end)
        try:
            signal.signal(signal.SIGALRM, too_late)
            signal.alarm(LONGEST)
            if is_user and os.getuid() == 0:
                os.setgroups([])
                os.setgid(USER)
                os.setuid(USER)
            os.umask(0o022)
            os.environ.clear()
            os.environ.update(world.environment)
            os.chdir(world.root)
            outcome = ("result", work())
        except Failure as failure:
            outcome = ("failure", str(failure))
        except BaseException:
            outcome = ("failure", traceback.format_exc())
        with os.fdopen(other, "wb") as file:
            pickle.dump(outcome, file)
        os._exit(0)

    def result(self, may_end_by=(), within=None):
        """within: after so many seconds the child and what it began are killed. It has made a session."""
        if within and not select.select([self.end], [], [], within)[0]:
            os.killpg(self.pid, signal.SIGKILL)
        with os.fdopen(self.end, "rb") as file:
            bytes_ = file.read()
        _, status = os.waitpid(self.pid, 0)
        if not bytes_ and os.WIFSIGNALED(status) and os.WTERMSIG(status) in may_end_by:
            return None
        require(bytes_, "a child was ended by", status)
        kind, value = pickle.loads(bytes_)
        if kind == "failure":
            raise Failure(value)
        return value


def revoke(store):
    """Takes the keys of a store from the keyring of this user, who may have few."""
    keyctl = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
    ring, most = -4, 1 << 16  # KEY_SPEC_USER_KEYRING
    serials = (ctypes.c_int32 * most)()
    count = LIBC.syscall(keyctl, 11, ring, serials, ctypes.c_size_t(4 * most), 0)  # KEYCTL_READ
    for serial in serials[:max(0, count) // 4]:
        text = ctypes.create_string_buffer(4096)
        if LIBC.syscall(keyctl, 6, serial, text, ctypes.c_size_t(4096), 0) > 0 and store.encode() in text.value:  # DESCRIBE
            LIBC.syscall(keyctl, 9, serial, ring, 0, 0)  # UNLINK


def until(condition, *words):
    end = time.monotonic() + 60
    while not condition():
        require(time.monotonic() < end, *words)
        time.sleep(0.02)


def memory_has(pid, marker):
    """Whether a process has bytes anywhere in its memory."""
    return any(marker in piece for piece in memory_of(pid, "r", len(marker)))


def found_in(pid, needles):
    """Those of the named keys that a process has anywhere in memory that it can write. A half of a key counts as the key."""
    found = set()
    for piece in memory_of(pid, "rw", 32):
        # Most of it is zeros.
        piece = piece.replace(bytes(4096), b"")
        found |= {name for name, key in needles.items() if name not in found and (key[:16] in piece or key[16:] in piece)}
    return found


def memory_of(pid, rights, overlap):
    """The memory of a process that it has these rights to, in pieces that overlap."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            place, present = line.split()[:2]
            if not present.startswith(rights) or "[v" in line:
                continue
            start, end = (int(part, 16) for part in place.split("-"))
            with contextlib.suppress(OSError, ValueError, OverflowError):
                for offset in range(start, end, 16 << 20):
                    yield os.pread(memory.fileno(), min(end - offset, (16 << 20) + overlap), offset)
