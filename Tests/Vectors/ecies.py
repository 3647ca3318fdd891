#!/usr/bin/env python3
"""Computes ecies.json: encryption to keys on curves, in the layout in which Apple's devices write.

Written on hashlib and the package `cryptography`; nothing of it is shared with the Swift code. Without
arguments it writes the JSON beside itself, after opening what it has made.
"""

import hashlib
import json
import pathlib

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

SOURCE = (
    "Own: made by ecies.py in the layout in which Apple's devices write. Nobody should use these keys. "
    "The plaintext is the algorithm's name."
)

# For each curve: bytes of a coordinate, bytes of the AES key, the recipient's number, the ephemeral one.
CURVES = {
    "secp256r1": (
        32,
        16,
        "0e6bac8dc0997930d21ce6a9c2b69ee2661f1ad1134542c381a14d1413bbf90f",
        "0c2ab93c4a8f015c41201c60db0b97c8df1f52f17bd406ff6cb4cd0a175a9f42",
    ),
    "secp384r1": (
        48,
        32,
        (
            "6d2296254c97036a10c17619de0aeba47786eeb7072404030ab9a01bd41173af29344a5f852cdcc3d51c44e1"
            "660e691d"
        ),
        (
            "45e86fabede53caef35aa21f9e1cc1efc39ea6ef639face9854b00309d4cc8bcb9a1370e6009c872c9051f83"
            "1ad206fb"
        ),
    ),
    "secp521r1": (
        66,
        32,
        (
            "00b51e78c2b4c50df2d95dbcf3f81fc25172c2d1e3218d7d7a96c010328b4f7a615d990e3b93a7ce65ecbde8"
            "1b379518883038e5dceb79b51ecc6dd761ef49f31a7b"
        ),
        (
            "00dd5a12e933fd095ec78b2e63988a33f737668aee1e88a037ebf7e0c48048605eec78a3674ee5d2f8ae6ac3"
            "6e40d8eb6ee4866c146954c2fb7f58ebb084d13698ef"
        ),
    ),
}


def point(number, curve):
    key = ec.derive_private_key(number, curve)
    return key, key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def derive(digest, secret, info, count):
    """ANSI X9.63's key derivation."""
    result, number = b"", 1
    while len(result) < count:
        result += hashlib.new(digest, secret + number.to_bytes(4, "big") + info).digest()
        number += 1
    return result[:count]


def vector(curve, digest, derives_nonce):
    size, key_size, recipient, ephemeral = CURVES[curve.name]
    own, own_point = point(int(recipient, 16), curve)
    other, other_point = point(int(ephemeral, 16), curve)
    secret = other.exchange(ec.ECDH(), own.public_key())
    assert own.exchange(ec.ECDH(), other.public_key()) == secret
    derived = derive(digest, secret, other_point, key_size + (16 if derives_nonce else 0))
    key, nonce = derived[:key_size], derived[key_size:] or bytes(16)
    algorithm = f"eciesEncryptionStandard{'VariableIV' if derives_nonce else ''}X963{digest.upper()}AESGCM"
    sealed = AESGCM(key).encrypt(nonce, algorithm.encode(), None)
    assert AESGCM(key).decrypt(nonce, sealed, None).decode() == algorithm
    return {
        "algorithm": algorithm,
        "curve": curve.name,
        "static_private_x963": (own_point + int(recipient, 16).to_bytes(size, "big")).hex(),
        "ephemeral_private": ephemeral,
        "ephemeral_public": other_point.hex(),
        "shared_x": secret.hex(),
        "kdf_output": derived.hex(),
        "iv": nonce.hex(),
        "plaintext": algorithm,
        "ciphertext": (other_point + sealed).hex(),
        "application_label": hashlib.sha1(own_point).hexdigest(),
    }


def main():
    vectors = [
        vector(curve, digest, derives_nonce)
        for curve in (ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())
        for digest in ("sha1", "sha224", "sha256", "sha384", "sha512")
        for derives_nonce in (False, True)
        # Apple has none of these with SHA-1.
        if not (derives_nonce and digest == "sha1")
    ]
    path = pathlib.Path(__file__).with_suffix(".json")
    path.write_text(json.dumps({"source": SOURCE, "vectors": vectors}, indent=2) + "\n")


if __name__ == "__main__":
    main()
