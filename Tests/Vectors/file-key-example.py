#!/usr/bin/env python3
"""Computes file-key-example.json: the key of a file, wrapped for each class as docs/file-format.md says.

Written from that document alone, on Python's hmac and on the package `cryptography` (AES key wrap,
X25519); nothing of it is shared with the Swift code. Without arguments it writes the JSON beside
itself, after opening what it has made.
"""

import hashlib
import hmac
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

# Inputs. Nobody should use these keys.

STORE_ID = bytes.fromhex("11111111222243338444555555555555")
FILE_ID = bytes.fromhex("aaaaaaaabbbb4ccc8dddeeeeeeeeeeee")
FILE_KEY = bytes(range(0x60, 0x80))
EPHEMERAL = b"\x0e" * 32

A, B, C, D, INACTIVE = 1, 2, 3, 4, 7
GENERATION = 2


def class_key(number):
    """That of generation 2 of the keybag's example; the one of class 7 comes from class A's."""
    if number == INACTIVE:
        return expand(class_key(A), b"user inactive 1" + STORE_ID + GENERATION.to_bytes(4, "big"))
    return bytes([number ^ (GENERATION << 6)]) * 32


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return mac(key, info + b"\x01")


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agree(private, other):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(other))


def under_class_key(number):
    key = expand(class_key(number), b"file key 1" + STORE_ID + FILE_ID + bytes([number]))
    wrapped = aes_key_wrap(key, FILE_KEY)
    assert aes_key_unwrap(key, wrapped) == FILE_KEY
    return {
        "class": number,
        "classKey": class_key(number).hex(),
        "publicKey": "",
        "wrappingKey": key.hex(),
        "wrappedKey": wrapped.hex(),
    }


def by_pair():
    recipient, sender = public(class_key(B)), public(EPHEMERAL)

    def wrapping_key(shared):
        extracted = mac(sender + recipient, shared)
        return expand(extracted, b"file key B 1" + STORE_ID + FILE_ID + bytes([B]) + sender + recipient)

    key = wrapping_key(agree(EPHEMERAL, recipient))
    wrapped = aes_key_wrap(key, FILE_KEY)
    assert aes_key_unwrap(wrapping_key(agree(class_key(B), sender)), wrapped) == FILE_KEY
    return {
        "class": B,
        "classKey": class_key(B).hex(),
        "recipient": recipient.hex(),
        "publicKey": sender.hex(),
        "wrappingKey": key.hex(),
        "wrappedKey": wrapped.hex(),
    }


def main():
    example = {
        "source": "docs/file-format.md, computed by file-key-example.py",
        "storeID": STORE_ID.hex(),
        "fileID": FILE_ID.hex(),
        "fileKey": FILE_KEY.hex(),
        "ephemeral": EPHEMERAL.hex(),
        "keys": [under_class_key(A), by_pair(), under_class_key(C), under_class_key(D), under_class_key(INACTIVE)],
    }
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(example, indent=2) + "\n")


if __name__ == "__main__":
    main()
