"""Compares our codec with Google's: see Scripts/check-wire.

Makes random messages of every kind that Protos/ describes, with what docs/protocol.md demands of their values. Each goes to
our decoder as it is, then with its fields in another order, unpacked and with unknown ones between them. What our encoder
makes of it must be what Google's encoder wrote, byte for byte.
"""

import base64
import random
import subprocess
import sys

import item_metadata_pb2
import keychain_wire_pb2 as wire
from google.protobuf.descriptor import FieldDescriptor as Field

SIXTEEN = {"identifier", "file_id", "store_id", "instance", "ticket", "nonce"}
SIZES = {"wrapped_key": 40, "header": 83, "enrolment": 32}
TEXT_ATTRIBUTES = [0x6C61626C, 0x61636374, 0x73766365]  # labl, acct, svce: what a generic password has
FLAGS = [0, 1, 1 << 1, 1 << 3, 1 << 4, 1 << 4 | 1 << 1 | 1 << 14, 1 << 31]
MOST = 1 << 48


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tail = b""

    def bytes(self, count):
        return self.random.randbytes(count)

    def text(self):
        letters = "\0a\n\u00e9e\u0301\u65e5\U0001f511\U0010ffff"
        return "".join(self.random.choice(letters) for _ in range(self.random.randrange(12)))

    def number(self, bits):
        return self.random.getrandbits(self.random.randrange(1, bits + 1))

    def time(self):
        return self.random.choice([0.0, -0.0, -1.5, 8e8 + self.random.random(), 1.7e308])

    def moment(self):
        """A date that calendars show, as exact as a date of expiry is."""
        return (self.random.choice([0, 1, 1_700_000_000_123, 253_402_300_799_999]) - 978_307_200_000) / 1000

    def expiry(self, message):
        if self.maybe():
            message.expires = self.moment()
        elif self.maybe():
            message.expires_after = self.number(64)
        elif self.maybe():
            message.never_expires = True

    def secret(self, message, name, size=None):
        size = self.random.choice([0, 1, 32, 200]) if size is None else size
        setattr(message, name, size)
        self.tail += self.bytes(size)

    def maybe(self):
        return self.random.random() < 0.5

    def enum(self, message, name):
        values = message.DESCRIPTOR.fields_by_name[name].enum_type.values
        setattr(message, name, self.random.choice([v.number for v in values if not v.name.endswith("_UNSPECIFIED")]))

    # Messages of which not every combination of fields stands for something.

    def attributes(self, target, is_request):
        if is_request:
            codes = self.random.sample(TEXT_ATTRIBUTES, self.random.randrange(4))
            target.text_codes.extend(codes)
            target.texts.extend(self.text() for _ in codes)
            return
        for kind, plural, make in [
            ("text", "texts", self.text),
            ("data", "datas", lambda: self.bytes(self.random.randrange(200))),
            ("number", "numbers", lambda: self.number(64) - (1 << 63)),
            ("date", "dates", self.time),
        ]:
            for _ in range(self.random.randrange(4)):
                getattr(target, kind + "_codes").append(self.number(32))
                getattr(target, plural).append(make())

    def access(self, message):
        self.enum(message, "protection")
        message.access_flags = self.random.choice(FLAGS)
        if message.access_flags and self.maybe():
            message.access_extension = b"\1"

    def item(self, item):
        self.enum(item, "item_class")
        item.identifier = self.bytes(16)
        self.attributes(item.attributes, False)
        if not item.attributes.ByteSize():
            item.ClearField("attributes")
        item.access_group = self.text()
        item.synchronizable = self.maybe()
        self.access(item)
        item.created, item.modified = self.time(), self.time()
        for name in ["secret_size", "certificate_size"]:
            if self.maybe():
                self.secret(item, name)
        if self.maybe():
            item.expires = self.moment()

    def query(self, query):
        query.item_class = wire.ITEM_CLASS_GENERIC_PASSWORD
        self.attributes(query.attributes, True)
        if not query.attributes.ByteSize():
            query.ClearField("attributes")
        if self.maybe():
            query.access_group = self.text()
        if self.maybe():
            self.enum(query, "protection")
        if self.maybe():
            query.created = self.time()
        if self.maybe():
            query.modified = self.time()
        self.enum(query, "synchronizable")
        if self.maybe():
            query.persistent_reference = b"genp" + self.bytes(16)
        if self.maybe():
            query.host_or_subdomain_of = self.text()
        if self.maybe():
            query.all = True
        elif self.maybe():
            query.at_most = self.number(63)
        self.enum(query, "authentication_ui")
        if self.maybe():
            query.expires = self.moment()

    def level(self, level):
        for _ in range(self.random.randrange(4)):
            query = level.queries.add()
            self.query(query)
            for name in ["created", "modified", "expires"]:
                query.ClearField(name)

    def addition(self, add):
        add.item_class = wire.ITEM_CLASS_GENERIC_PASSWORD
        self.attributes(add.attributes, True)
        if not add.attributes.ByteSize():
            add.ClearField("attributes")
        if self.maybe():
            add.access_group = self.text()
        add.synchronizable = self.maybe()
        if self.maybe():
            self.access(add)
        if self.maybe():
            self.secret(add, "secret_size")
        self.expiry(add)

    def changes(self, changes):
        self.attributes(changes.attributes, True)
        if not changes.attributes.ByteSize():
            changes.ClearField("attributes")
        if self.maybe():
            changes.access_group = self.text()
        if self.maybe():
            changes.synchronizable = self.maybe()
        if self.maybe():
            self.access(changes)
        if self.maybe():
            changes.created = self.time()
        if self.maybe():
            self.secret(changes, "secret_size")
        self.expiry(changes)

    def wrapped(self, key):
        key.file_id, key.store_id = self.bytes(16), self.bytes(16)
        self.enum(key, "file_class")
        key.generation = self.number(32)
        if key.file_class == wire.FILE_CLASS_COMPLETE_UNLESS_OPEN:
            key.public_key = self.bytes(32)
        key.wrapped_key = self.bytes(40)

    def use(self, use):
        use.key = b"keys" + self.bytes(16)
        self.enum(use, "authentication_ui")
        name = self.random.choice(["sign", "agree"])
        getattr(use, name).SetInParent()
        getattr(use, name).bytes = self.bytes(self.random.randrange(1025))

    def biometry(self, answer):
        if self.maybe():
            answer.ticket = self.bytes(16)
        else:
            self.enum(answer, "failure")
            if answer.failure in (1, 2, 3, 8):
                answer.message = self.text()

    def authentication(self, status):
        status.has_passcode = self.maybe()
        self.enum(status, "biometry")
        if status.biometry != status.BIOMETRY_NOT_AVAILABLE:
            self.enum(status, "kind")
        if status.biometry == status.BIOMETRY_READY:
            status.enrolment = self.bytes(32)
        if status.biometry in (status.BIOMETRY_NOT_ENROLLED, status.BIOMETRY_NOT_AVAILABLE):
            status.message = self.text()

    def expired(self, expired):
        expired.removed = self.number(31)
        if self.maybe():
            expired.next = self.moment()

    def step(self, step):
        self.fill(getattr(step, self.random.choice(["add", "put", "update", "delete"])))

    def fill(self, message):
        """All fields, of any message in which each stands for itself."""
        special = {
            "Item": self.item,
            "Query": self.query,
            "Level": self.level,
            "Add": self.addition,
            "Changes": self.changes,
            "Step": self.step,
            "Expired": self.expired,
            "WrappedFileKey": self.wrapped,
            "KeyUse": self.use,
            "BiometryAnswer": self.biometry,
            "AuthenticationStatus": self.authentication,
        }.get(message.DESCRIPTOR.name)
        if special:
            return special(message)
        for field in message.DESCRIPTOR.fields:
            name, kind = field.name, field.type
            of_message = kind == Field.TYPE_MESSAGE
            if field.is_repeated if hasattr(field, "is_repeated") else field.label == Field.LABEL_REPEATED:
                self.fill_list(message, field)
            elif name.endswith("_size"):
                self.secret(message, name, {"key_size": 32, "result_size": 64}.get(name))
            elif of_message:
                getattr(message, name).SetInParent()
                self.fill(getattr(message, name))
            elif field.containing_oneof and field.has_presence and field.containing_oneof.name == "device_key":
                if field.containing_oneof.fields[self.random.randrange(2)] is field or field.number == 7:
                    setattr(message, name, self.text())
            elif kind == Field.TYPE_ENUM:
                self.enum(message, name)
            elif kind == Field.TYPE_BYTES:
                setattr(message, name, self.bytes(16 if name in SIXTEEN else SIZES.get(name, self.random.randrange(300))))
            elif kind == Field.TYPE_STRING:
                if not field.has_presence or self.maybe():
                    setattr(message, name, self.text())
            elif kind == Field.TYPE_BOOL:
                setattr(message, name, self.maybe())
            elif kind == Field.TYPE_DOUBLE:
                setattr(message, name, self.time())
            elif name == "idle_limit":
                if self.maybe():
                    setattr(message, name, self.random.randrange(1, 31_622_401))
            elif name == "time_after_lock":
                # Of a status, only older daemons leave it out, and a reader has the usual time in its place.
                if field.containing_type.name == "LockStatus" or self.maybe():
                    setattr(message, name, self.random.randrange(86_401))
            elif name in ("start", "next"):
                setattr(message, name, self.number(64) - (1 << 63))
            elif kind == Field.TYPE_INT64:
                setattr(message, name, self.random.randrange(MOST))
            elif kind == Field.TYPE_SINT32:
                setattr(message, name, self.random.choice([-25300, -50, 1, 2**31 - 1, -(2**31)]))
            elif kind == Field.TYPE_INT32:
                setattr(message, name, self.number(32) - (1 << 31))
            elif kind in (Field.TYPE_UINT32, Field.TYPE_UINT64):
                setattr(message, name, self.number(32 if kind == Field.TYPE_UINT32 else 64))
            else:
                raise NotImplementedError(field.full_name)

    def fill_list(self, message, field):
        values = getattr(message, field.name)
        if field.name == "item_counts":
            for number in sorted(self.random.sample(range(1, 6), self.random.randrange(6))):
                values.add(item_class=number, count=self.random.randrange(MOST))
        elif field.name == "factors":
            values.extend(sorted(self.random.sample([1, 2, 3], self.random.randrange(1, 4))))
        elif field.name == "alternatives":
            for _ in range(self.random.randrange(1, 4)):
                self.fill(values.add())
        elif field.name == "outcomes":
            values.extend(self.random.randrange(1, 6) for _ in range(self.random.randrange(300)))
        elif field.name == "groups":
            values.extend("g" + self.text() for _ in range(self.random.randrange(4)))
        elif field.name == "evidence":
            values.extend(self.text() for _ in range(self.random.randrange(4)))
        elif field.full_name == "keychain.wire.ExpiredItems.delete":
            values.extend(self.bytes(16) for _ in range(self.random.randrange(4)))
        elif field.full_name == "keychain.wire.Resolved.queries":
            values.extend(self.random.randrange(16) for _ in range(3))
        elif field.full_name == "keychain.wire.Resolved.asking":
            values.extend(self.random.randrange(16) for _ in range(self.random.randrange(4)))
        elif field.type == Field.TYPE_MESSAGE:
            for _ in range(self.random.randrange(4)):
                self.fill(values.add())
        else:
            raise NotImplementedError(field.full_name)

    # Whole messages.

    def client(self, kind):
        message = wire.ClientMessage()
        self.tail = b""
        if kind != "hello":
            message.id = self.random.randrange(1, 1 << 64)
        content = getattr(message, kind)
        content.SetInParent()
        self.fill(content)
        if kind == "find":
            content.wants_secrets = self.maybe()
        if kind not in ("hello", "subscribe", "verify_biometry") and self.maybe():
            requests, self.tail = self.tail, b""
            self.secret(message.proof, "passcode_size")
            if self.maybe():
                self.secret(message.proof, "application_password_size")
            if self.maybe():
                message.proof.ticket = self.bytes(16)
            is_first = message.DESCRIPTOR.fields_by_name[kind].number > message.DESCRIPTOR.fields_by_name["proof"].number
            self.tail = self.tail + requests if is_first else requests + self.tail
        if kind != "hello" and self.maybe():
            message.nonce = self.bytes(16)
        return message

    def daemon(self, kind):
        message = wire.DaemonMessage()
        self.tail = b""
        if kind not in ("welcome", "goodbye"):
            message.id = self.random.randrange(1, 1 << 64)
        if kind not in ("welcome", "goodbye", "failure", "lock_event", "item_event", "biometry", "biometry_hint", "working"):
            message.more = self.maybe()
        for _ in range({"added": 1, "found": 3, "resolved": 3, "exported": 2}.get(kind, 0)):
            self.item(message.items.add())
        getattr(message, kind).SetInParent()
        self.fill(getattr(message, kind))
        return message

    def metadata(self):
        message = item_metadata_pb2.ItemMetadata()
        self.tail = b""
        message.access_group, message.synchronizable = self.text(), self.maybe()
        message.created, message.modified = self.time(), self.time()
        message.secret_tag = self.bytes(self.random.choice([0, 16]))
        self.attributes(message, False)
        return message


# ---- The same message, written otherwise


def number(data, place):
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place


def written(value):
    data = b""
    while value >= 0x80:
        data, value = data + bytes([value & 0x7F | 0x80]), value >> 7
    return data + bytes([value])


def shuffled(data, descriptor, generator):
    """Fields of one number stay in their order. The order of secrets is that of lists, so lists of messages stay too."""
    fields, place = [], 0
    while place < len(data):
        start = place
        tag, place = number(data, place)
        field = descriptor.fields_by_number[tag >> 3]
        if tag & 7 == 2:
            count, place = number(data, place)
            content, place = data[place : place + count], place + count
            packed = {Field.TYPE_FIXED32: 4, Field.TYPE_DOUBLE: 8, Field.TYPE_SINT64: 0, Field.TYPE_ENUM: 0}.get(field.type)
            if field.message_type is not None:
                content = shuffled(content, field.message_type, generator)
            elif packed is not None and generator.maybe():
                fields += [(tag >> 3, piece) for piece in unpacked(tag >> 3, content, packed)]
                continue
            fields.append((tag >> 3, written(tag) + written(len(content)) + content))
        else:
            if tag & 7 == 0:
                _, place = number(data, place)
            else:
                place += 8 if tag & 7 == 1 else 4
            fields.append((tag >> 3, data[start:place]))
    order = {number: generator.random.random() for number, _ in fields}
    fields.sort(key=lambda field: order[field[0]])
    unknown = [b"", written(1000 << 3) + written(1 << 63), written(1001 << 3 | 2) + b"\3abc", written(1002 << 3 | 5) + b"1234"]
    return b"".join(piece + generator.random.choice(unknown) for _, piece in fields)


def unpacked(field, content, size):
    pieces, place = [], 0
    while place < len(content):
        start = place
        place = place + size if size else number(content, place)[1]
        pieces.append(written(field << 3 | {4: 5, 8: 1, 0: 0}[size]) + content[start:place])
    return pieces


def word(data):
    return base64.b64encode(data).decode() or "-"


def main():
    helper, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    generator = Generator(seed)
    process = subprocess.Popen([helper, "wire"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def echo(kind, message, tail):
        process.stdin.write(f"{kind} {word(message)} {word(tail)}\n")
        process.stdin.flush()
        return process.stdout.readline().strip()

    def kinds(descriptor):
        return [field.name for field in descriptor.oneofs_by_name["kind"].fields]

    cases = [("client", kind, lambda kind=kind: generator.client(kind)) for kind in kinds(wire.ClientMessage.DESCRIPTOR)]
    cases += [("daemon", kind, lambda kind=kind: generator.daemon(kind)) for kind in kinds(wire.DaemonMessage.DESCRIPTOR)]
    cases += [("metadata", "metadata", generator.metadata)]
    compared = 0
    for side, kind, make in cases:
        for _ in range(count):
            message = make()
            data = message.SerializeToString(deterministic=True)
            expected = f"{word(data)} {word(generator.tail)}"
            for form in (data, shuffled(data, message.DESCRIPTOR, generator)):
                answer = echo(side, form, generator.tail)
                compared += 1
                if answer != expected:
                    sys.exit(
                        f"wire: {side} {kind}, seed {seed}\n  sent {word(form)} {word(generator.tail)}\n"
                        f"  expected {expected}\n  answered {answer}"
                    )
    process.stdin.close()
    if process.wait() != 0:
        sys.exit("wire: the helper failed")
    print(f"wire: {compared} messages of {len(cases)} kinds are the same to both implementations (seed {seed})")


main()
