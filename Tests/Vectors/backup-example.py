#!/usr/bin/env python3
"""Computes backup-example.json, the worked example of docs/backup-format.md.

Written from that document alone, on Python's hashlib and hmac and on the package `cryptography`
(AES-GCM); nothing of it is shared with the Swift code. Without arguments it writes the JSON beside
itself, after opening what it has made. The store and its keys are those of file-key-example.py, so
the wrapped file keys there open with the class keys here.
"""

import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# Inputs. Nobody should use these.

PASSPHRASE = "correct horse"
SALT = bytes(range(0x40, 0x60))
LOG2_N, R, P = 4, 8, 1  # a real one has 17, 8, 1
STORE_ID = bytes.fromhex("11111111222243338444555555555555")
NONCE = bytes(range(0xB0, 0xBC))

MAGIC, VERSION = b"KCBKUP\r\n", 1


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return hmac.new(key, info + b"\x01", hashlib.sha256).digest()


def class_key(number, generation):
    return bytes([number ^ (generation << 6)]) * 32


def record(number, generation):
    return struct.pack(">BI", number, generation) + class_key(number, generation)


def stretch(salt, log2_n, r, p):
    return hashlib.scrypt(PASSPHRASE.encode(), salt=salt, n=1 << log2_n, r=r, p=p, dklen=32, maxmem=256 << 20)


def opened(data):
    assert data[:8] == MAGIC
    version, log2_n, r, p = struct.unpack(">HBII", data[8:19])
    assert version == VERSION
    stretched = stretch(data[19:51], log2_n, r, p)
    assert data[51:83] == expand(stretched, b"file backup commitment 1" + data[:51])
    key = expand(stretched, b"file backup key 1" + data[:51])
    return AESGCM(key).decrypt(data[99:111], data[111:], data[:99])


def example():
    identity = MAGIC + struct.pack(">HBII", VERSION, LOG2_N, R, P) + SALT
    stretched = stretch(SALT, LOG2_N, R, P)
    commitment = expand(stretched, b"file backup commitment 1" + identity)
    key = expand(stretched, b"file backup key 1" + identity)
    records = b"".join(record(number, generation) for generation in (1, 2) for number in (1, 2, 3, 4))
    start = identity + commitment + STORE_ID
    assert len(start) == 99
    file = start + NONCE + AESGCM(key).encrypt(NONCE, records, start)
    assert len(file) == 127 + 37 * 8
    assert opened(file) == records
    return {
        "source": "docs/backup-format.md, computed by backup-example.py",
        "passphrase": PASSPHRASE,
        "salt": SALT.hex(),
        "log2N": LOG2_N,
        "scryptOutput": stretched.hex(),
        "commitment": commitment.hex(),
        "key": key.hex(),
        "storeID": STORE_ID.hex(),
        "nonce": NONCE.hex(),
        "records": records.hex(),
        "file": file.hex(),
    }


def main():
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(example(), indent=2) + "\n")


if __name__ == "__main__":
    main()
