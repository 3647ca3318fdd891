import CFuzzer
import Foundation
import KeychainModel
import KeychainRun

/// What 'keychainctl run' reads: env files, projects' files, references, the record of what was allowed; and how it masks. A
/// parser may refuse; it may not trap, and what it accepts is the same when it is written and read anew.
@main
struct FuzzRun {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzRun($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRun(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: start, count: count)
    fuzzReference(String(decoding: bytes, as: UTF8.self))
    if let file = try? EnvironmentFile(bytes) { check(file.variables) }
    if let file = try? ProjectFile(bytes) { check(file) }
    if let record = AllowedRecord(bytes) {
        precondition(Array(record.text.utf8).withUnsafeBytes { AllowedRecord($0) } == record, "a record was changed")
    }
    fuzzMask(Array(bytes))
    return 0
}

private func fuzzReference(_ text: String) {
    for candidate in [text, "keychain://generic/" + text, "keychain://internet/" + text] {
        guard let reference = try? ItemReference(candidate) else { continue }
        _ = reference.field?.value(in: SecretBytes(copying: Data(text.utf8)))
    }
}

private func check(_ variables: [NamedValue]) {
    precondition(variables.allSatisfy { VariableName.isValid($0.name) }, "a name is none")
    precondition(Set(variables.map(\.name)).count == variables.count, "a name is there twice")
    precondition(variables.allSatisfy { !$0.value.unicodeScalars.contains("\0") }, "a value has a zero byte")
}

private func check(_ file: ProjectFile) {
    check(file.variables)
    func string(_ text: String) -> String {
        let digits = text.unicodeScalars.map { scalar in
            let number = String(scalar.value, radix: 16)
            return "\\U" + String(repeating: "0", count: 8 - number.count) + number
        }
        return "\"\(digits.joined())\""
    }
    let lines =
        [file.command.map { "command = \(string($0))" } ?? "", "[environment]"]
        + file.variables.map { "\($0.name)=\(string($0.value))" }
    let again = try! Array(lines.joined(separator: "\r\n").utf8).withUnsafeBytes { try ProjectFile($0) }
    precondition(again == file, "a project's file was changed")
}

// MARK: Masking

/// The first bytes say how long the patterns and the chunks are; then come the patterns, and then the output.
private func fuzzMask(_ input: [UInt8]) {
    guard input.count > 4 else { return }
    var rest = input.dropFirst(4)
    let patterns = input.prefix(3).map { length in
        let pattern = Array(rest.prefix(Int(length % 8)))
        rest = rest.dropFirst(pattern.count)
        return pattern
    }.filter { !$0.isEmpty }
    let output = Array(rest)
    let table = PatternTable(patterns.map { SecretBytes(copying: Data($0)) })
    let expected = masked(output, patterns)
    for chunk in [1, 1 + Int(input[3]), output.count + 1] {
        let mask = OutputMask(table)
        var passed: [UInt8] = []
        for place in stride(from: 0, to: output.count, by: chunk) {
            output[place..<min(place + chunk, output.count)].withUnsafeBytes { mask.add($0) { passed += $0 } }
        }
        mask.end { passed += $0 }
        precondition(passed == expected, "the output was masked in another way")
    }
}

/// The same without any cleverness.
private func masked(_ output: [UInt8], _ patterns: [[UInt8]]) -> [UInt8] {
    var matches: [Range<Int>] = []
    for place in output.indices {
        let longest = patterns.filter { output[place...].starts(with: $0) }.map(\.count).max() ?? 0
        guard longest > 0 else { continue }
        if let last = matches.last, last.upperBound > place {
            matches[matches.count - 1] = last.lowerBound..<max(last.upperBound, place + longest)
        } else {
            matches.append(place..<place + longest)
        }
    }
    var result: [UInt8] = []
    var place = 0
    for match in matches {
        result += output[place..<match.lowerBound] + OutputMask.mark.utf8
        place = match.upperBound
    }
    return result + output[place...]
}
