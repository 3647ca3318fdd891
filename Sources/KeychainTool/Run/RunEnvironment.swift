internal import CKeychainLinux
internal import Glibc
internal import KeychainModel
internal import KeychainRun

/// The variables that a program gets: those of this one, with secrets in the place of references.
struct RunEnvironment {
    private enum Value {
        /// "NAME=value" as this program got it, whatever bytes it has.
        case inherited(UnsafeMutablePointer<CChar>)
        case text(String)
        case secret(SecretBytes)
    }

    private var variables: [(name: String, value: Value)] = []

    init() {
        var next = ckeychain_environment()
        while let variable = next?.pointee {
            let name = String(
                decoding: UnsafeRawBufferPointer(start: variable, count: strcspn(variable, "=")), as: UTF8.self)
            variables.append((name, .inherited(variable)))
            next = next.map { $0 + 1 }
        }
    }

    mutating func set(_ name: String, _ text: String) { replace(name, .text(text)) }
    mutating func set(_ name: String, _ secret: SecretBytes) { replace(name, .secret(secret)) }
    mutating func remove(_ name: String) { variables.removeAll { $0.name.utf8.elementsEqual(name.utf8) } }

    private mutating func replace(_ name: String, _ value: Value) {
        remove(name)
        variables.append((name, value))
    }

    // MARK: References

    /// The references among the values.
    ///
    /// - Parameter only: The names of the variables that are looked at; nil: all.
    /// - Throws: `.parameter` for a value that is none but was meant to be.
    func references(only: [String]?) throws(KeychainError) -> [NamedReference] {
        var found: [NamedReference] = []
        for variable in variables where only?.contains(variable.name) ?? true {
            guard let text = Self.text(of: variable.value), ItemReference.isMeant(by: text) else { continue }
            do throws(ItemReference.Flaw) {
                found.append(NamedReference(name: variable.name, reference: try ItemReference(text)))
            } catch {
                throw KeychainError(.parameter, message: "\(variable.name): \(error.message). Nothing was started")
            }
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func text(of value: Value) -> String? {
        switch value {
        // What is not UTF-8 is no reference that names anything, and shows that it is none when it is read.
        case .inherited(let variable): String(cString: variable + min(strlen(variable), strcspn(variable, "=") + 1))
        case .text(let text): text
        case .secret: nil
        }
    }

    // MARK: Handing over

    /// More bytes than this are not in one variable, its name and final zero included (MAX_ARG_STRLEN of Linux).
    private static let mostBytes = 128 << 10

    /// The names of those that are too large for any program.
    var tooLarge: [String] {
        variables.filter { variable in
            switch variable.value {
            case .inherited: false
            case .text(let text): variable.name.utf8.count + text.utf8.count + 2 > Self.mostBytes
            case .secret(let secret): variable.name.utf8.count + secret.count + 2 > Self.mostBytes
            }
        }.map(\.name)
    }

    /// As execve(2) takes them. They are erased afterwards.
    func withPointers<R>(_ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var pointers: [UnsafeMutablePointer<CChar>?] = []
        var copies: [UnsafeMutableBufferPointer<CChar>] = []
        for variable in variables {
            switch variable.value {
            case .inherited(let pointer): pointers.append(pointer)
            case .text(let text):
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

    private static func assignment(_ name: String, _ value: SecretBytes) -> UnsafeMutableBufferPointer<CChar> {
        let start = Array((name + "=").utf8)
        let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: start.count + value.count + 1)
        let bytes = UnsafeMutableRawBufferPointer(copy)
        bytes.copyBytes(from: start)
        value.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[start.count...]).copyMemory(from: $0) }
        bytes[bytes.count - 1] = 0
        return copy
    }
}

/// A variable and the secret that it is to have.
struct NamedReference {
    let name: String
    let reference: ItemReference
}
