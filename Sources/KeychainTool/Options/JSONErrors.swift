internal import ArgumentParser

/// For a command whose output is bytes of its own, or nothing.
struct JSONErrors: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Write errors and notes as JSON, one object a line.") var isChosen = false
}
