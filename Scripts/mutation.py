"""For Scripts/mutants: how many mistakes are built into one program, and how mistakes are drawn by lot.

A function with mistakes in it becomes all of its forms, and the program takes one of them:

    func opens(_ store: Store) -> Bool {
    if isMutant(17) { … the body with mistake 17 … } else { … the body as it was … }
    }

The number is in the file "mutant" beside the program, which every process of a test finds, whatever its environment is.
"""
import collections, dataclasses, json, re, subprocess, tempfile

# What each module gets: the number of the mistake, and in a run that wants to know it, which numbers were asked for.
SWITCH = """\
import Glibc

private let directoryOfMutants: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let name = path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
    return String(decoding: name[..<(name.lastIndex(of: 47) ?? 0)], as: UTF8.self)
}()

private let chosenMutant: Int = {
    guard let file = fopen(directoryOfMutants + "/mutant", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 32)
    return fgets(&line, 32, file) == nil ? 0 : atol(line)
}()

private nonisolated(unsafe) let seenMutants = UnsafeMutablePointer<UInt8>.allocate(capacity: 65_536)
private let tracesMutants: Bool = {
    seenMutants.initialize(repeating: 0, count: 65_536)
    return access(directoryOfMutants + "/trace", F_OK) == 0
}()

func isMutant(_ number: Int) -> Bool {
    if tracesMutants, seenMutants[number] == 0 {
        seenMutants[number] = 1
        let file = open(directoryOfMutants + "/trace", O_WRONLY | O_APPEND | O_CLOEXEC)
        let line = "\\(number)\\n"
        _ = write(file, line, line.utf8.count)
        close(file)
    }
    return number == chosenMutant
}
"""


@dataclasses.dataclass(frozen=True)
class Edit:
    """Other text for a range of a file."""
    path: str
    start: int
    end: int
    new: str


def edited(text, edits):
    """The text with these changes, and the ranges in which two of them meet."""
    clashes, first = [], len(text) + 1
    # From the end, since a change moves what follows it.
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        if edit.end > first:
            clashes.append(edit)
        text, first = text[: edit.start] + edit.new + text[edit.end :], edit.start
    return text, clashes


class Parsed:
    """Where functions and conditions of Swift files are, as the compiler's own parser sees it."""

    FUNCTIONS = {"func_decl", "constructor_decl", "destructor_decl", "accessor_decl"}

    def __init__(self, files):
        """- files: names and texts. They are parsed as one, which is a hundred times as fast as one by one."""
        self.texts = {path: text for path, text in files.items() if path.endswith(".swift")}
        self.bodies = collections.defaultdict(list)  # the ranges from brace to brace, none within another
        self.conditions = collections.defaultdict(list)  # (kind, start, end) from the word to the brace
        joined = "\n".join(self.texts.values()).encode()
        with tempfile.NamedTemporaryFile(suffix=".swift") as file:
            file.write(joined)
            file.flush()
            tree = subprocess.run(
                ["swiftc", "-frontend", "-dump-parse", "-dump-ast-format", "json", "-swift-version", "6",
                 "-enable-bare-slash-regex", "-enable-experimental-feature", "Extern", file.name],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        # From bytes of them all to characters of one.
        self.starts, position = [], 0
        for path, text in self.texts.items():
            self.starts.append((position, path))
            position += len(text.encode()) + 1
        self.joined = joined
        try:
            self.visit(json.loads(tree), False)
        except json.JSONDecodeError:
            # Of a file or two the compiler's tree is no JSON. Those have no places.
            names = list(self.texts)
            for some in (names[::2], names[1::2]) if len(names) > 1 else ():
                part = Parsed({name: files[name] for name in some})
                self.bodies.update(part.bodies)
                self.conditions.update(part.conditions)

    def place(self, start, end):
        begin, path = next(entry for entry in reversed(self.starts) if entry[0] <= start)
        characters = [len(self.joined[begin:offset].decode()) for offset in (start, end)]
        return path, *characters

    def visit(self, node, is_within):
        if isinstance(node, list):
            for child in node:
                self.visit(child, is_within)
        elif isinstance(node, dict):
            kind, body = node.get("_kind"), node.get("body") or node.get("then_stmt")
            if isinstance(body, dict) and "range" in body:
                first, last = body["range"]["start"], body["range"]["end"]
                if kind in self.FUNCTIONS and not is_within:
                    path, start, end = self.place(first, last)
                    self.bodies[path].append((start, end))
                    is_within = True
                elif kind in ("guard_stmt", "if_stmt") and is_within:
                    path, start, end = self.place(node["range"]["start"], first)
                    self.conditions[path].append((kind.removesuffix("_stmt"), start, end))
            for child in node.values():
                if isinstance(child, (dict, list)):
                    self.visit(child, is_within)

    def body(self, edit):
        """The function in which this changes something, and only there."""
        old = self.texts.get(edit.path, "")[edit.start : edit.end]
        shared = 0
        while shared < min(len(old), len(edit.new)) and old[shared] == edit.new[shared]:
            shared += 1
        left = min(len(old), len(edit.new)) - shared
        behind = 0
        while behind < left and old[-1 - behind] == edit.new[-1 - behind]:
            behind += 1
        for start, end in self.bodies[edit.path]:
            if start < edit.start + shared and edit.end - behind <= end:
                return start, end


@dataclasses.dataclass
class Switched:
    """Files in which each function has a form for each of its mistakes."""

    files: dict = dataclasses.field(default_factory=dict)  # names and texts
    within: set = dataclasses.field(default_factory=set)  # numbers of those that are in there
    lines: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))  # (first, last, numbers)

    def blamed(self, log):
        """The numbers of the mistakes that the compiler does not take."""
        found = set()
        for path, line in re.findall(r"(Sources/[^\s:]+\.swift):(\d+):\d+: error:", log):
            ranges = [entry for entry in self.lines[path] if entry[0] <= int(line) <= entry[1]]
            if ranges:
                # The narrowest: that of one form, if the error is in a form, and not that of the function.
                found |= min(ranges, key=lambda entry: entry[1] - entry[0])[2]
        return found


def switch(parsed, mistakes):
    """One program of many mistakes.

    - mistakes: numbers, and the edits of each. One that changes anything outside of functions is left out."""
    result, functions = Switched(), collections.defaultdict(dict)
    for number, edits in mistakes.items():
        bodies = [parsed.body(edit) for edit in edits]
        if all(bodies):
            result.within.add(number)
            for edit, body in zip(edits, bodies):
                functions[edit.path].setdefault(body, {}).setdefault(number, []).append(edit)
    for path, bodies in functions.items():
        text, pieces, line, position = parsed.texts[path], [], 1, 0

        def add(piece):
            nonlocal line
            pieces.append(piece)
            line += piece.count("\n")

        for (start, end), forms in sorted(bodies.items()):
            add(text[position : start + 1] + "\n")
            whole = line
            for index, (number, edits) in enumerate(forms.items()):
                first = line
                # An edit of whole lines may take in the brace; only what is between the braces is a form.
                tail = len(text) - end
                form = edited(text, edits)[0]
                add(f"{'} else ' if index else ''}if isMutant({number}) {{\n{form[start + 1 : len(form) - tail]}\n")
                result.lines[path].append((first, line, {number}))
            add(f"}} else {{\n{text[start + 1 : end]}\n}}\n")
            result.lines[path].append((whole, line, set(forms)))
            position = end
        result.files[path] = "".join(pieces) + text[position:]
    return result


OPPOSITES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
             "&&": "||", "||": "&&", "return true": "return false", "return false": "return true"}
KINDS = ("negated condition", "dropped guard", "dropped call", "swapped operator", "swapped result")
OPERATOR = re.compile(r"(?<=\s)(?:[<>]=?|[=!]==?|&&|\|\|)(?=\s)|\breturn (?:true|false)\b")
# A line of a log is left out: nothing depends on it.
CALL = re.compile(r"(?<=\n)( *)((?:try )?(?:await )?(?!logger\b)[a-z][\w.]*\([^\n]*\))(?=\n)")
NO_CODE = re.compile(r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/')


def code_alone(text):
    """The text with blanks for what is in strings and comments."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def clauses(code, start, end):
    """The ranges of the conditions between commas that bind nothing."""
    depth, begin, commas = 0, start, []
    for index in range(start, end):
        depth += (code[index] in "([{") - (code[index] in ")]}")
        if code[index] == "," and depth == 0:
            commas.append(index)
    for comma in [*commas, end]:
        clause = code[begin:comma]
        bare = clause.strip()
        if bare and not re.match(r"(let|var|case)\b|#", bare):
            first = begin + clause.index(bare[0])
            yield first, first + len(bare)
        begin = comma + 1


def small_mistakes(parsed, path):
    """Every mistake that can be made by rule in a file: (kind, edit)."""
    text = parsed.texts[path]
    code = code_alone(text)
    for start, end in parsed.bodies[path]:
        for found in OPERATOR.finditer(code, start, end):
            kind = "swapped result" if "return" in found[0] else "swapped operator"
            yield kind, Edit(path, *found.span(), OPPOSITES[found[0]])
        for found in CALL.finditer(code, start, end):
            yield "dropped call", Edit(path, *found.span(2), "_ = ()")
    for kind, start, end in parsed.conditions[path]:
        first = start + len(kind)
        last = first + len(re.sub(r"\belse\s*$", "", code[first:end]))
        for begin, stop in clauses(code, first, last):
            yield "negated condition", Edit(path, begin, stop, f"!({text[begin:stop]})")
            if kind == "guard":
                yield "dropped guard", Edit(path, begin, stop, "true")
