internal import KeychainModel

extension Keychain {
    /// The time at which an item can be used. Names and meaning are those of Apple's `kSecAttrAccessible…` constants.
    ///
    /// ```swift
    /// let sync = Keychain(service: "com.example.sync", accessibility: .afterFirstUnlock)  // runs in the background
    /// ```
    ///
    /// | case | never unlocked | locked | unlocked |
    /// |---|---|---|---|
    /// | ``whenUnlocked`` | no | no | yes |
    /// | ``afterFirstUnlock`` | no | yes | yes |
    /// | ``always`` | yes | yes | yes |
    /// | ``whenPasscodeSetThisDeviceOnly`` | no | no | yes |
    ///
    /// An export leaves out the items of the cases that end in `ThisDeviceOnly`. Otherwise these cases mean what their
    /// short names mean. A keychain without a passcode is never locked: all items can be used at any time, and
    /// ``whenPasscodeSetThisDeviceOnly`` is refused.
    public enum Accessibility: Sendable, Hashable, CaseIterable {
        /// The item can be used while the keychain is unlocked. It is the default.
        case whenUnlocked
        /// The item can be used from the first unlock to the restart of the system, for work that goes on while the
        /// keychain is locked.
        case afterFirstUnlock
        /// The item can always be used. A thief of the whole home directory reads it.
        case always
        /// The item can be used while the keychain is unlocked, and no export contains it.
        case whenUnlockedThisDeviceOnly
        /// The item can be used from the first unlock to the restart of the system, and no export contains it.
        case afterFirstUnlockThisDeviceOnly
        /// The item can always be used, and no export contains it. A thief of the whole home directory reads it.
        case alwaysThisDeviceOnly
        /// The item can be used while the keychain is unlocked, and ends with the passcode: removing that destroys the
        /// item.
        ///
        /// Storing such an item without a passcode throws `.authenticationFailed` (−25293).
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

    /// The conditions for using an item: the time at which its key is there, and the consent of a person.
    ///
    /// ```swift
    /// let bank = Keychain(service: "com.example.bank").protected(by: .init(.whenUnlocked, consent: .passcode))
    /// try bank.set("4711", for: "pin")
    /// let pin = try bank.string(for: "pin")  // asks for the passcode
    /// ```
    ///
    /// An item with a consent cannot be synchronizable (`.parameter`), and no export contains it.
    public struct AccessControl: Sendable, Hashable {
        /// The proof that a person gives each time the item is read or changed. Deleting needs none.
        ///
        /// A passcode becomes part of the item's key, except in ``userPresence``. A finger or a face is a check and not
        /// a key. With a daemon, the daemon makes the check. Without one, the program itself does, and another program
        /// of the user can leave it out.
        public enum Consent: Sendable, Hashable, CaseIterable {
            /// An enrolled finger or face, or the passcode. It is a check, and the passcode is no part of the key.
            case userPresence
            /// The keychain's passcode, which becomes part of the item's key. Storing needs a passcode that is set.
            case passcode
            /// An enrolled finger or face. Storing needs one that is enrolled.
            case biometry
            /// A finger or face that was enrolled when the item was stored.
            ///
            /// After one was added or removed, calls do not find the item.
            case currentBiometry
            /// An enrolled finger or face, and the passcode, which becomes part of the item's key.
            case biometryAndPasscode
            /// A finger or face that was enrolled when the item was stored, and the passcode, which becomes part of the
            /// item's key.
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

        /// Makes an access control.
        ///
        /// - Parameters:
        ///   - accessibility: The time at which the item's key is there.
        ///   - consent: The proof that a person gives. `nil` means that no person is asked.
        ///   - applicationPassword: Whether a password of the program's own is part of the item's key: see
        ///     ``Keychain/Context/setApplicationPassword(_:)``. A person is asked for it if the context has none.
        ///   - constrainsDeletion: Whether deleting the item needs the consent too.
        public init(
            _ accessibility: Accessibility, consent: Consent? = nil, applicationPassword: Bool = false,
            constrainsDeletion: Bool = false
        ) {
            var flags = consent?.flags ?? []
            if applicationPassword { flags.insert(.applicationPassword) }
            // Every combination of these parameters is valid.
            let control = try! KeychainModel.AccessControl(accessibility.protection, flags: flags)
            model = constrainsDeletion ? control.constrainingDeletion() : control
        }

        /// The time at which the item's key is there.
        public var accessibility: Accessibility { Accessibility(model.protection) }

        /// The proof that a person gives.
        ///
        /// It is `nil` if no person is asked. It is `nil` too for combinations that only
        /// `SecAccessControlCreateWithFlags` can make; see ``isConstrained``.
        public var consent: Consent? {
            Consent.allCases.first { $0.flags == model.flags.subtracting(.applicationPassword) }
        }

        /// Whether using the item needs anything beyond its accessibility: a person, or an application password.
        public var isConstrained: Bool { model.isConstrained }
    }
}
