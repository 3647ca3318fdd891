#!/usr/bin/env python3
"""Computes constrained-example.json: the keys of constrained secrets, as docs/store-format.md says.

Written from that document alone, on Python's hashlib and hmac and on the package `cryptography` (AES
key wrap, X25519); nothing of it is shared with the Swift code. Without arguments it writes the JSON
beside itself, after opening what it has made.
"""

import hashlib
import hmac
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

# Inputs. Nobody should use these keys.

STORE_ID = bytes.fromhex("101112131415461788191a1b1c1d1e1f")
ROW_ID = bytes.fromhex("202122232425462788292a2b2c2d2e2f")
CLASS_KEY = b"\xc6" * 32
DEVICE_KEY = b"\xdd" * 32
HALF_KEY = b"\x5e" * 32
EPHEMERAL = b"\x0e" * 32
CONSENT = b"\x0c" * 32
PASSWORD = b"a password of the program's"
COST = 4

WHEN_UNLOCKED = 6
DEVICE_PASSCODE, APPLICATION_PASSWORD = 1 << 4, 1 << 31


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return mac(key, info + b"\x01")


def public(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def agree(private, other):
    return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(other))


def password_key():
    salt = hashlib.sha256(b"application password 1" + STORE_ID).digest()
    stretched = hashlib.scrypt(PASSWORD, salt=salt, n=1 << COST, r=8, p=1, dklen=32)
    tangle = expand(DEVICE_KEY, b"passcode tangle 1" + STORE_ID)
    return expand(mac(tangle, stretched), b"passcode key 1" + STORE_ID)


def example(flags):
    access = bytes([WHEN_UNLOCKED]) + flags.to_bytes(4, "big")
    digest = hashlib.sha256(access).digest()
    row_key = expand(CLASS_KEY, b"row key 1" + ROW_ID + bytes([WHEN_UNLOCKED]) + digest)
    needs_passcode, needs_password = flags & DEVICE_PASSCODE, flags & APPLICATION_PASSWORD
    sender = public(EPHEMERAL) if needs_passcode else b""
    recipient = public(CONSENT) if needs_passcode else b""
    password = password_key() if needs_password else b""

    def wrapping_key(shared):
        extracted = mac(sender + recipient, shared + password)
        return expand(extracted, b"constrained secret 1" + STORE_ID + ROW_ID + digest)

    key = wrapping_key(agree(EPHEMERAL, recipient) if needs_passcode else b"")
    inner = bytes([1, COST if needs_password else 0]) + bytes(6) + sender + aes_key_wrap(key, HALF_KEY)
    secret_key = aes_key_wrap(row_key, inner)

    opened = aes_key_unwrap(row_key, secret_key)
    other = wrapping_key(agree(CONSENT, sender) if needs_passcode else b"")
    assert aes_key_unwrap(other, opened[-40:]) == HALF_KEY
    return {
        "flags": flags,
        "access": access.hex(),
        "digest": digest.hex(),
        "rowKey": row_key.hex(),
        "wrappingKey": key.hex(),
        "inner": inner.hex(),
        "secretKey": secret_key.hex(),
    }


def main():
    examples = [
        example(DEVICE_PASSCODE),
        example(APPLICATION_PASSWORD),
        example(DEVICE_PASSCODE | APPLICATION_PASSWORD),
    ]
    values = {
        "consentPublicKey": public(CONSENT).hex(),
        "passwordKey": password_key().hex(),
        "examples": examples,
    }
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps(values, indent=2) + "\n")


if __name__ == "__main__":
    main()
