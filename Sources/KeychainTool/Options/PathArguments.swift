internal import ArgumentParser

struct PathArguments: ParsableArguments {
    @Argument(help: "The files.", completion: .file()) var paths: [String]

    func validate() throws {
        if paths.contains("") { throw ValidationError("A file cannot have an empty name.") }
    }
}
