#!/usr/bin/env python3
"""Writes key-files.json: files of keys that OpenSSL and ssh-keygen have made, and what is in them.

    python3 Tests/Vectors/key-files.py > Tests/Vectors/key-files.json

Every run makes other keys. The passphrase of all files that have one is "open sesame".
"""
import base64, json, os, re, subprocess, tempfile

PASSPHRASE = "open sesame"
KINDS = {"rsa1024": ("RSA", "rsa_keygen_bits:1024"), "rsa2048": ("RSA", "rsa_keygen_bits:2048"),
         "ec256": ("EC", "ec_paramgen_curve:P-256"), "ec384": ("EC", "ec_paramgen_curve:P-384"),
         "ec521": ("EC", "ec_paramgen_curve:P-521")}
LEGACY = ["-provider", "legacy", "-provider", "default"]
SCHEMES = {"aes128-sha1": ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1"],
           "aes192-sha224": ["-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA224"],
           "aes256-sha256": ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"],
           "aes256-sha384": ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA384"],
           "aes256-sha512": ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"],
           "scrypt": ["-scrypt"], "des3": ["-v2", "des3"],
           "pbe-3des": ["-v1", "PBE-SHA1-3DES"], "pbe-2des": ["-v1", "PBE-SHA1-2DES"],
           "pbe-rc2-128": ["-v1", "PBE-SHA1-RC2-128", *LEGACY], "pbe-rc2-40": ["-v1", "PBE-SHA1-RC2-40", *LEGACY],
           "pbe-rc4-128": ["-v1", "PBE-SHA1-RC4-128", *LEGACY], "pbe-rc4-40": ["-v1", "PBE-SHA1-RC4-40", *LEGACY]}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True).stdout


def openssl(*arguments): return run("openssl", *arguments)


def url64(number):
    return base64.urlsafe_b64encode(number).decode().rstrip("=")


def digits(text):
    """The bytes of a number that OpenSSL prints, without zeros in front."""
    return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text).lstrip(b"\0")


def jwk(name, pkcs1_or_sec1, spki):
    parsed = openssl("asn1parse", "-in", pkcs1_or_sec1).decode()
    if name.startswith("rsa"):
        numbers = [digits(hexadecimal) for hexadecimal in re.findall(r"INTEGER\s+:([0-9A-F]+)", parsed)][1:]
        return {"kty": "RSA", **dict(zip(["n", "e", "d", "p", "q", "dp", "dq", "qi"], map(url64, numbers)))}
    bits = int(name[2:])
    size = (bits + 7) // 8
    number = bytes.fromhex(re.search(r"OCTET STRING\s+\[HEX DUMP\]:([0-9A-F]+)", parsed)[1])
    point = spki[-2 * size:]
    return {"kty": "EC", "crv": f"P-{bits}", "x": url64(point[:size]), "y": url64(point[size:]), "d": url64(number)}


def files(name):
    algorithm, option = KINDS[name]
    openssl("genpkey", "-algorithm", algorithm, "-pkeyopt", option, "-out", "k.pem")
    openssl("pkey", "-in", "k.pem", "-traditional", "-out", "trad.pem")
    spki = openssl("pkey", "-in", "k.pem", "-pubout", "-outform", "DER")
    private = {
        "pkcs8.pem": open("k.pem", "rb").read(),
        "pkcs8.der": openssl("pkcs8", "-topk8", "-nocrypt", "-in", "k.pem", "-outform", "DER"),
        "traditional.pem": open("trad.pem", "rb").read(),
        "traditional.der": openssl("asn1parse", "-in", "trad.pem", "-noout", "-out", "/dev/stdout"),
    }
    public = {"spki.pem": openssl("pkey", "-in", "k.pem", "-pubout"), "spki.der": spki}
    if algorithm == "RSA":
        public["pkcs1.pem"] = openssl("rsa", "-in", "k.pem", "-RSAPublicKey_out")
        public["pkcs1.der"] = openssl("rsa", "-in", "k.pem", "-RSAPublicKey_out", "-outform", "DER")
    else:
        private["with-parameters.pem"] = openssl("ecparam", "-name", option[-5:]) + private["traditional.pem"]
        private["without-point.pem"] = openssl("ec", "-in", "k.pem", "-no_public")
        public["compressed.pem"] = openssl("ec", "-in", "k.pem", "-pubout", "-conv_form", "compressed")
    if name != "rsa1024":  # ssh-keygen takes no key of fewer than 1024 bits, and some none of 1024
        os.chmod("trad.pem", 0o600)
        run("ssh-keygen", "-p", "-q", "-P", "", "-N", "", "-C", "", "-f", "trad.pem")
        run("ssh-keygen", "-c", "-q", "-P", "", "-C", "", "-f", "trad.pem")
        private["openssh"] = open("trad.pem", "rb").read()
        public["openssh.pub"] = run("ssh-keygen", "-y", "-f", "trad.pem")
        openssl("pkey", "-in", "k.pem", "-traditional", "-out", "trad.pem")
    encrypted = {
        scheme: openssl("pkcs8", "-topk8", "-in", "k.pem", "-passout", "pass:" + PASSPHRASE, *options)
        for scheme, options in SCHEMES.items()
    }
    return {"name": name, "jwk": jwk(name, "trad.pem", spki), "private": encode(private), "public": encode(public),
            "encrypted": encode(encrypted)}


def refused():
    """Files with a key that is not taken, by a word of the message."""
    def key(algorithm, *options):
        return openssl("genpkey", "-algorithm", algorithm, *options)
    result = {
        "Ed25519": key("ed25519"), "X25519": key("x25519"), "Ed448": key("ed448"),
        "secp256k1": key("EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"),
        "P-224": key("EC", "-pkeyopt", "ec_paramgen_curve:P-224"),
        "described": key("EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"),
        "RSA-PSS": key("RSA-PSS", "-pkeyopt", "rsa_keygen_bits:1024"),
    }
    openssl("dsaparam", "-genkey", "-out", "dsa.pem", "1024")
    result["DSA"] = openssl("pkcs8", "-topk8", "-nocrypt", "-in", "dsa.pem")
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "k.pem")
    result["openssl pkcs8"] = openssl("ec", "-in", "k.pem", "-aes128", "-passout", "pass:" + PASSPHRASE)
    result["only PBES2"] = openssl(
        "pkcs8", "-topk8", "-in", "k.pem", "-v1", "PBE-MD5-DES", *LEGACY, "-passout", "pass:" + PASSPHRASE)
    result["10 million"] = openssl(
        "pkcs8", "-topk8", "-in", "k.pem", "-iter", "10000001", "-passout", "pass:" + PASSPHRASE)
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ed")
    result["Ed25519: only"] = open("ed", "rb").read()
    run("ssh-keygen", "-q", "-t", "ecdsa", "-N", PASSPHRASE, "-f", "locked")
    result["ssh-keygen -p"] = open("locked", "rb").read()
    result["2 keys"] = open("k.pem", "rb").read() * 2
    return encode(result)


def encode(files): return {name: base64.b64encode(content).decode() for name, content in files.items()}


with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    versions = [openssl("version").decode().strip(),
                subprocess.run(["ssh", "-V"], capture_output=True).stderr.decode().strip()]
    print(json.dumps({"madeBy": versions, "keys": [files(name) for name in KINDS], "refused": refused()}, indent=1))
