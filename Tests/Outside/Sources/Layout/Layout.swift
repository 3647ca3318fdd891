// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

import Foundation

/// How much memory a value takes.
public struct Layout: Sendable, Equatable, CustomStringConvertible {
    public var size: Int
    public var stride: Int
    public var alignment: Int

    public init(size: Int, stride: Int, alignment: Int) {
        self.size = size
        self.stride = stride
        self.alignment = alignment
    }

    /// What the library that defines the type says at run time, in the type's value witness table.
    ///
    /// The table lies in front of the type's metadata: eight functions, size, stride, and flags that begin with the mask
    /// of the alignment (swiftlang/swift, include/swift/ABI/ValueWitness.def).
    public init(ofMetadata type: Any.Type) {
        let metadata = unsafeBitCast(type, to: UnsafePointer<UnsafeRawPointer>.self)
        let witnesses = metadata[-1]
        let word = MemoryLayout<Int>.size
        size = witnesses.load(fromByteOffset: 8 * word, as: Int.self)
        stride = witnesses.load(fromByteOffset: 9 * word, as: Int.self)
        alignment = Int(witnesses.load(fromByteOffset: 10 * word, as: UInt8.self)) + 1
    }

    public var description: String { "\(size) bytes, stride \(stride), alignment \(alignment)" }
}

/// Prints one line for each type of the modules that the arguments name, and ends the program: with 1 if two layouts differ.
///
/// - Parameter types: As this package's compiler has them, and as the library has them.
public func compare(_ types: [(module: String, name: String, computed: Layout, actual: Layout)]) -> Never {
    let modules = CommandLine.arguments.dropFirst()
    var differ = false
    for type in types where modules.contains(type.module) {
        if type.computed == type.actual {
            print("same       \(type.name): \(type.actual)")
        } else {
            print("different  \(type.name): \(type.computed) here, \(type.actual) in the library")
            differ = true
        }
    }
    exit(differ ? 1 : 0)
}
