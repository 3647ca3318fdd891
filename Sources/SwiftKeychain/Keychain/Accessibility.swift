internal import KeychainModel

extension Keychain {
    /// When the key of an item is there. The names and their meaning are those of Apple's `kSecAttrAccessible…` constants.
    ///
    /// Without a passcode nothing is ever locked, and all of these are the same but for ``whenPasscodeSetThisDeviceOnly``,
    /// which is refused.
    public enum Accessibility: Sendable, Hashable, CaseIterable {
        /// While the keychain is unlocked. What is stored without any other choice.
        case whenUnlocked
        /// From the first unlock to the restart of the system: for what runs while nobody is there.
        case afterFirstUnlock
        /// Always. A thief of the whole home directory reads it.
        case always
        /// While the keychain is unlocked; no export takes it along.
        case whenUnlockedThisDeviceOnly
        /// From the first unlock to the restart of the system; no export takes it along.
        case afterFirstUnlockThisDeviceOnly
        /// Always; no export takes it along. A thief of the whole home directory reads it.
        case alwaysThisDeviceOnly
        /// While the keychain is unlocked, and only as long as it has a passcode: removing that destroys the item.
        case whenPasscodeSetThisDeviceOnly

        var protection: Protection {
            switch self {
            case .whenUnlocked: .whenUnlocked
            case .afterFirstUnlock: .afterFirstUnlock
            case .always: .always
            case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
            case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
            case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
            case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
            }
        }

        init(_ protection: Protection) { self = Self.allCases.first { $0.protection == protection }! }  // one for each
    }

    /// What must be true before an item is used: when its key is there, and what a person has to show.
    ///
    /// ```swift
    /// let bank = Keychain(service: "com.example.bank").protected(by: .init(.whenUnlocked, consent: .passcode))
    /// ```
    public struct AccessControl: Sendable, Hashable {
        /// What a person has to show each time the item is read or changed. Deleting needs none of it.
        ///
        /// A passcode becomes part of the item's key. A finger or a face is a check, by the daemon, where there is one, else by
        /// the program itself.
        public enum Consent: Sendable, Hashable, CaseIterable {
            /// An enrolled finger or face, or the passcode.
            case userPresence
            case passcode
            /// An enrolled finger or face.
            case biometry
            /// The same, of those that were enrolled when the item was stored. After any of them was added or removed the
            /// item is gone.
            case currentBiometry
            /// A finger or a face, and the passcode.
            case biometryAndPasscode
            /// A finger or a face of those that were enrolled when the item was stored, and the passcode.
            case currentBiometryAndPasscode

            fileprivate var flags: KeychainModel.AccessControl.Flags {
                switch self {
                case .userPresence: .userPresence
                case .passcode: .devicePasscode
                case .biometry: .biometryAny
                case .currentBiometry: .biometryCurrentSet
                case .biometryAndPasscode: [.biometryAny, .and, .devicePasscode]
                case .currentBiometryAndPasscode: [.biometryCurrentSet, .and, .devicePasscode]
                }
            }
        }

        let model: KeychainModel.AccessControl

        init(_ model: KeychainModel.AccessControl) { self.model = model }

        /// - Parameters:
        ///   - accessibility: When the item is within reach, whoever asks.
        ///   - consent: What a person has to show; nil: nothing.
        ///   - applicationPassword: Whether a password of the program's own is part of the item's key: see
        ///     ``Keychain/Context/setApplicationPassword(_:)``. A person is asked for one that is not set there.
        ///   - constrainsDeletion: Whether deleting the item needs the consent too.
        public init(
            _ accessibility: Accessibility, consent: Consent? = nil, applicationPassword: Bool = false,
            constrainsDeletion: Bool = false
        ) {
            var flags = consent?.flags ?? []
            if applicationPassword { flags.insert(.applicationPassword) }
            // Each combination that these parameters can name is valid.
            let control = try! KeychainModel.AccessControl(accessibility.protection, flags: flags)
            model = constrainsDeletion ? control.constrainingDeletion() : control
        }

        public var accessibility: Accessibility { Accessibility(model.protection) }

        /// nil: nothing, or what no ``Consent`` stands for, which `SecAccessControlCreateWithFlags` can make.
        public var consent: Consent? {
            Consent.allCases.first { $0.flags == model.flags.subtracting(.applicationPassword) }
        }

        /// Whether reading the item asks for anything beyond its accessibility.
        public var isConstrained: Bool { model.isConstrained }
    }
}
