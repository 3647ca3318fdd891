#!/usr/bin/env python3
"""Writes pkcs12.json: PKCS#12 files that OpenSSL 3 alone cannot make, with their passphrases and what is in them.

    python3 Tests/Vectors/pkcs12.py > Tests/Vectors/pkcs12.json

Needs openssl, pk12util and certutil (NSS), certtool (GnuTLS) and keytool (Java). What none of them writes is put together
here from a file without a code, and its code is computed by Python alone. Every run makes other keys.
"""
import base64, hashlib, hmac, json, os, subprocess, tempfile

LEGACY = ["-provider", "legacy", "-provider", "default"]
FILES = {}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, **options).stdout


def add(name, content, passphrase, keys=1, certificates=1):
    FILES[name] = {"file": base64.b64encode(content).decode(), "passphrase": passphrase, "keys": keys,
                   "certificates": certificates}


def read(name): return open(name, "rb").read()


# DER.

def node(tag, *content):
    content = b"".join(content)
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def number(value): return node(2, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def name(dotted):
    first, second, *rest = map(int, dotted.split("."))
    content = bytearray()
    for part in [40 * first + second, *rest]:
        digits = [part & 0x7F]
        while part := part >> 7:
            digits.append(0x80 | part & 0x7F)
        content += bytes(reversed(digits))
    return node(6, bytes(content))


def parts(encoded):
    """The elements of a constructed one."""
    header, size = 2, encoded[1]
    if size & 0x80:
        header += size & 0x7F
        size = int.from_bytes(encoded[2:header], "big")
    rest, result = encoded[header:header + size], []
    while rest:
        length, start = rest[1], 2
        if length & 0x80:
            start += length & 0x7F
            length = int.from_bytes(rest[2:start], "big")
        result.append(rest[:start + length])
        rest = rest[start + length:]
    return result


def content(encoded):
    header = 2 + (encoded[1] & 0x7F if encoded[1] & 0x80 else 0)
    return encoded[header:]


DATA = "1.2.840.113549.1.7.1"
SHA256 = node(0x30, name("2.16.840.1.101.3.4.2.1"), node(5))


def info(octets): return node(0x30, name(DATA), node(0xA0, node(4, octets)))


# PKCS#12.

def derive(purpose, passphrase, salt, rounds, size, function=hashlib.sha256, block=64):
    """RFC 7292, appendix B.2. passphrase: None, or a text."""
    wide = b"" if passphrase is None else passphrase.encode("utf-16-be") + b"\0\0"

    def fill(text): return (text * block)[:-(-len(text) // block) * block] if text else b""
    mixed, result = fill(salt) + fill(wide), b""
    while len(result) < size:
        digest = function(bytes([purpose]) * block + mixed).digest()
        for _ in range(1, rounds):
            digest = function(digest).digest()
        result += digest
        addend = int.from_bytes((digest * block)[:block], "big") + 1
        mixed = b"".join(
            ((int.from_bytes(mixed[at:at + block], "big") + addend) % 256 ** block).to_bytes(block, "big")
            for at in range(0, len(mixed), block))
    return result[:size]


def sealed(safe, passphrase, rounds=2048, said=None):
    """A file with a code around an AuthenticatedSafe."""
    salt = os.urandom(8)
    code = hmac.digest(derive(3, passphrase, salt, rounds, 32), safe, "sha256")
    mac = node(0x30, node(0x30, SHA256, node(4, code)), node(4, salt), number(said or rounds))
    return node(0x30, number(3), info(safe), mac)


def pbmac1(safe, passphrase):
    """RFC 9579."""
    salt = os.urandom(16)
    code = hmac.digest(hashlib.pbkdf2_hmac("sha512", passphrase.encode(), salt, 2048, 32), safe, "sha256")
    hmac256 = node(0x30, name("1.2.840.113549.2.9"), node(5))
    hmac512 = node(0x30, name("1.2.840.113549.2.11"), node(5))
    derivation = node(0x30, name("1.2.840.113549.1.5.12"), node(0x30, node(4, salt), number(2048), number(32), hmac512))
    scheme = node(0x30, name("1.2.840.113549.1.5.14"), node(0x30, derivation, hmac256))
    mac = node(0x30, node(0x30, scheme, node(4, code)), node(4, b"unused"), number(1))
    return node(0x30, number(3), info(safe), mac)


def endless(encoded):
    """The same in BER: constructed elements whose end is marked, and octets in pieces."""
    if encoded[0] & 0x20:
        return bytes([encoded[0], 0x80]) + b"".join(map(endless, parts(encoded))) + b"\0\0"
    if encoded[0] == 4:
        octets = content(encoded)
        return b"\x24\x80" + b"".join(node(4, octets[at:at + 100]) for at in range(0, len(octets), 100)) + b"\0\0"
    return encoded


def bag(kind, value, *attributes):
    return node(0x30, name("1.2.840.113549.1.12.10.1." + str(kind)), node(0xA0, value), *attributes)


def openssl_files():
    for label, curve in [("one", "P-256"), ("two", "P-384")]:
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:" + curve, "-nodes", "-days",
            "36500", "-subj", "/CN=" + label, "-keyout", label + ".key", "-out", label + ".pem")

    def export(label, *options):
        return run("openssl", "pkcs12", "-export", "-inkey", label + ".key", "-in", label + ".pem", *options)

    def safe(label):
        """Without a code and without encryption."""
        file = export(label, "-nomac", "-keypbe", "NONE", "-certpbe", "NONE", "-passout", "pass:", "-name", label)
        return content(parts(parts(parts(file)[1])[1])[0])
    one, two = safe("one"), safe("two")
    add("plain bags", sealed(one, "open"), "open")
    add("two identities", sealed(node(0x30, *parts(one), *parts(two)), "open"), "open", 2, 2)
    add("certificates alone", sealed(node(0x30, parts(one)[0]), "open"), "open", 0, 1)
    add("PBMAC1", pbmac1(content(parts(parts(parts(export("one", "-passout", "pass:open"))[1])[1])[0]), "open"), "open")
    bags = [parts(content(parts(parts(part)[1])[0])) for part in parts(one)]
    secret = bag(5, node(0x30, name("1.2.3"), node(0xA0, node(4, b"secret"))))
    revoked = bag(4, node(0x30, name("1.2.840.113549.1.9.23.1"), node(0xA0, node(4, b"list"))))
    nested = bag(6, node(0x30, bag(6, node(0x30, *bags[0])), *bags[1], secret))
    add("bags in bags", sealed(node(0x30, info(node(0x30, nested, revoked, secret))), "open"), "open")
    add("marked ends", endless(sealed(endless(one), "open")), "open")
    add("no passphrase", sealed(one, None), "")
    add("empty passphrase", sealed(one, ""), "")
    add("ten million rounds and one", sealed(one, "open", said=10_000_001), "refused")
    add("two thousand million rounds", sealed(one, "open", said=2_000_000_000), "refused")
    whole = export("one", "-passout", "pass:open", "-iter", "1000000", "-nomac")
    costly = content(parts(parts(parts(whole)[1])[1])[0]).replace(number(1_000_000), number(8_000_000))
    add("costly parts", sealed(costly, "refused"), "refused")
    for scheme in ["PBE-SHA1-RC2-40", "PBE-SHA1-RC2-128", "PBE-SHA1-RC4-40", "PBE-SHA1-RC4-128", "PBE-SHA1-2DES",
                   "PBE-SHA1-3DES", "des-ede3-cbc", "aes-128-cbc", "aes-192-cbc", "aes-256-cbc"]:
        add(scheme, export("one", "-keypbe", scheme, "-certpbe", scheme, "-macalg", "sha1", "-passout", "pass:open",
                           *LEGACY), "open")
    add("wide passphrase", export("one", "-legacy", "-passout", "pass:Zürich €𝄞"), "Zürich €𝄞")
    run("openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-days", "36500", "-subj", "/CN=ed", "-keyout",
        "ed.key", "-out", "ed.pem")
    add("Ed25519", export("ed", "-passout", "pass:refused"), "refused")


def other_programs():
    run("openssl", "pkcs12", "-export", "-inkey", "one.key", "-in", "one.pem", "-name", "one", "-passout", "pass:open",
        "-out", "one.p12")
    os.mkdir("nss")
    run("certutil", "-N", "-d", "sql:nss", "--empty-password")
    run("pk12util", "-i", "one.p12", "-d", "sql:nss", "-W", "open")
    run("pk12util", "-o", "nss.p12", "-n", "one", "-d", "sql:nss", "-W", "open")
    add("NSS", read("nss.p12"), "open")
    for cipher in ["3des-pkcs12", "aes-128", "rc2-40"]:
        run("certtool", "--to-p12", "--load-privkey", "one.key", "--load-certificate", "one.pem", "--p12-name", "one",
            "--pkcs-cipher", cipher, "--password", "open", "--outder", "--outfile", cipher + ".p12")
        add("GnuTLS " + cipher, read(cipher + ".p12"), "open")
    for label, options in [("Java", []), ("Java 8", ["-J-Dkeystore.pkcs12.legacy"])]:
        for alias, kind in [("a", ["-keyalg", "RSA", "-keysize", "2048"]), ("b", ["-keyalg", "EC", "-groupname", "secp256r1"])]:
            run("keytool", "-genkeypair", "-alias", alias, *kind, "-dname", "CN=" + alias, "-validity", "36500",
                "-storetype", "PKCS12", "-keystore", label + ".p12", "-storepass", "open sesame", *options)
        add(label, read(label + ".p12"), "open sesame", 2, 2)


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    openssl_files()
    other_programs()
    print(json.dumps(FILES, indent=1, ensure_ascii=False))
