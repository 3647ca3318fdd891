#!/usr/bin/env python3
"""Computes file-example.json: a whole protected file as docs/file-format.md says.

Written from that document alone, on Python's hmac and on the package `cryptography` (AES-GCM); nothing of
it is shared with the Swift code. Without arguments it writes the JSON beside itself, after opening what it
has made.
"""

import hashlib
import hmac
import json
import pathlib
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# Inputs. Nobody should use these keys. The key is wrapped as in file-key-example.json, class C.

EXAMPLE = json.loads((pathlib.Path(__file__).parent / "file-key-example.json").read_text())
STORE_ID = bytes.fromhex("11111111222243338444555555555555")
FILE_ID = bytes.fromhex("aaaaaaaabbbb4ccc8dddeeeeeeeeeeee")
FILE_KEY = bytes(range(0x60, 0x80))
CLASS_C = 3
GENERATION = 2
CHUNK_BITS = 12
CHUNK = 1 << CHUNK_BITS
PAGE = 4096
MAGIC = bytes.fromhex("894b43460d0a1a0a")


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def expand(key, info):
    """HKDF-Expand of RFC 5869, one block."""
    return mac(key, info + b"\x01")


def content_key(count):
    return expand(FILE_KEY, b"file content 1" + FILE_ID + struct.pack(">Q", count >> 31))


def associated(level, index, count):
    return FILE_ID + struct.pack(">BQQ", level, index, count)


def nonce(count):
    """Random in a real file."""
    return hashlib.sha256(b"nonce %d" % count).digest()[:12]


def seal(plaintext, level, index, count, page):
    """The ciphertext, and its entry."""
    box = AESGCM(content_key(count)).encrypt(nonce(count), plaintext, associated(level, index, count))
    entry = struct.pack(">QQI4x", page, count, len(plaintext)) + nonce(count) + box[-16:] + bytes(12)
    assert len(entry) == 64
    return box[:-16], entry


def unseal(file, entry, level, index):
    page, count, length = struct.unpack(">QQI4x", entry[:24])
    box = file[page * PAGE:page * PAGE + length] + entry[36:52]
    return AESGCM(content_key(count)).decrypt(entry[24:36], box, associated(level, index, count))


def slot(number, sequence, length, stored, count, root, wrapped, used):
    head = MAGIC + struct.pack(">HBBBBBB", 1, 1, CHUNK_BITS, CLASS_C, 0, 1, number) + FILE_ID + STORE_ID
    head += struct.pack(">I4xQQQQ", GENERATION, sequence, length, stored, count) + root + bytes(32) + wrapped
    head += bytes(16) + struct.pack(">Q", used)
    head += bytes(464 - len(head))
    head += mac(expand(FILE_KEY, b"file header 1" + FILE_ID), head)
    return head + hashlib.sha256(head).digest()[:16]


def header(*fields):
    page = bytearray(PAGE)
    for number, offset in enumerate((0, 2048)):
        one = slot(number, *fields)
        assert len(one) == 512
        page[offset:offset + 512] = one
    return bytes(page)


def wrapped_key():
    [found] = [entry for entry in EXAMPLE["keys"] if entry["class"] == CLASS_C]
    return bytes.fromhex(found["wrappedKey"])


def pages(count):
    return (count + PAGE - 1) // PAGE


def small(content):
    """One chunk, and no node."""
    box, entry = seal(content, 0, 0, 1, 1)
    return header(1, len(content), PAGE + len(box), 1, entry, wrapped_key(), pages(len(box))) + box


def sparse():
    """Three chunks of 4 KiB, the second a hole, the last one short and of few stored bytes."""
    first, last = b"first" * 700, b"last"
    file = bytearray(PAGE)
    entries = []
    for index, content, count in [(0, first, 1), (2, last, 5)]:
        page = pages(len(file))
        file += bytes(page * PAGE - len(file))
        box, entry = seal(content, 0, index, count, page)
        file += box
        entries.append(entry)
    node = entries[0] + bytes(64) + entries[1]
    page = pages(len(file))
    file += bytes(page * PAGE - len(file))
    box, root = seal(node, 1, 0, 1 << 31, page)
    file += box
    length = 2 * CHUNK + 100
    file[:PAGE] = header(7, length, len(file), 1 << 31, root, wrapped_key(), 3)
    content = first + bytes(2 * CHUNK - len(first)) + last + bytes(100 - len(last))
    assert len(content) == length
    # It opens again.
    assert unseal(bytes(file), root, 1, 0) == node
    assert unseal(bytes(file), entries[1], 0, 2) == last
    return bytes(file), content


def main():
    text = b"A protected file.\n"
    image, content = sparse()
    files = {
        "fileKey": FILE_KEY.hex(),
        "files": [
            {"name": "one chunk", "content": text.hex(), "file": small(text).hex()},
            {"name": "nothing", "content": "", "file": header(1, 0, PAGE, 0, bytes(64), wrapped_key(), 0).hex()},
            {"name": "a hole and two content keys", "content": content.hex(), "file": image.hex()},
        ],
    }
    target = pathlib.Path(__file__).with_name("file-example.json")
    target.write_text(json.dumps(files, indent=2) + "\n")


if __name__ == "__main__":
    main()
