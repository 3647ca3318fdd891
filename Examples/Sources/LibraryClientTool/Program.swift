import LibraryClient
import Story

/// `LibraryClientTool`            goes through everything once and leaves nothing behind
/// `LibraryClientTool read NAME`  prints a note that any program of the family wrote
@main
struct Program {
    static func main() {
        story(run)
    }

    private static func run() throws {
        let words = CommandLine.arguments.dropFirst()
        let notes = FamilyNotes()
        switch (words.first, words.dropFirst().first) {
        case (nil, nil): try tour(notes)
        case ("read", let name?):
            guard let text = try notes.text(named: name) else { stop("there is no note named \(name)") }
            print(text)
        default: stop("usage: LibraryClientTool [read NAME]")
        }
    }

    private static func tour(_ notes: FamilyNotes) throws {
        tell("There is no note.", try notes.text(named: "library tour") == nil)
        try notes.write("milk", named: "library tour")
        tell("There is one now.", try notes.text(named: "library tour") == "milk")
        try notes.write("milk, eggs", named: "library tour")
        tell("Written again, it has changed.", try notes.text(named: "library tour") == "milk, eggs")
        try notes.remove("library tour")
        tell("Removed, it is gone.", try notes.text(named: "library tour") == nil)
    }
}
