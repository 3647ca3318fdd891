#!/usr/bin/env python3
"""Computes rsa-rejection.json: what RSA blocks with a wrong padding of PKCS#1 v1.5 decrypt to.

OpenSSL, through the package `cryptography`, decrypts them: since 3.2 it answers pseudo-random bytes in place of an error
(draft-irtf-cfrg-rsa-guidance). Nothing of it is shared with the Swift code. Without arguments it writes the JSON beside itself.
"""

import json
import pathlib

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

SOURCE = "Own: made by rsa-rejection.py. Nobody should use these keys."


def blocks(size):
    """Padded messages of the size of the modulus, right and wrong."""
    fill = bytes(1 + index % 255 for index in range(size))
    text = b"a message"
    whole = b"\x00\x02" + fill[: size - 3 - len(text)] + b"\x00" + text
    yield "right", whole
    yield "first byte", b"\x01" + whole[1:]
    yield "second byte", b"\x00\x01" + whole[2:]
    yield "no zero", b"\x00\x02" + fill[: size - 2]
    yield "short padding", b"\x00\x02" + fill[:7] + b"\x00" + fill[: size - 10]
    yield "shortest padding", b"\x00\x02" + fill[:8] + b"\x00" + fill[: size - 11]
    yield "empty message", b"\x00\x02" + fill[: size - 3] + b"\x00"
    yield "zeros", bytes(size)
    for number in range(8):
        yield f"number {number}", bytes(size - 1) + bytes([number + 1])


def main():
    keys = []
    # The third has a modulus of 129 bytes.
    for bits in [1024, 2048, 1032]:
        key = rsa.generate_private_key(65537, bits)
        public = key.public_key().public_numbers()
        size = (bits + 7) // 8
        cases = []
        for name, block in blocks(size):
            cipher = pow(int.from_bytes(block, "big"), public.e, public.n).to_bytes(size, "big")
            plain = key.decrypt(cipher, padding.PKCS1v15())
            cases.append({"name": name, "ciphertext": cipher.hex(), "plaintext": plain.hex()})
        der = key.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        keys.append({"bits": bits, "privateKey": der.hex(), "cases": cases})
    target = pathlib.Path(__file__).with_suffix(".json")
    target.write_text(json.dumps({"source": SOURCE, "keys": keys}, indent=1) + "\n")


if __name__ == "__main__":
    main()
