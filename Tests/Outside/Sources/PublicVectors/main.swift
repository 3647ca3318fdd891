/// Judges public test vectors with the public functions of the module Security (Scripts/check-vectors).
///
///     PublicVectors wycheproof DIRECTORY
///     PublicVectors limbo FILE EXCEPTIONS
import Foundation

func stop(_ text: String) -> Never {
    FileHandle.standardError.write(Data("PublicVectors: \(text)\n".utf8))
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch (arguments.first, arguments.count) {
    case ("wycheproof", 2): try Wycheproof.judge(URL(filePath: arguments[1]))
    case ("limbo", 3): try Limbo.judge(URL(filePath: arguments[1]), exceptions: URL(filePath: arguments[2]))
    default: stop("wycheproof DIRECTORY, or limbo FILE EXCEPTIONS")
    }
} catch {
    stop("\(error)")
}
