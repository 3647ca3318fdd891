#!/usr/bin/env python3
"""Works on the symbol graphs of the public modules, so that nothing public can be forgotten.

    Tests/Outside/symbols.py layouts GRAPHS MADE     writes MADE/Layouts, which compares the layout of every public type
    Tests/Outside/symbols.py uses GRAPHS BIN         fails if the program for a module does not use all that is public there

BIN has what was built, in debug. GRAPHS has a directory for each module, as swift symbolgraph-extract writes it.
"""

import json
import pathlib
import re
import subprocess
import sys

# Names that no program has to use, and why.
NOT_USED = {
    "NSString._toCustomAnyHashable()": "the standard library calls it",
    "KeychainQuery.subscript(dynamicMember:)": "the language calls it for `query.service`",
    "Keychained.projectedValue": "the language calls it for `$property`",
    "Keychained.wrappedValue": "the language calls it for `property`",
    "TokenStore.Tokens.init(from:)": "decoders call it",
    "LAError.Code.~=(_:_:)": "an operator has no name; `catch LAError.passcodeNotSet` uses it",
}

# What stands for the parameter of a generic type.
ARGUMENTS = {
    "KeychainItem": "KeychainItemKinds.InternetPassword",
    "KeychainQuery": "KeychainItemKinds.Identity",
    "Keychained": "[String: Int]",
    "CredentialStore": "[String: Int]",
}
# Layouts are compared through optionals and existential metatypes, which copy.
NOT_COPYABLE = {"Secret", "Keychain.Transaction"}


def symbols(directory):
    for graph in sorted(directory.glob("*.symbols.json")):
        yield from json.loads(graph.read_text())["symbols"]


def path(symbol):
    return ".".join(symbol["pathComponents"])


def layouts(graphs, made):
    """A row for each structure and enumeration, and one for its optional, which is where the type has bits to spare."""
    rows, imports = [], []
    for directory in sorted(graphs.iterdir()):
        module = directory.name
        imports.append(f"import {module}\n")
        for symbol in sorted(symbols(directory), key=path):
            kind = symbol["kind"]["identifier"]
            if kind in ("swift.struct", "swift.enum") and path(symbol) not in NOT_COPYABLE:
                first, *rest = symbol["pathComponents"]
                if first in ARGUMENTS:
                    first = f"{first}<{ARGUMENTS[first]}>"
                name = ".".join([module, first, *rest])
                for type_name in (name, f"Optional<{name}>"):
                    memory = f"MemoryLayout<{type_name}>"
                    rows.append(
                        f'    ("{module}", "{type_name}", '
                        f"Layout(size: {memory}.size, stride: {memory}.stride, alignment: {memory}.alignment), "
                        f"Layout(ofMetadata: {type_name}.self)),\n"
                    )
    text = (
        "".join(imports)
        + "import Layout\n\n"
        + "let types: [(module: String, name: String, computed: Layout, actual: Layout)] = [\n"
        + "".join(rows)
        + "]\ncompare(types)\n"
    )
    target = made / "Layouts/main.swift"
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


def is_called_directly(symbol, indirect):
    """Whether a call of it is linked by its own name. Members of the paths in `indirect` are reached through tables, but
    for those of an extension, and those that are synthesized are another module's."""
    return (
        symbol["kind"]["identifier"] in ("swift.func", "swift.func.op", "swift.init", "swift.method", "swift.type.method")
        and "::SYNTHESIZED::" not in symbol["identifier"]["precise"]
        and ("swiftExtension" in symbol or path(symbol).rpartition(".")[0] not in indirect)
    )


def linked(objects):
    """What the objects take from elsewhere. An asynchronous function is linked by a pointer to it."""
    output = subprocess.run(["nm", "-u", *objects], check=True, capture_output=True)
    return {re.sub("Tu$", "", name) for name in output.stdout.decode().split()}


def uses(graphs, built):
    """Functions and initialisers are told apart by what is linked, also those of one name. All else has to be named."""
    missing = []
    for directory in sorted(graphs.iterdir()):
        module = directory.name
        sources = pathlib.Path(__file__).parent.glob(f"Sources/{module}Calls/*.swift")
        words = set(re.findall(r"\w+", "".join(re.sub(r"//.*", "", source.read_text()) for source in sources)))
        calls = linked([str(item) for item in (built / f"{module}Calls.build").glob("*.o")])
        public = list(symbols(directory))
        indirect = {
            path(one)
            for one in public
            if one["accessLevel"] == "open" or one["kind"]["identifier"] == "swift.protocol"
        }
        for symbol in public:
            if is_called_directly(symbol, indirect):
                # In the graph an initialiser is the one that fills memory, and a program calls the one that allocates.
                is_used = re.sub("fc$", "fC", symbol["identifier"]["precise"].replace("s:", "$s", 1)) in calls
            else:
                is_initialiser = symbol["kind"]["identifier"] == "swift.init"
                is_used = re.sub(r"\W.*", "", symbol["pathComponents"][-2 if is_initialiser else -1]) in words
            if not is_used and path(symbol) not in NOT_USED:
                missing.append(f"{module}: {path(symbol)}")
        print(f"{module}: {len(public)} public symbols, all used" if not missing else f"{module}: not all is used")
    if missing:
        sys.exit("no program of Tests/Outside uses\n" + "\n".join(sorted(missing)))


if sys.argv[1] == "layouts":
    layouts(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
else:
    uses(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
