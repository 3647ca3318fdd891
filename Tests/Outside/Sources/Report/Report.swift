import Foundation

/// Runs a program. An error ends it with a message, where Swift by itself would trap.
public func report(_ body: () async throws -> Void) async {
    do {
        try await body()
    } catch {
        stop("\(error)")
    }
}

/// Prints a sentence if it is true, and ends the program otherwise.
public func tell(_ sentence: String, _ isTrue: @autoclosure () throws -> Bool) rethrows {
    guard try isTrue() else { stop("not as told: \(sentence)") }
    print(sentence)
}

/// Ends the program with a message and exit status 1.
public func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}
