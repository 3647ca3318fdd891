#!/usr/bin/env python3
"""Adds a password to a keychain daemon, finds it, deletes it, and prints what came of that (docs/protocol.md).

    keychain_client.py SOCKET

Needs the package google.protobuf, and keychain_wire_pb2 as protoc makes it: see the script 'run' beside this one.
"""

import socket
import struct
import sys

import keychain_wire_pb2 as wire


class KeychainError(Exception):
    def __init__(self, status, message):
        super().__init__(f"{message} [{status}]")
        self.status = status


class Keychain:
    """A connection. Not for several threads at once."""

    def __init__(self, path, group):
        self.stream = socket.socket(socket.AF_UNIX)
        self.stream.connect(path)
        self.last_id = 0
        self.send(wire.ClientMessage(hello=wire.Hello(version=1, groups=[group])))
        self.welcome = self.receive()[0].welcome

    def ask(self, secret=b"", **kind):
        """Sends one request; returns the last part of its answer, and of all parts the items with their secrets."""
        self.last_id += 1
        self.send(wire.ClientMessage(id=self.last_id, **kind), secret)
        items = []
        while True:
            answer, tail = self.receive()
            for item in answer.items:
                found = item.HasField("secret_size")
                items.append((item, tail[: item.secret_size] if found else None))
                tail = tail[item.secret_size + item.certificate_size :]
            if not answer.more:
                return answer, items

    def send(self, message, tail=b""):
        data = message.SerializeToString()
        self.stream.sendall(struct.pack(">II", len(data), len(tail)) + data + tail)

    def receive(self):
        message_size, tail_size = struct.unpack(">II", self.read(8))
        message = wire.DaemonMessage.FromString(self.read(message_size))
        if message.HasField("failure"):
            raise KeychainError(message.failure.status, message.failure.message)
        if message.HasField("goodbye"):
            raise ConnectionError(message.goodbye.message)
        return message, self.read(tail_size)

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            part = self.stream.recv(count - len(data))
            if not part:
                raise ConnectionError("the daemon ended the connection without a word")
            data += part
        return bytes(data)


def texts(**values):
    """Attributes by their codes of four characters."""
    codes = [int.from_bytes(code.encode("ascii"), "big") for code in values]
    return wire.Attributes(text_codes=codes, texts=values.values())


if __name__ == "__main__":
    keychain = Keychain(sys.argv[1], group="python-example")
    secret = "open sesame".encode()
    mail = dict(item_class=wire.ITEM_CLASS_GENERIC_PASSWORD, attributes=texts(svce="mail", acct="ali baba"))
    keychain.ask(secret, add=wire.Add(**mail, secret_size=len(secret)))
    print("added")
    _, [(item, found)] = keychain.ask(find=wire.Query(**mail, wants_secrets=True))
    print(f"found {item.attributes.texts[0]} in {item.access_group}: {found.decode()}")
    keychain.ask(delete=wire.Query(**mail))
    try:
        keychain.ask(find=wire.Query(**mail))
    except KeychainError as error:
        print(f"deleted: {error}")
