"""The list of the checks, and words that they share."""

CHECKS = []
GUARDED = ("A", "B", "E")
CACHED = ("C", "D")


class NotTried(Exception):
    """The machine lacks what a check needs; with the reason."""


def check(name, *arguments):
    """With arguments the check is made once for each of them."""
    def add(work):
        for argument in arguments or (None,):
            words = getattr(argument, "__name__", argument)
            CHECKS.append((name if argument is None else f"{name} ({words})", work, argument))
        return work
    return add


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def fails(number, work):
    try:
        work()
        return False
    except OSError as error:
        return error.errno == number
