internal import Crypto
package import Foundation

/// Searches bytes for values that must not be there, in every form in which a careless program might leave them: in
/// clear, in UTF-16, as base64 and hexadecimal digits, and as digests of which the first sixteen bytes are enough.
package struct TraceScanner: Sendable {
    package struct Trace: Hashable, Sendable, CustomStringConvertible {
        /// The name of the value.
        package var needle: String
        /// How it is written.
        package var form: String

        package init(needle: String, form: String) {
            self.needle = needle
            self.form = form
        }

        package var description: String { "\(needle) as \(form)" }
    }

    /// A form of a value, with at least eight bytes.
    private struct Pattern {
        let trace: Trace
        let bytes: [UInt8]
    }

    /// By the first eight bytes.
    private var patterns: [UInt64: [Pattern]] = [:]
    /// Which first two bytes a pattern has, since nearly every place is ruled out by them.
    private var beginnings = [Bool](repeating: false, count: 1 << 16)
    package private(set) var patternCount = 0

    /// - Parameter needles: By name. Long enough that none turns up by chance: no less than twelve bytes each.
    package init(_ needles: [String: Data]) {
        for (name, value) in needles {
            precondition(value.count >= 12, "\(name) is too short to be told from chance")
            for (form, bytes) in Self.forms(of: value) {
                add(Pattern(trace: Trace(needle: name, form: form), bytes: [UInt8](bytes)))
            }
        }
    }

    package init(texts: [String: String]) { self.init(texts.mapValues { Data($0.utf8) }) }

    private mutating func add(_ pattern: Pattern) {
        let key = pattern.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        let beginning = pattern.bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt16.self) }
        patterns[key, default: []].append(pattern)
        beginnings[Int(beginning)] = true
        patternCount += 1
    }
}

// MARK: - Forms

extension TraceScanner {
    /// Every form of a value, by its name.
    package static func forms(of value: Data) -> [String: Data] {
        var forms = ["plain": value, "hex": hex(value), "HEX": hex(value, isUpper: true)]
        if let text = String(validating: value, as: UTF8.self) {
            forms["UTF-16LE"] = utf16(text, isLittleEndian: true)
            forms["UTF-16BE"] = utf16(text, isLittleEndian: false)
        }
        for offset in 0..<3 { forms["base64 at \(offset)"] = base64(value, at: offset) }
        for (name, digest) in digests(of: value) {
            // The store cuts its own codes there.
            let start = digest.prefix(16)
            forms[name] = start
            forms["\(name) hex"] = hex(start)
            forms["\(name) HEX"] = hex(start, isUpper: true)
            forms["\(name) base64"] = base64(start, at: 0)
        }
        return forms
    }

    private static func digests(of value: Data) -> [String: Data] {
        [
            "MD5": Data(Insecure.MD5.hash(data: value)), "SHA-1": Data(Insecure.SHA1.hash(data: value)),
            "SHA-256": Data(SHA256.hash(data: value)), "SHA-512": Data(SHA512.hash(data: value)),
        ]
    }

    private static func hex(_ bytes: Data, isUpper: Bool = false) -> Data {
        let digits = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
        return Data(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private static func utf16(_ text: String, isLittleEndian: Bool) -> Data {
        Data(
            text.utf16.flatMap { unit in
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
                return isLittleEndian ? [low, high] : [high, low]
            })
    }

    /// The characters that stand for nothing but the value if it begins so many bytes after a multiple of three.
    private static func base64(_ value: Data, at offset: Int) -> Data {
        let shifted = (Data(count: offset) + value).base64EncodedString()
        let first = (offset * 8 + 5) / 6
        let end = (offset + value.count) * 8 / 6
        return Data(Array(shifted.utf8)[first..<end])
    }
}

// MARK: - Searching

extension TraceScanner {
    package func traces(in bytes: Data) -> Set<Trace> {
        bytes.withUnsafeBytes { bytes in
            beginnings.withUnsafeBufferPointer { search(bytes, $0) }
        }
    }

    package func traces(in text: String) -> Set<Trace> { traces(in: Data(text.utf8)) }

    private func search(_ bytes: UnsafeRawBufferPointer, _ beginnings: UnsafeBufferPointer<Bool>) -> Set<Trace> {
        var found: Set<Trace> = []
        guard bytes.count >= 8, let start = bytes.baseAddress else { return found }
        var place = 0
        let last = bytes.count - 8
        while place <= last {
            let beginning = start.loadUnaligned(fromByteOffset: place, as: UInt16.self)
            if beginnings[Int(beginning)] {
                let key = start.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                for pattern in patterns[key] ?? [] where isThere(pattern.bytes, at: start + place, bytes.count - place)
                {
                    found.insert(pattern.trace)
                }
            }
            place += 1
        }
        return found
    }

    private func isThere(_ pattern: [UInt8], at start: UnsafeRawPointer, _ count: Int) -> Bool {
        pattern.count <= count && memcmp(pattern, start, pattern.count) == 0
    }

    /// What is found in the files below a directory, and in their names, by path.
    package func traces(below directory: URL) throws -> [String: Set<Trace>] {
        var found: [String: Set<Trace>] = [:]
        for file in try Self.files(below: directory) {
            let path = String(file.path.dropFirst(directory.path.count))
            let traces = traces(in: try Data(contentsOf: file)).union(traces(in: path))
            if !traces.isEmpty { found[path] = traces }
        }
        return found
    }

    /// The regular files below a directory. What goes while one looks, as a database's log may, is left out.
    package static func files(below directory: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
            .map { directory.appendingPathComponent($0) }
            .filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true }
    }
}
