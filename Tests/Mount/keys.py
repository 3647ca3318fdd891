"""The keys of a store and of its files, computed as docs/keybag-format.md and docs/file-format.md say. Nothing of it is shared with
the programs."""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap

A, B, D, INACTIVE = 1, 2, 4, 7
BY_DEVICE_KEY, BY_PASSCODE = 1, 2


def mac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def expand(key, info):
    return mac(key, info + b"\x01")


class Keys:
    def __init__(self, store, device_key, passcode):
        bag = (store / "keybag").read_bytes()
        assert bag[:10] == b"KEYBAG\r\n\0\1", "a keybag of another format"
        self.store_id = bag[10:26]
        log2_n, r, p = struct.unpack(">BII", bag[39:48])
        stretched = hashlib.scrypt(passcode.encode(), salt=bag[48:80], n=1 << log2_n, r=r, p=p, dklen=32, maxmem=1 << 28)
        tangled = mac(expand(device_key, b"passcode tangle 1" + self.store_id), stretched)
        roots = {BY_DEVICE_KEY: device_key, BY_PASSCODE: expand(tangled, b"passcode key 1" + self.store_id)}
        self.of_class, place = {}, 82
        for _ in range(struct.unpack(">H", bag[80:82])[0]):
            number, kind, generation, _ = struct.unpack(">BBIH", bag[place:place + 8])
            # 7 is the number of another key here.
            if kind in roots and number <= D:
                under = expand(roots[kind], b"class key 1" + self.store_id + struct.pack(">BI", number, generation))
                self.of_class[number] = aes_key_unwrap(under, bag[place + 8:place + 48])
                if number == A:
                    self.of_class[INACTIVE] = expand(self.of_class[A], b"user inactive 1" + self.store_id +
                                                     struct.pack(">I", generation))
            place += 50 + struct.unpack(">H", bag[place + 48:place + 50])[0]

    def of_file(self, path):
        """The key of a protected file, and the first one that its content is sealed with."""
        with open(path, "rb") as file:
            page = file.read(4096)
        slot = max((page[start:start + 512] for start in (0, 2048)), key=lambda slot: slot[56:64])
        number, file_id, public, wrapped = slot[12], slot[16:32], slot[152:184], slot[184:224]
        context = self.store_id + file_id + bytes([number])
        if number == B:
            own = X25519PrivateKey.from_private_bytes(self.of_class[B])
            ends = public + own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            shared = mac(ends, own.exchange(X25519PublicKey.from_public_bytes(public)))
            under = expand(shared, b"file key B 1" + context + ends)
        else:
            under = expand(self.of_class[number], b"file key 1" + context)
        key = aes_key_unwrap(under, wrapped)
        return key, expand(key, b"file content 1" + file_id + bytes(8))
