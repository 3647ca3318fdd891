internal import CKeychainLinux
internal import Glibc
package import KeychainModel

/// The variables that a program gets: this program's variables, with secrets in the place of references.
package struct RunEnvironment {
    private enum Value {
        /// The bytes "NAME=value" that this program got.
        case inherited(UnsafeMutablePointer<CChar>)
        case text(String)
        /// A value of a file, with "FILE:LINE:COLUMN: ".
        case read(String, place: String)
        case secret(SecretBytes)
    }

    /// The variables in their order; nil: the variable was taken away.
    private var variables: [(name: Name, value: Value)?] = []
    private var places: [Name: [Int]] = [:]

    /// A name as bytes, so that two names that are not UTF-8 stay two names.
    private typealias Name = [UInt8]

    package init() {
        var next = ckeychain_environment()
        while let variable = next?.pointee {
            let name = UnsafeRawBufferPointer(start: variable, count: strcspn(variable, "="))
            append(Name(name), .inherited(variable))
            next = next.map { $0 + 1 }
        }
    }

    package mutating func set(_ name: String, _ text: String) { replace(name, .text(text)) }
    package mutating func set(_ variable: NamedValue, from path: String) {
        replace(variable.name, .read(variable.value, place: "\(path):\(variable.line):\(variable.column): "))
    }
    package mutating func set(_ name: String, _ secret: SecretBytes) { replace(name, .secret(secret)) }

    package mutating func remove(_ name: String) {
        for place in places.removeValue(forKey: Name(name.utf8)) ?? [] { variables[place] = nil }
    }

    private mutating func replace(_ name: String, _ value: Value) {
        remove(name)
        append(Name(name.utf8), value)
    }

    private mutating func append(_ name: Name, _ value: Value) {
        places[name, default: []].append(variables.count)
        variables.append((name, value))
    }

    // MARK: References

    /// The references among the values.
    ///
    /// - Parameter only: The names of the variables to look at; nil: all.
    /// - Throws: `.parameter` if a value is a reference with a mistake.
    package func references(only: [String]?) throws(KeychainError) -> [NamedReference] {
        var found: [NamedReference] = []
        for variable in variables.compactMap(\.self) {
            guard let name = String(validating: variable.name, as: UTF8.self), only?.contains(name) ?? true,
                let text = Self.text(of: variable.value), ItemReference.isMeant(by: text)
            else { continue }
            guard !text.unicodeScalars.contains("\u{fffd}") else {
                throw KeychainError(.parameter, message: "\(name): the reference is not UTF-8. Nothing was started")
            }
            do throws(ItemReference.Flaw) {
                found.append(NamedReference(name: name, reference: try ItemReference(text)))
            } catch {
                throw KeychainError(
                    .parameter,
                    message: "\(Self.place(of: variable.value))\(name): \(error.message). Nothing was started")
            }
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func text(of value: Value) -> String? {
        switch value {
        // A text that is not UTF-8 has replacement characters in it.
        case .inherited(let variable): String(cString: variable + min(strlen(variable), strcspn(variable, "=") + 1))
        case .text(let text), .read(let text, _): text
        case .secret: nil
        }
    }

    private static func place(of value: Value) -> String { if case .read(_, let place) = value { place } else { "" } }

    // MARK: Handing over

    /// The most bytes of a variable, with its name and final zero (MAX_ARG_STRLEN of Linux).
    private static let mostBytes = 128 << 10

    /// The names of the variables that are too large for any program.
    var tooLarge: [String] {
        variables.compactMap(\.self).filter { variable in
            switch variable.value {
            case .inherited: false
            case .text(let text), .read(let text, _): variable.name.count + text.utf8.count + 2 > Self.mostBytes
            case .secret(let secret): variable.name.count + secret.count + 2 > Self.mostBytes
            }
        }.map { String(decoding: $0.name, as: UTF8.self) }
    }

    /// The variables in the form that execve(2) takes. The copies are erased afterwards.
    func withPointers<R>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        var copies: [UnsafeMutableBufferPointer<CChar>] = []
        for variable in variables.compactMap(\.self) {
            switch variable.value {
            case .inherited(let pointer): pointers.append(pointer)
            case .text(let text), .read(let text, _):
                copies.append(
                    Self.assignment(variable.name, Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) }))
                pointers.append(copies.last?.baseAddress)
            case .secret(let secret):
                copies.append(Self.assignment(variable.name, secret))
                pointers.append(copies.last?.baseAddress)
            }
        }
        pointers.append(nil)
        defer {
            for copy in copies {
                ckeychain_erase(copy.baseAddress, copy.count)
                copy.deallocate()
            }
        }
        return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }  // never empty
    }

    private static func assignment(_ name: Name, _ value: SecretBytes) -> UnsafeMutableBufferPointer<CChar> {
        let start = name + Array("=".utf8)
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: start.count + value.count + 1)
        let bytes = UnsafeMutableRawBufferPointer(copy)
        bytes.copyBytes(from: start)
        value.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[start.count...]).copyMemory(from: $0) }
        bytes[bytes.count - 1] = 0
        return copy
    }
}

/// A variable and the secret that it is to have.
package struct NamedReference {
    package let name: String
    package let reference: ItemReference
}
