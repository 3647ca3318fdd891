#!/usr/bin/env python3
"""Computes keybag-example.json, the worked example of docs/keybag-format.md.

Written from that document alone, on Python's hashlib and hmac and on the package `cryptography`
(AES key wrap, AES-GCM, X25519); nothing of it is shared with the Swift code. Without arguments it
writes the JSON beside itself, after reading its own files back.
"""

import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap, aes_key_wrap

# Inputs. Nobody should use these keys.

DEVICE_KEY = bytes(range(0x00, 0x20))
STORE_ID = bytes.fromhex("11111111222243338444555555555555")
SALT = bytes(range(0x40, 0x60))
PASSCODE = "correct horse"
LOG2_N, R, P = 4, 8, 1  # a real store has 17, 8, 1

PASSCODE_SET = 1 << 0
IDLE_LIMIT = 300

BY_DEVICE_KEY, BY_PASSCODE, BY_SUCCESSOR = 1, 2, 3

FILE_A, FILE_B, FILE_C, FILE_D = 1, 2, 3, 4
AK, CK, DK, AKU, CKU, DKU, AKPU = 6, 7, 8, 9, 10, 11, 12
INDEX_C, INDEX_D = 32, 33

TIERS = {
    "A": [FILE_A, FILE_B, AK, AKU, AKPU],
    "C": [FILE_C, CK, CKU, INDEX_C],
    "D": [FILE_D, DK, DKU, INDEX_D],
}
ALL_KEYS = sorted(sum(TIERS.values(), []))


def class_key(number, generation):
    return bytes([(number ^ (generation << 6)) & 0xFF]) * 32


# Derivations.


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return mac(key, info + b"\x01")


SCRYPT_OUTPUT = hashlib.scrypt(PASSCODE.encode(), salt=SALT, n=1 << LOG2_N, r=R, p=P, dklen=32)
TANGLE_SALT = expand(DEVICE_KEY, b"passcode tangle 1" + STORE_ID)
PSEUDORANDOM_KEY = mac(TANGLE_SALT, SCRYPT_OUTPUT)
PASSCODE_KEY = expand(PSEUDORANDOM_KEY, b"passcode key 1" + STORE_ID)
TAG_KEY = expand(DEVICE_KEY, b"keybag 1" + STORE_ID + b"\x00")


def wrapping_key(number, generation, wrap):
    if wrap == BY_SUCCESSOR:
        successor = class_key(number, generation + 1)
        return expand(successor, b"retired key 1" + STORE_ID + struct.pack(">BI", number, generation))
    root = {BY_DEVICE_KEY: DEVICE_KEY, BY_PASSCODE: PASSCODE_KEY}[wrap]
    return expand(root, b"class key 1" + STORE_ID + struct.pack(">BI", number, generation))


def public_key(number, generation):
    if number != FILE_B:
        return b""
    return X25519PrivateKey.from_private_bytes(class_key(number, generation)).public_key().public_bytes_raw()


# The keybag.


def without_passcode(generation):
    return [(number, generation, BY_DEVICE_KEY) for number in ALL_KEYS if number != AKPU]


def behind_passcode(entries):
    return [
        (number, generation, BY_DEVICE_KEY if number in TIERS["D"] else BY_PASSCODE)
        for number, generation, _ in entries
    ]


def with_passcode(generation):
    return behind_passcode([(number, generation, None) for number in ALL_KEYS])


def retired(generation):
    return [(number, generation, BY_SUCCESSOR) for number in (FILE_A, FILE_B, FILE_C, FILE_D)]


def keybag(bag_generation, entries, passcode_is_set):
    head = b"KEYBAG\r\n" + struct.pack(">H", 1) + STORE_ID + struct.pack(">Q", bag_generation)
    if passcode_is_set:
        head += struct.pack(">BIBII", PASSCODE_SET, IDLE_LIMIT, LOG2_N, R, P) + SALT
    else:
        head += struct.pack(">BIBII", 0, 0, 0, 0, 0) + bytes(32)
    assert len(head) == 80
    body = head + struct.pack(">H", len(entries))
    described = []
    for number, generation, wrap in entries:
        key = class_key(number, generation)
        by = wrapping_key(number, generation, wrap)
        wrapped = aes_key_wrap(by, key)
        public = public_key(number, generation)
        body += struct.pack(">BBIH", number, wrap, generation, len(wrapped)) + wrapped
        body += struct.pack(">H", len(public)) + public
        described.append({
            "number": number,
            "wrap": wrap,
            "generation": generation,
            "key": key.hex(),
            "wrappingKey": by.hex(),
            "wrappedKey": wrapped.hex(),
            "publicKey": public.hex(),
        })
    tag = mac(TAG_KEY, body)
    bag = body + tag
    read_back(bag, entries)
    return {
        "bagGeneration": bag_generation,
        "flags": PASSCODE_SET if passcode_is_set else 0,
        "idleLimit": IDLE_LIMIT if passcode_is_set else 0,
        "size": len(bag),
        "entries": described,
        "tag": tag.hex(),
        "bytes": bag.hex(),
    }


def read_back(bag, expected):
    """Reads a bag as the document tells a reader to."""
    assert bag[:8] == b"KEYBAG\r\n" and bag[8:10] == b"\x00\x01"
    assert bag[10:26] == STORE_ID
    assert hmac.compare_digest(mac(TAG_KEY, bag[:-32]), bag[-32:])
    (count,) = struct.unpack_from(">H", bag, 80)
    place = 82
    found = []
    for _ in range(count):
        number, wrap, generation, wrapped_count = struct.unpack_from(">BBIH", bag, place)
        assert wrapped_count == 40
        wrapped = bag[place + 8 : place + 48]
        (public_count,) = struct.unpack_from(">H", bag, place + 48)
        public = bag[place + 50 : place + 50 + public_count]
        place += 50 + public_count
        key = aes_key_unwrap(wrapping_key(number, generation, wrap), wrapped)
        assert key == class_key(number, generation)
        assert public == public_key(number, generation)
        found.append((number, generation, wrap))
    assert place == len(bag) - 32
    assert found == expected == sorted(found, key=lambda entry: (entry[1], entry[0]))


# The file `attempts` after two wrong passcodes.

WRONG_PASSCODE = "correct house"
WRONG_COUNT = 2
WRONG_TIME = 90_000_000_000
BOOT_ID = bytes.fromhex("66666666777748888999aaaaaaaaaaaa")


def attempts():
    wrong = hashlib.scrypt(WRONG_PASSCODE.encode(), salt=SALT, n=1 << LOG2_N, r=R, p=P, dklen=32)
    fingerprint_key = expand(DEVICE_KEY, b"attempt 1" + STORE_ID)
    fingerprint = mac(fingerprint_key, wrong)
    body = b"ATTEMPTS" + STORE_ID + struct.pack(">HQ", WRONG_COUNT, WRONG_TIME) + BOOT_ID + b"\x01" + fingerprint
    assert len(body) == 83
    tag_key = expand(DEVICE_KEY, b"attempts 1" + STORE_ID)
    tag = mac(tag_key, body)
    return {
        "wrongPasscode": WRONG_PASSCODE,
        "scryptOutput": wrong.hex(),
        "count": WRONG_COUNT,
        "time": WRONG_TIME,
        "bootID": BOOT_ID.hex(),
        "fingerprintKey": fingerprint_key.hex(),
        "fingerprint": fingerprint.hex(),
        "tagKey": tag_key.hex(),
        "tag": tag.hex(),
        "size": len(body + tag),
        "bytes": (body + tag).hex(),
    }


# What the kernel's keyring holds while the store of bag generation 3 is unlocked.

NONCE = b"\x0b" * 12
# Of the store's directory, as stat(2) has them, and the epoch of lock-state that the last lock began.
DEVICE, INODE = 0x802, 4711
LOCKED_AT = 0x1234567890ABCDEF


def keyring_blob(tier, bag_generation, bag_tag, generation):
    place = struct.pack(">QQ", DEVICE, INODE)
    key = expand(DEVICE_KEY, b"keyring 2" + STORE_ID + struct.pack(">Q", bag_generation) + place + bag_tag)
    context = STORE_ID + tier.encode() + struct.pack(">Q", LOCKED_AT if tier == "A" else 0) + BOOT_ID
    plaintext = b"".join(
        struct.pack(">BI", number, generation) + class_key(number, generation) for number in TIERS[tier]
    )
    payload = NONCE + AESGCM(key).encrypt(NONCE, plaintext, context)
    assert AESGCM(key).decrypt(payload[:12], payload[12:], context) == plaintext
    return {
        "tier": tier,
        "bagGeneration": bag_generation,
        "bagTag": bag_tag.hex(),
        "device": DEVICE,
        "inode": INODE,
        "lockedAt": LOCKED_AT,
        "bootID": BOOT_ID.hex(),
        "key": key.hex(),
        "nonce": NONCE.hex(),
        "associatedData": context.hex(),
        "plaintext": plaintext.hex(),
        "size": len(payload),
        "payload": payload.hex(),
    }


def main():
    present = keybag(3, retired(1) + with_passcode(2), True)
    tag = bytes.fromhex(present["tag"])
    example = {
        "source": "docs/keybag-format.md, computed by keybag-example.py",
        "deviceKey": DEVICE_KEY.hex(),
        "storeID": STORE_ID.hex(),
        "passcode": PASSCODE,
        "passcodeUTF8": PASSCODE.encode().hex(),
        "salt": SALT.hex(),
        "log2N": LOG2_N,
        "r": R,
        "p": P,
        "scryptOutput": SCRYPT_OUTPUT.hex(),
        "tangleSalt": TANGLE_SALT.hex(),
        "pseudorandomKey": PSEUDORANDOM_KEY.hex(),
        "passcodeKey": PASSCODE_KEY.hex(),
        "keybagTagKey": TAG_KEY.hex(),
        "keybagWithoutPasscode": keybag(1, without_passcode(1), False),
        "keybagDuringRenewal": keybag(2, behind_passcode(without_passcode(1)) + with_passcode(2), True),
        "keybagWithPasscode": present,
        "attempts": attempts(),
        "keyringBlobs": [keyring_blob("A", 3, tag, 2), keyring_blob("C", 3, tag, 2)],
    }
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text(json.dumps(example, indent=2) + "\n")


if __name__ == "__main__":
    main()
