#!/usr/bin/env python3
"""Computes export-example.json, the worked example of docs/export-format.md.

Written from that document alone, on Python's hashlib and hmac and on the package `cryptography`
(AES-GCM); nothing of it is shared with the Swift code. Without arguments it writes the JSON beside
itself, after reading its own files back. With `fill COUNT FILE` it writes an export of that many
items, with a random salt and the parameters of a real one, under the passphrase of the example:
Benchmarks/measure-export imports it.
"""

import hashlib
import hmac
import json
import os
import pathlib
import struct
import sys
import uuid

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# Inputs. Nobody should use these.

PASSPHRASE = "correct horse"
SALT = bytes(range(0x40, 0x60))
LOG2_N, R, P = 4, 8, 1  # a real export has 17, 8, 1

MAGIC, VERSION = b"KCEXPT\r\n", 1
CHUNK = 65_536
TAG = 16

GENP, INET = 1, 2
AK, CK = 6, 7

# The beginning, and keys.


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return hmac.new(key, info + b"\x01", hashlib.sha256).digest()


class Keys:
    def __init__(self, salt, log2_n):
        self.identity = MAGIC + struct.pack(">HBII", VERSION, log2_n, R, P) + salt
        assert len(self.identity) == 51
        self.stretched = hashlib.scrypt(
            PASSPHRASE.encode(), salt=salt, n=1 << log2_n, r=R, p=P, dklen=32, maxmem=256 << 20)
        self.commitment = expand(self.stretched, b"export commitment 1" + self.identity)
        self.chunk_key = expand(self.stretched, b"export key 1" + self.identity)
        self.header = self.identity + self.commitment


# Entries.


def varint(number):
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def code(name):
    return int.from_bytes(name.encode(), "big")


def metadata(group, synchronizable, created, modified, attributes):
    """The message ItemMetadata of Protos/item_metadata.proto; attributes in the order of their codes."""
    out = field(1, group.encode())
    if synchronizable:
        out += varint(2 << 3) + b"\x01"
    for number, seconds in [(3, created), (4, modified)]:
        if seconds != 0:
            out += varint(number << 3 | 1) + struct.pack("<d", seconds)
    kinds = [(str, 6, lambda v: v.encode()), (bytes, 8, bytes)]
    ordered = sorted(attributes.items(), key=lambda entry: code(entry[0]))
    for kind, first, encode in kinds:
        of_kind = [(name, value) for name, value in ordered if isinstance(value, kind)]
        if of_kind:
            out += field(first, b"".join(struct.pack("<I", code(name)) for name, _ in of_kind))
            for _, value in of_kind:
                out += field(first + 1, encode(value))
    numbers = [(name, value) for name, value in ordered if isinstance(value, int)]
    if numbers:
        out += field(10, b"".join(struct.pack("<I", code(name)) for name, _ in numbers))
        out += field(11, b"".join(varint(v << 1 if v >= 0 else (-v << 1) - 1) for _, v in numbers))
    return out


def item(item_class, protection, identifier, meta, secret):
    return (
        struct.pack(">BBBI", 1, item_class, protection, 0) + identifier
        + struct.pack(">BII", secret is not None, len(meta), len(secret or b"")) + meta + (secret or b""))


def end(items, device_only=0, constrained=0, of_tokens=0, unreadable=0):
    return struct.pack(">BQQQQQ", 2, items, device_only, constrained, of_tokens, unreadable)


# Chunks.


def nonce(number, is_last):
    return number.to_bytes(11, "big") + bytes([is_last])


def seal(keys, content, write):
    """`content` gives bytes of any length; what is held back is never more than one chunk."""
    cipher, pending, number = AESGCM(keys.chunk_key), bytearray(), 0
    write(keys.header)
    for piece in content:
        pending += piece
        while len(pending) > CHUNK:
            write(cipher.encrypt(nonce(number, 0), bytes(pending[:CHUNK]), None))
            del pending[:CHUNK]
            number += 1
    write(cipher.encrypt(nonce(number, 1), bytes(pending), None))


def sealed(keys, *entries):
    out = bytearray()
    seal(keys, entries, out.extend)
    return bytes(out)


def opened(data):
    keys = Keys(data[19:51], data[10])
    assert hmac.compare_digest(data[:83], keys.header)
    cipher, rest, number, out = AESGCM(keys.chunk_key), data[83:], 0, b""
    while rest:
        chunk, rest = rest[:CHUNK + TAG], rest[CHUNK + TAG:]
        out += cipher.decrypt(nonce(number, not rest), chunk, None)
        number += 1
    return out


# The example.

CREATED, MODIFIED = 800_000_000.0, 800_000_060.5


def example():
    keys = Keys(SALT, LOG2_N)
    password = item(
        GENP, AK, bytes.fromhex("202122232425462788292a2b2c2d2e2f"),
        metadata("mytool", False, CREATED, MODIFIED, {"acct": "alice", "svce": "mail"}), b"hunter2")
    without_secret = item(
        INET, CK, bytes.fromhex("303132333435463788393a3b3c3d3e3f"),
        metadata(
            "mytool", True, CREATED, CREATED,
            {"srvr": "h.example", "acct": b"\x00\xff", "port": 443, "path": "", "sdmn": "", "ptcl": 0, "atyp": ""}),
        None)
    closing = end(2, device_only=1, constrained=2)
    content = password + without_secret + closing
    file = sealed(keys, content)
    assert opened(file) == content
    # Longer than three chunks, and one that fills its last chunk to the brim.
    long_meta = metadata("mytool", False, CREATED, CREATED, {"acct": "long", "svce": "mail"})
    identifier = bytes.fromhex("404142434445464788494a4b4c4d4e4f")
    long_file = sealed(keys, item(GENP, AK, identifier, long_meta, bytes(200_000)), end(1))
    brim = 2 * CHUNK - 32 - len(long_meta) - len(end(1))
    full_file = sealed(keys, item(GENP, AK, identifier, long_meta, b"\x5a" * brim), end(1))
    assert len(full_file) == 83 + 2 * (CHUNK + TAG)
    assert len(opened(full_file)) == 2 * CHUNK
    return {
        "passphrase": PASSPHRASE,
        "salt": SALT.hex(),
        "log2N": LOG2_N,
        "scryptOutput": keys.stretched.hex(),
        "commitment": keys.commitment.hex(),
        "chunkKey": keys.chunk_key.hex(),
        "nonce": nonce(0, True).hex(),
        "password": password.hex(),
        "passwordDigest": hashlib.sha256(password).hexdigest(),
        "withoutSecret": without_secret.hex(),
        "end": closing.hex(),
        "file": file.hex(),
        "longFileCount": len(long_file),
        "longFileDigest": hashlib.sha256(long_file).hexdigest(),
        "fullSecretCount": brim,
        "fullFileDigest": hashlib.sha256(full_file).hexdigest(),
    }


def many(count):
    for number in range(count):
        meta = metadata(
            "measure", False, CREATED + number, CREATED + number,
            {"acct": f"account-{number:07}", "svce": f"service-{number % 1000:04}", "labl": f"Label {number}"})
        yield item(GENP, AK, uuid.UUID(int=number, version=4).bytes, meta, b"s" * 40)
    yield end(count)


if sys.argv[1:2] == ["fill"]:
    with open(sys.argv[3], "wb") as target:
        seal(Keys(os.urandom(32), 17), many(int(sys.argv[2])), target.write)
else:
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(example(), indent=2) + "\n")
