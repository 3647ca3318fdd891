// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
package import KeychainModel

/// An access control says when an item can be used: an accessibility, and possibly constraints on the person.
///
/// Make one with ``SecAccessControlCreateWithFlags(_:_:_:_:)``, or take it from the attributes of an item, which always
/// hold one. The object cannot change.
public final class SecAccessControl: NSObject, @unchecked Sendable {  // immutable
    package let accessControl: AccessControl

    package init(_ accessControl: AccessControl) {
        self.accessControl = accessControl
        super.init()
    }

    /// Two access controls are equal if their accessibility, their flags and the fingers that they are bound to agree.
    ///
    /// An item with ``SecAccessControlCreateFlags/biometryCurrentSet`` holds a control that is bound to the fingers
    /// enrolled at the time. Such a control differs from a new one with equal flags.
    override public func isEqual(_ object: Any?) -> Bool {
        (object as? SecAccessControl)?.accessControl == accessControl
    }

    /// Equal access controls have equal hashes within one process.
    override public var hash: Int { accessControl.hashValue }

    /// The text names the accessibility and the bits of the flags, for logs.
    override public var description: String {
        "<SecAccessControl: \(accessControl.protection), flags 0x\(String(accessControl.flags.rawValue, radix: 16))>"
    }
}

/// Makes an access control from an accessibility constant and flags.
///
/// Several constraints without ``SecAccessControlCreateFlags/or`` must all be satisfied. The function refuses:
///
/// - flags that are not defined;
/// - `or` together with `and`;
/// - `biometryAny` together with `biometryCurrentSet`;
/// - `userPresence` together with anything but `applicationPassword` and `privateKeyUsage`;
/// - a protection that is not one of the `kSecAttrAccessible…` constants. Apple's private accessibility "until reboot"
///   (`f`) is none of them: Apple's keychain makes an access control of it that no item can then be stored with.
///
/// The function does not look whether there is a passcode or an enrolled finger: storing an item does.
///
/// - Parameters:
///   - allocator: The allocator is accepted and not used.
///   - protection: One of the `kSecAttrAccessible…` constants.
///   - flags: The constraints on the person or device, and how several of them are joined.
///   - error: The place receives an error of `NSOSStatusErrorDomain`, with the code ``errSecParam`` and a description
///     that says which rule was broken. The caller owns the error.
/// - Returns: The access control, or nil for a combination that is refused.
public func SecAccessControlCreateWithFlags(
    _ allocator: CFAllocator?,
    _ protection: CFTypeRef,
    _ flags: SecAccessControlCreateFlags,
    _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? {
    do {
        let protection = try Protection(constant: protection)
        return SecAccessControl(try AccessControl(protection, flags: AccessControl.Flags(flags)))
    } catch let failure {
        error?.pointee = .passRetained(NSError(failure))
        return nil
    }
}

extension Protection {
    fileprivate init(constant: CFTypeRef) throws(KeychainError) {
        guard let code = constant as? String, let protection = Protection(rawValue: code) else {
            throw KeychainError(
                .parameter,
                message: "the protection of an access control is one of the kSecAttrAccessible… constants")
        }
        self = protection
    }
}

extension AccessControl.Flags {
    fileprivate init(_ flags: SecAccessControlCreateFlags) throws(KeychainError) {
        guard let bits = UInt32(exactly: flags.rawValue) else {
            throw KeychainError(.parameter, message: "the access control has flags that are not defined")
        }
        self.init(rawValue: bits)
    }
}
