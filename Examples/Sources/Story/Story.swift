import Foundation

/// Runs an example. An error ends the program with a message, where Swift by itself would trap.
public func story(_ body: () throws -> Void) {
    do {
        try body()
    } catch {
        stop(description(of: error))
    }
}

/// Runs an example that waits for something.
public func story(_ body: () async throws -> Void) async {
    do {
        try await body()
    } catch {
        stop(description(of: error))
    }
}

/// Prints a sentence if it is true, else ends the program: an example that cannot keep its word must fail.
public func tell(_ sentence: String, _ isTrue: @autoclosure () throws -> Bool) {
    do {
        guard try isTrue() else { stop("not as told: \(sentence)") }
        print(sentence)
    } catch {
        stop("not as told: \(sentence) \(description(of: error))")
    }
}

/// Like ``tell(_:_:)``, for something that has to fail with a certain error.
public func tell<Failure: Error & Equatable>(_ sentence: String, fails expected: Failure, _ body: () throws -> Void) {
    do {
        try body()
        stop("not as told: \(sentence) It succeeded.")
    } catch let error as Failure where error == expected {
        print(sentence)
    } catch {
        stop("not as told: \(sentence) \(description(of: error))")
    }
}

/// Ends the program with a message and exit status 1.
public func stop(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}

private func description(of error: any Error) -> String {
    (error as? any LocalizedError)?.errorDescription ?? "\(error)"
}
