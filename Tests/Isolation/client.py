"""A client of a keychain daemon, for the attacks of isolation.py: as a module, and as a program that takes orders.

    client.py SOCKET [GROUP...]      orders come on standard input, one a line; each is answered with a line

    add|find|update|delete|reference GROUP SECRET
                                     the item that everybody in these tests wants; GROUP "-" names none
    caller                           what the daemon knows of this program
    duplicate PROGRAM...             a connection on which nothing was asked yet is handed to the attacker: as an inherited
                                     descriptor of a child without the group
    send PATH                        ... or sent to the socket PATH
    hold                             where in the memory of this process the secret is
    thread drop|keep                 a thread gives the group up, or keeps it while the others do; then it asks
    leave                            the first thread ends, another one goes on

In a program with a set-group-ID bit it is run by gate.c, which has done everything that makes it safe.
"""

import ctypes
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import keychain_wire_pb2 as wire

PATIENCE = 60
SERVICE = dict(svce="mail", acct="ann")
LIBC = ctypes.CDLL(None, use_errno=True)
SETRESGID = {"x86_64": 119, "aarch64": 149}[os.uname().machine]


class Refused(Exception):
    """The daemon ended the connection, or answered with a failure."""


def texts(**values):
    """Attributes by their codes of four characters."""
    codes = [int.from_bytes(code.encode("ascii"), "big") for code in values]
    return wire.Attributes(text_codes=codes, texts=values.values())


def frame(message, tail=b""):
    data = message.SerializeToString()
    return struct.pack(">II", len(data), len(tail)) + data + tail


def hello(groups=(), owner=False):
    return frame(wire.ClientMessage(hello=wire.Hello(version=1, groups=groups, authority=int(owner))))


def query(group=None, secret=False):
    asked = wire.Query(item_class=wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=texts(**SERVICE), wants_secrets=secret)
    if group:
        asked.access_group = group
    return asked


def open_socket(path):
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(PATIENCE)
    stream.connect(path)
    return stream


class Client:
    """A connection, from the hello on."""

    def __init__(self, path, groups=(), owner=False, stream=None, greets=True):
        self.stream = stream or open_socket(path)
        # Those that another process has made have none.
        self.stream.settimeout(PATIENCE)
        self.last_id, self.nonce = 0, b""
        if greets:
            self.write(hello(groups, owner))
            self.welcome = self.receive()[0].welcome
            self.nonce = self.welcome.nonce

    @property
    def caller(self):
        kinds = {0: "unknown", 1: "declared", 2: "unit", 3: "setgid", 4: "user", 5: "unconfined"}
        known = self.welcome.caller
        return f"{kinds[known.kind]} {known.name or '-'} {','.join(known.groups)}"

    def message(self, secret=b"", **kind):
        """The bytes of a request; the first one of a connection has the nonce."""
        self.last_id += 1
        nonce, self.nonce = self.nonce, b""
        return frame(wire.ClientMessage(id=self.last_id, nonce=nonce, **kind), secret)

    def ask(self, secret=b"", **kind):
        """Sends one request; gives its answer, and the secrets of the first part's items."""
        self.write(self.message(secret, **kind))
        answer, tail = self.receive()
        secrets = []
        for item in answer.items:
            secrets.append(tail[: item.secret_size])
            tail = tail[item.secret_size + item.certificate_size:]
        return answer, secrets

    def add(self, group=None, secret=b""):
        item = wire.Add(item_class=wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=texts(**SERVICE), secret_size=len(secret))
        if group:
            item.access_group = group
        self.ask(secret, add=item)
        return "added"

    def find(self, group=None, _=b""):
        _, secrets = self.ask(find=query(group, secret=True))
        return f"found {secrets[0].decode()}"

    def update(self, group=None, secret=b""):
        self.ask(secret, update=wire.Update(query=query(group), changes=wire.Changes(secret_size=len(secret))))
        return "updated"

    def delete(self, group=None, _=b""):
        self.ask(delete=query(group))
        return "deleted"

    def reference(self, group=None, _=b""):
        answer, _ = self.ask(find=query(group))
        return answer.items[0].identifier.hex()

    def count(self):
        answer, _ = self.ask(status=wire.Nothing())
        return sum(each.count for each in answer.status.item_counts)

    def export(self, *_):
        answer, secrets = self.ask(export_items=wire.ExportItems())
        return f"exported {len(answer.items)}"

    def write(self, data):
        try:
            self.stream.sendall(data)
        except OSError as error:
            # A goodbye may be there.
            self.receive()
            raise Refused(f"closed ({error.strerror})") from error

    def receive(self):
        message_size, tail_size = struct.unpack(">II", self.read(8))
        message = wire.DaemonMessage.FromString(self.read(message_size))
        tail = self.read(tail_size)
        if message.HasField("working"):
            return self.receive()
        if message.HasField("failure"):
            raise Refused(f"{message.failure.status}: {message.failure.message}")
        if message.HasField("authentication_needed"):
            raise Refused("asked for a passcode")
        if message.HasField("goodbye"):
            raise Refused(f"closed: {message.goodbye.message}")
        return message, tail

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            try:
                part = self.stream.recv(count - len(data))
            except ConnectionError as error:
                raise Refused(f"closed ({error.strerror})") from error
            if not part:
                raise Refused("closed")
            data += part
        return bytes(data)


def outcome(work):
    try:
        return work()
    except Refused as refusal:
        return str(refusal)


def in_thread(work):
    result = []
    thread = threading.Thread(target=lambda: result.append(outcome(work)))
    thread.start()
    thread.join()
    return result[0]


def drop_group():
    """This thread alone: the kernel knows of no process."""
    group = os.getgid()
    if LIBC.syscall(SETRESGID, group, group, group):
        raise OSError(ctypes.get_errno(), "setresgid")


class Program:
    """What takes the orders."""

    def __init__(self, path, groups):
        self.path, self.groups, self.client, self.held = path, groups, None, None

    def connect(self):
        if self.client is None:
            self.client = Client(self.path, self.groups)
        return self.client

    def run(self, order, *words):
        if order in ("add", "find", "update", "delete", "reference"):
            group, secret = (None if words[0] == "-" else words[0]), " ".join(words[1:]).encode()
            return outcome(lambda: getattr(self.connect(), order)(group, secret))
        return outcome(lambda: getattr(self, order)(*words))

    def caller(self):
        return self.connect().caller

    def forget(self):
        """The next order is carried out on a connection of its own."""
        self.client = None
        return "done"

    def ask(self):
        return Client(self.path, self.groups).find()

    def duplicate(self, *program):
        """A mistake of an entitled program: a child that has not its group gets its connection."""
        stream = self.connect().stream
        nonce = self.client.nonce.hex() or "-"
        os.set_inheritable(stream.fileno(), True)
        ours, theirs = os.pipe()
        if os.fork() == 0:
            try:
                drop_group()
                os.dup2(theirs, 1)
                os.execv(program[0], [*program, str(stream.fileno()), nonce])
            finally:
                os._exit(1)
        os.close(theirs)
        said = b""
        while part := os.read(ours, 1 << 16):
            said += part
        os.wait()
        return said.decode().strip()

    def send(self, path):
        """Another: it sends its connection to somebody else."""
        client = self.connect()
        with open_socket(path) as other:
            socket.send_fds(other, [client.nonce or b"-"], [client.stream.fileno()])
            other.recv(1)
        return "sent"

    def hold(self):
        self.held = ctypes.create_string_buffer(self.connect().find().removeprefix("found ").encode())
        return f"{os.getpid()} {ctypes.addressof(self.held)} {self.client.stream.fileno()}"

    def thread(self, which):
        if which == "drop":
            return in_thread(lambda: (drop_group(), self.ask())[1])
        may_ask, dropped = threading.Event(), threading.Event()
        result = []

        def work():
            dropped.wait()
            result.append(outcome(self.ask))
            may_ask.set()

        threading.Thread(target=work).start()
        drop_group()
        dropped.set()
        may_ask.wait()
        return result[0]

    def leave(self):
        """Ends the first thread; another one answers this order and the next ones."""
        leader = threading.main_thread()
        threading.Thread(target=lambda: (wait_for_zombie(), say(outcome(self.ask)), serve(self))).start()
        sys.stdout.flush()
        LIBC.syscall({"x86_64": 60, "aarch64": 93}[os.uname().machine], 0)  # exit(2), of this thread alone
        return str(leader)


def wait_for_zombie():
    while True:
        with open("/proc/self/stat", encoding="latin-1") as file:
            if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                return


def say(text):
    os.write(1, (str(text).replace("\n", " ") + "\n").encode())


def serve(program):
    for line in sys.stdin:
        say(program.run(*line.split()))


if __name__ == "__main__":
    serve(Program(sys.argv[1], sys.argv[2:]))
