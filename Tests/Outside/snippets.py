#!/usr/bin/env python3
"""Makes sources of the Swift snippets in README.md, docs/ and the DocC articles.

    Tests/Outside/snippets.py sources MADE
        Writes the target MADE/Snippets, one file for each snippet; MADE/Manifests/*/Package.swift; and MADE/runnable, which
        names the snippets that can be run, a line each. A snippet is called by its place: README.md:71.

    Tests/Outside/snippets.py products OURS MANIFEST
        Fails if MANIFEST names a product that OURS does not have, both as swift package dump-package prints them.

A snippet is a block that begins with ```swift. It stands alone: it compiles as the only file of a program, and the program
runs on a new keychain and in an empty directory, with nobody to ask. One of declarations alone is compiled and has nothing
to run. A comment right before the block says if a snippet is otherwise:

    <!-- snippet: continues -->               it goes on where the one before in this document ended
    <!-- snippet: compiles -->                it is compiled and not run
    <!-- snippet: not compiled: REASON -->

A manifest begins with // swift-tools-version, and a target of one with a dot. Both are evaluated, not run.
"""

import json
import pathlib
import re
import sys

DOCUMENTS = ["README.md", "docs/**/*.md", "Sources/*/Documentation.docc/*.md"]
DECLARATION = re.compile(r"[@}#/]|(final |private )?(actor|class|enum|extension|func|import|protocol|struct) |$")
BLOCK = re.compile(r"(?:^<!-- snippet: (?P<mark>[^\n]*) -->\n)?^```swift\n(?P<code>.*?)^```$", re.M | re.S)


class Snippet:
    def __init__(self, document, line, code, mark):
        self.name = f"{document}:{line}"
        self.identifier = re.sub(r"\W", "_", self.name)
        self.parts = [(document, line + 1, code)]
        self.must_run = mark is None

    @property
    def code(self):
        return "".join(code for _, _, code in self.parts)

    @property
    def is_manifest(self):
        return self.code.startswith(("// swift-tools-version", "."))

    @property
    def has_statements(self):
        depth = 0
        for line in self.code.splitlines():
            if depth == 0 and not DECLARATION.match(line.strip()):
                return True
            depth += line.count("{") - line.count("}")
        return False

    @property
    def is_run(self):
        return self.must_run and self.has_statements and not self.is_manifest

    def manifest(self):
        if not self.code.startswith("."):
            return self.code
        packages = sorted(set(re.findall(r'package: "([^"]+)"', self.code)))
        dependencies = ", ".join(f'.package(path: "../{name}")' for name in packages)
        return (
            "// swift-tools-version: 6.2\nimport PackageDescription\n\n"
            f'let package = Package(name: "Snippet", dependencies: [{dependencies}], targets: [\n{self.code}])\n'
        )

    def source(self):
        """Statements in a function, which may wait if they do, with the imports before.

        Comments say where it comes from: #sourceLocation makes Swift 6.3's compiler crash on some of them.
        """
        lines = sorted(set(re.findall(r"^ *(import \w+)$", self.code, re.M)))
        if self.has_statements:
            lines.append(f"func {self.identifier}() {'async ' if 'await ' in self.code else ''}throws {{")
        for document, line, code in self.parts:
            body = re.sub(r"^ *import \w+$", "", code, flags=re.M)
            lines += [f"// {document}:{line}", body.strip("\n")]
        return "\n".join(lines + ["}\n" if self.has_statements else ""])


def snippets(document):
    """Those that are compiled; the ones that continue others are joined to them."""
    text = pathlib.Path(document).read_text()
    found = []
    for block in BLOCK.finditer(text):
        mark, code = block["mark"], block["code"]
        line = text.count("\n", 0, block.start("code"))
        if mark == "continues":
            if not found:
                sys.exit(f"{document}:{line}: there is no snippet that this one could continue")
            found[-1].parts.append((document, line + 1, code))
        elif mark in (None, "compiles"):
            found.append(Snippet(document, line, code, mark))
        elif not re.fullmatch(r"not compiled: .+", mark):
            sys.exit(f"{document}:{line}: no snippet is marked '{mark}'")
    # A block or a mark with another form, indented for instance, would be passed over in silence.
    for what, count in ("```swift", len(BLOCK.findall(text))), ("<!-- snippet:", text.count(" -->\n```swift\n")):
        if text.count(what) != count:
            sys.exit(f"{document}: a '{what}' does not have the form of a snippet")
    return found


def program(found):
    """Runs the one snippet that is named, and locks what it has unlocked: no key stays in the kernel's keyring."""
    cases = "".join(
        f'case "{one.name}": try {"await " if "await " in one.code else ""}{one.identifier}()\n' for one in found
    )
    return (
        "import SwiftKeychain\n\nlet name = CommandLine.arguments[1]\nswitch name {\n" + cases
        + 'default: fatalError("there is no snippet \\(name)")\n}\n'
        "let lock = KeychainLock(KeychainConfiguration())\nif try lock.hasPasscode { try lock.lock(immediately: true) }\n"
    )


def write(path, text):
    """Leaves a file alone that is so already, and with it what was built of it."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def sources(made):
    found = [
        snippet
        for pattern in DOCUMENTS
        for document in sorted(pathlib.Path(".").glob(pattern))
        for snippet in snippets(document)
    ]
    code = [snippet for snippet in found if not snippet.is_manifest]
    files = {made / "Snippets" / f"{one.identifier}.swift": one.source() for one in code}
    files[made / "Snippets/main.swift"] = program([snippet for snippet in code if snippet.is_run])
    files |= {made / f"Manifests/{one.identifier}/Package.swift": one.manifest() for one in found if one.is_manifest}
    files[made / "runnable"] = "".join(f"{one.name}\n" for one in code if one.is_run)
    for path in [*made.glob("Snippets/*"), *made.glob("Manifests/*/*.swift")]:
        if path not in files:
            path.unlink()
            # A directory without its manifest is one that SwiftPM looks for further up.
            if path.name == "Package.swift":
                path.parent.rmdir()
    for path, text in files.items():
        write(path, text)
    print(f"{len(found)} snippets, {len(found) - len(code)} of them manifests; {sum(one.is_run for one in code)} are run")


def products(ours, manifest):
    known = {product["name"] for product in json.loads(pathlib.Path(ours).read_text())["products"]}
    described = json.loads(pathlib.Path(manifest).read_text())
    named = [
        product
        for target in described["targets"]
        for use in target["dependencies"] + (target.get("pluginUsages") or [])
        for product, package, *_ in (use.get("product") or use.get("plugin") or [None, None],)
        if package == "swift-keychain"
    ]
    if not named or not known.issuperset(named):
        sys.exit(f"a manifest names {named}, and the products are {sorted(known)}")
    print(f"A manifest names products that there are: {', '.join(named)}")


if sys.argv[1] == "sources":
    sources(pathlib.Path(sys.argv[2]))
else:
    products(*sys.argv[2:])
