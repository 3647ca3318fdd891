internal import ArgumentParser

/// The option of a command whose output is never JSON.
struct JSONErrors: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Write errors and notes as JSON, one object a line.") var isChosen = false
}
