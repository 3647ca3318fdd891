// Apple's names are not ours to change.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainModel
internal import SwiftKeychain

/// Adds one item.
///
/// - Parameters:
///   - attributes: The item's class, its attributes and, under `kSecValueData`, its secret. Without an access group
///     the item goes to the caller's first one.
///   - result: Set to what the `kSecReturn…` keys ask for. Untouched if there are none, or the call fails.
/// - Returns: `errSecSuccess`; `errSecDuplicateItem` if an item with the same unique attributes exists; `errSecParam`,
///   `errSecNoSuchAttr` or `errSecNoSuchClass` for a malformed dictionary; `errSecMissingEntitlement` for a group the
///   program does not hold; `errSecInteractionNotAllowed` if the keychain is locked and the item, or one that it may be
///   a duplicate of, needs it unlocked, or an application password is to be part of its key and nobody can be asked for
///   it; `errSecAuthFailed` for what needs a passcode or an enrolled finger, as long as there is none;
///   `errSecNotAvailable` if the store cannot be opened. After a failure nothing has been stored.
///
/// What was asked is named by `SecCopyErrorMessageString`.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(attributes)
        let request = try dictionary.addRequest()
        guard case .added(let item) = try dictionary.perform(.add(request)) else { throw .unexpectedReply }
        if let value = ResultShape(dictionary.returns).added(item) { result?.pointee = value }
    }
}

/// Finds items, and returns what the `kSecReturn…` keys ask for.
///
/// - Parameters:
///   - query: A class, the attributes that must be equal, and how many items are wanted: one, unless
///     `kSecMatchLimit` says otherwise. With any other limit than one the result is an array, even of one element.
///   - result: Set if the call succeeds.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecInteractionNotAllowed` if one of the items found is locked,
///   or asks for authentication, nobody may or can be asked, and `kSecUseAuthenticationUISkip` does not leave those
///   out; `errSecUserCanceled` if the person declines; `errSecAuthFailed` if what they show is not right, or nobody
///   could show it; otherwise as ``SecItemAdd(_:_:)``.
///
/// For items that ask for authentication it blocks its thread for as long as the person takes, also if only attributes
/// are wanted.
///
/// A secret is decrypted only if `kSecReturnData` asks for it. An item of another program's access group is not
/// found; naming such a group is `errSecMissingEntitlement`.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let request = try dictionary.findRequest()
        guard case .found(let items) = try dictionary.perform(.find(request)) else { throw .unexpectedReply }
        let shape = ResultShape(dictionary.returns)
        let value = request.query.limit == .one ? items.first.flatMap(shape.found) : shape.found(items)
        if let value { result?.pointee = value }
    }
}

/// Changes every item that a query finds, or none of them.
///
/// - Parameters:
///   - query: As in ``SecItemCopyMatching(_:_:)``, without match and return keys.
///   - attributesToUpdate: New values of attributes, and under `kSecValueData` a new secret. A new access group moves
///     the items; a new accessibility or access control encrypts them anew.
/// - Returns: `errSecSuccess`; `errSecItemNotFound`; `errSecDuplicateItem` if an item would become equal to another
///   one; `errSecInteractionNotAllowed` if one of the items is locked or would be; for items that ask for
///   authentication as ``SecItemCopyMatching(_:_:)``; `errSecNoSuchAttr` for a key that is no attribute of the class.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let query = try dictionary.updateQuery()
        let changes = try SecItemChanges.parse(attributesToUpdate, for: query.itemClass)
        _ = try dictionary.perform(.update(UpdateRequest(query, changes: changes)))
    }
}

/// Deletes every item that a query finds.
///
/// - Returns: `errSecSuccess`, `errSecItemNotFound`, or as ``SecItemCopyMatching(_:_:)``. An item that asks for
///   authentication is deleted without, and so is a locked one, as on Apple's systems: it is refused only if the query
///   names what nothing but the unlocked item tells, or nobody has unlocked the keychain since the system started.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let query = try dictionary.deleteQuery()
        _ = try dictionary.perform(.delete(query))
    }
}

/// Text for a person: what a status means, and, if it is that of the last failure on this thread, what was asked
/// and what the program holds.
///
/// It names attributes and access groups that the program itself asked for, never a secret, and of values
/// only an item class or accessibility that does not exist.
///
/// - Parameters:
///   - status: The status to explain.
///   - reserved: Nil, as on Apple's systems; it is ignored.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let meaning = statusMessage(status)
    guard let failure = LastFailure.onThisThread, failure.code.status == status else { return meaning as NSString }
    return "\(meaning) (\(failure.message))" as NSString
}

extension SecItemDictionary {
    /// Sends a request, and asks the person for what the keychain wants to be shown, unless the dictionary forbids that.
    fileprivate func perform(_ request: Request) throws(KeychainError) -> Reply {
        try Connection.current.performAsking(
            request, in: context?.session, reason: prompt, mayAsk: authenticationUI == .allow)
    }
}

/// The one place where an error becomes a status.
private func status(_ body: () throws(KeychainError) -> Void) -> OSStatus {
    do throws(KeychainError) {
        try body()
        return errSecSuccess
    } catch {
        // Apple's store answers so for a full disk, though there is errSecDiskFull.
        let isFull = error.code == .diskFull
        let failure = isFull ? KeychainError(.notAvailable, message: error.message, cause: error) : error
        LastFailure.onThisThread = failure
        return failure.code.status
    }
}

extension KeychainError {
    fileprivate static var unexpectedReply: KeychainError {
        KeychainError(.internalFailure, message: "the keychain's engine answered another question than was asked")
    }
}
