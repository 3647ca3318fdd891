// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
package import KeychainModel

/// When an item can be used: a protection class, and possibly constraints on the person.
///
/// Two are equal when they rule every operation alike. Make one with
/// ``SecAccessControlCreateWithFlags(_:_:_:_:)``; the attributes of every item hold one too.
public final class SecAccessControl: NSObject, @unchecked Sendable {  // immutable
    package let accessControl: AccessControl

    package init(_ accessControl: AccessControl) {
        self.accessControl = accessControl
        super.init()
    }

    override public func isEqual(_ object: Any?) -> Bool {
        (object as? SecAccessControl)?.accessControl == accessControl
    }

    override public var hash: Int { accessControl.hashValue }

    override public var description: String {
        "<SecAccessControl: \(accessControl.protection), flags 0x\(String(accessControl.flags.rawValue, radix: 16))>"
    }
}

/// Makes an access control from an accessibility constant and flags.
///
/// Several constraints without ``SecAccessControlCreateFlags/or`` must all be satisfied.
/// Refused are flags that are not defined; `or` together with `and`; `biometryAny` together with
/// `biometryCurrentSet`; `userPresence` together with anything but `applicationPassword` and
/// `privateKeyUsage`; and a protection that is not one of the `kSecAttrAccessible…` constants. Apple's
/// private "until reboot" class (`"f"`) counts among the latter: Apple's keychain makes an access control
/// of it that no item can then be stored with.
///
/// - Parameters:
///   - allocator: Accepted and not used.
///   - protection: One of the `kSecAttrAccessible…` constants.
///   - flags: What reading asks of the person or device, and how several constraints are joined.
///   - error: Receives, with the caller as its owner, an error of `NSOSStatusErrorDomain` with the code
///     ``errSecParam`` and a description that says which rule was broken.
/// - Returns: nil for a combination that is refused.
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
