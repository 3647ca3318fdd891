/// The conditions for the use of an item: a protection class, and possibly constraints on the person.
///
/// Two access controls are equal if their flags rule every operation alike.
package struct AccessControl: Sendable, Hashable {
    /// Bits of Apple's `SecAccessControlCreateFlags`.
    package struct Flags: OptionSet, Sendable, Hashable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let userPresence = Flags(rawValue: 1 << 0)
        package static let biometryAny = Flags(rawValue: 1 << 1)
        package static let biometryCurrentSet = Flags(rawValue: 1 << 3)
        package static let devicePasscode = Flags(rawValue: 1 << 4)
        package static let companion = Flags(rawValue: 1 << 5)
        package static let or = Flags(rawValue: 1 << 14)
        package static let and = Flags(rawValue: 1 << 15)
        package static let privateKeyUsage = Flags(rawValue: 1 << 30)
        package static let applicationPassword = Flags(rawValue: 1 << 31)

        /// The flags that ask something of a person or a second device.
        package static let constraints: Flags = [
            .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
        ]
        package static let known: Flags = [.constraints, .or, .and, .privateKeyUsage, .applicationPassword]

        private static let named: [(flag: Flags, name: String)] = [
            (.userPresence, "user-presence"), (.biometryAny, "biometry-any"),
            (.biometryCurrentSet, "biometry-current-set"), (.devicePasscode, "passcode"),
            (.companion, "companion"), (.or, "or"), (.and, "and"), (.privateKeyUsage, "private-key-usage"),
            (.applicationPassword, "application-password"),
        ]

        /// The names of the flags on the command line and in its output.
        package var names: [String] { Self.named.filter { contains($0.flag) }.map(\.name) }

        /// A flag by its name.
        package init?(name: String) {
            guard let known = Self.named.first(where: { $0.name == name }) else { return nil }
            self = known.flag
        }
    }

    package private(set) var protection: Protection
    package let flags: Flags
    /// Whether deleting the item asks for the same proof as reading it. It is free otherwise, as on Apple's systems.
    package private(set) var constrainsDeletion = false
    /// The enrolment when the item was stored: ``BiometryEnrolment/digest``. Only an access control with
    /// ``Flags/biometryCurrentSet`` has one; nil until the item is stored.
    package private(set) var boundSet: [UInt8]?

    /// An access control that asks for nothing beyond its protection class.
    package init(_ protection: Protection) {
        self.protection = protection
        self.flags = []
    }

    /// - Throws: `.parameter` for a combination that Apple's keychain refuses.
    package init(_ protection: Protection, flags: Flags) throws(KeychainError) {
        if let reason = Self.flaw(in: flags) {
            throw KeychainError(.parameter, message: reason)
        }
        self.protection = protection
        self.flags = flags
    }

    /// Whether reading needs more than the protection class: a person, a passcode, an extra password.
    package var isConstrained: Bool {
        !flags.isDisjoint(with: [.constraints, .privateKeyUsage, .applicationPassword])
    }

    /// This access control for an item that cannot be deleted without authentication either. An access control without
    /// a constraint stays as it is.
    package func constrainingDeletion() -> AccessControl {
        var control = self
        control.constrainsDeletion = isConstrained
        return control
    }

    /// This access control, bound to the present enrolment. An access control without ``Flags/biometryCurrentSet``
    /// stays as it is.
    package func bound(to enrolment: BiometryEnrolment) -> AccessControl {
        var control = self
        if flags.contains(.biometryCurrentSet) { control.boundSet = enrolment.digest }
        return control
    }

    private static func flaw(in flags: Flags) -> String? {
        if !flags.isSubset(of: .known) {
            return "the access control has flags that are not defined"
        }
        if flags.isSuperset(of: [.or, .and]) {
            return "an access control joins its constraints with either .or or .and, not both"
        }
        if flags.isSuperset(of: [.biometryAny, .biometryCurrentSet]) {
            return "an access control names either .biometryAny or .biometryCurrentSet, not both"
        }
        if flags.contains(.userPresence),
            !flags.subtracting([.userPresence, .applicationPassword, .privateKeyUsage]).isEmpty
        {
            return ".userPresence joins only with .applicationPassword and .privateKeyUsage"
        }
        return nil
    }
}

extension AccessControl {
    private struct Marks: OptionSet {
        let rawValue: UInt8
        static let constrainsDeletion = Marks(rawValue: 1)
        static let isBound = Marks(rawValue: 2)
    }

    /// The bytes of this access control in stored rows and key derivations: the protection's number, the flags in
    /// big-endian order, and ``extensionBytes`` (docs/store-format.md).
    package var canonicalBytes: [UInt8] {
        [protection.number] + withUnsafeBytes(of: flags.rawValue.bigEndian, Array.init) + extensionBytes
    }

    /// Nothing, or a byte of marks that is followed by the set it is bound to, if it is bound to one.
    package var extensionBytes: [UInt8] {
        var marks: Marks = constrainsDeletion ? .constrainsDeletion : []
        if boundSet != nil { marks.insert(.isBound) }
        return marks.isEmpty ? [] : [marks.rawValue] + (boundSet ?? [])
    }

    /// - Throws: `.decode` if ``canonicalBytes`` of a valid access control did not make the bytes.
    package init(canonicalBytes bytes: some Collection<UInt8>) throws(KeychainError) {
        let bytes = Array(bytes)
        guard bytes.count >= 5, let protection = Protection(number: bytes[0]) else {
            throw KeychainError(.decode, message: "the access control of a stored item is not readable")
        }
        let raw = bytes[1..<5].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let flags = Flags(rawValue: raw)
        guard Self.flaw(in: flags) == nil else { throw Self.invalid }
        self.protection = protection
        self.flags = flags
        try readExtension(bytes[5...])
    }

    /// Makes an access control with the additions of ``extensionBytes``.
    ///
    /// - Throws: `.parameter` for flags that Apple's keychain refuses, `.decode` for bytes that do not go with them.
    package init(
        _ protection: Protection, flags: Flags, extensionBytes: some Collection<UInt8>
    ) throws(KeychainError) {
        try self.init(protection, flags: flags)
        try readExtension(Array(extensionBytes)[...])
    }

    private mutating func readExtension(_ bytes: ArraySlice<UInt8>) throws(KeychainError) {
        guard let first = bytes.first else { return }
        let marks = Marks(rawValue: first)
        constrainsDeletion = marks.contains(.constrainsDeletion)
        boundSet = marks.contains(.isBound) ? Array(bytes.dropFirst()) : nil
        // Bytes in any other form have another meaning, or none.
        guard extensionBytes == Array(bytes), isConstrained,
            boundSet.map({ $0.count == BiometryEnrolment.digestByteCount && flags.contains(.biometryCurrentSet) })
                ?? true
        else { throw Self.invalid }
    }

    /// All others whose ``canonicalBytes`` differ from these in one byte.
    package var oneByteApart: [AccessControl] {
        let bytes = canonicalBytes
        var others = Protection.allCases.filter { $0 != protection }.map { other in
            var control = self
            control.protection = other
            return control
        }
        for index in bytes.indices.dropFirst() {
            // Only the bits of known flags are changed.
            let mask = index < 5 ? UInt8(truncatingIfNeeded: Flags.known.rawValue >> (8 * (4 - index))) : .max
            for value in 0...UInt8.max where value & mask == value && value != bytes[index] {
                var changed = bytes
                changed[index] = value
                if let control = try? AccessControl(canonicalBytes: changed) { others.append(control) }
            }
        }
        return others
    }

    private static var invalid: KeychainError {
        KeychainError(.decode, message: "the access control of a stored item is not valid")
    }
}
