// Apple's names are not ours to change.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import KeychainClient
internal import KeychainModel

/// Adds one item to the keychain.
///
/// `SecCopyErrorMessageString(_:_:)` says more about a failure. After a failure nothing has been stored.
///
/// - Parameters:
///   - attributes: The item's class, its attributes and, under `kSecValueData`, its secret. Without an access group the
///     item goes to the first group of the program. Match keys are `errSecParam`.
///   - result: The place receives what the `kSecReturn…` keys ask for. It stays untouched without such a key and after
///     a failure. The place may be nil.
/// - Returns: `errSecSuccess`, or one of these statuses:
///   - `errSecDuplicateItem` stands for an item with equal unique attributes that exists already.
///   - `errSecParam`, `errSecNoSuchAttr` and `errSecNoSuchClass` stand for a malformed dictionary.
///   - `errSecMissingEntitlement` stands for an access group that the program does not hold.
///   - `errSecInteractionNotAllowed` stands for a locked keychain, if the item or one that it may be a duplicate of
///     needs it unlocked. The status also stands for an application password that cannot be asked for.
///   - `errSecAuthFailed` stands for an item that needs a passcode or an enrolled finger while there is none.
///   - `errSecUserCanceled` stands for a person who declines to give a password that becomes part of the item's key.
///   - `errSecDataTooLarge` stands for an item of more than 64 MiB.
///   - `errSecNotAvailable` stands for a keychain that does not open, or a full disk.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(attributes)
        if case .identity(let identity) = dictionary.reference {
            if let value = try dictionary.add(identity) { result?.pointee = value }
            return
        }
        let request = try dictionary.addRequest()
        let item = try dictionary.ask(.add(request))
        if let value = try ResultShape(dictionary).added(item) { result?.pointee = value }
    }
}

/// Finds items, and returns what the `kSecReturn…` keys ask for.
///
/// The call blocks its thread for as long as a person takes to authenticate. An item that asks for a person does so for
/// its attributes too. Items of access groups that the program does not hold are not found.
///
/// - Parameters:
///   - query: A class, and attributes that must be equal. `kSecMatchLimit` says how many items are wanted, which is one
///     by default. With any other limit the result is an array, even of one element.
///   - result: The place receives what the `kSecReturn…` keys ask for. A failure leaves it untouched. The place may be
///     nil.
/// - Returns: `errSecSuccess`, or one of these statuses:
///   - `errSecItemNotFound` means that no item matches. A locked item never has this status.
///   - `errSecInteractionNotAllowed` means that one of the matching items is locked, which fails the whole call. The
///     status also means that an item asks for a person, who may not or cannot be asked.
///   - `errSecUserCanceled` means that the person declined.
///   - `errSecAuthFailed` means that the person showed something wrong, or could not show anything.
///   - `errSecUnimplemented` stands for a match key or a reference that is not offered yet.
///   - `errSecMissingEntitlement` stands for an access group that the program does not hold.
///   - `errSecParam`, `errSecNoSuchAttr` and `errSecNoSuchClass` stand for a malformed query.
///   - `errSecNotAvailable` stands for a keychain that does not open.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let request = try dictionary.findRequest()
        var items = try dictionary.ask(.find(request.query, wantsSecrets: request.wantsSecrets))
        if !dictionary.match.isEmpty { items = try dictionary.matching(items) }
        let shape = ResultShape(dictionary)
        let value =
            dictionary.limit ?? .one == .one
            ? try items.first.flatMap { item throws(KeychainError) in try shape.found(item) } : try shape.found(items)
        if let value { result?.pointee = value }
    }
}

/// Changes every item that a query finds, or none of them.
///
/// The call asks a person where a search would. A new access group moves the items. A new accessibility or access
/// control encrypts them anew.
///
/// - Parameters:
///   - query: A query as for ``SecItemCopyMatching(_:_:)``, but without match keys and return keys.
///   - attributesToUpdate: New values of attributes, and under `kSecValueData` a new secret. An empty dictionary
///     changes the date of modification alone.
/// - Returns: `errSecSuccess`, or one of these statuses:
///   - `errSecItemNotFound` means that no item matches.
///   - `errSecDuplicateItem` means that an item would become equal to another one in its unique attributes.
///   - `errSecInteractionNotAllowed` means that one of the items is locked, or would be.
///   - `errSecNoSuchAttr` stands for a new value under a key that is no attribute of the class.
///   - `errSecParam` stands for a match key or return key in the query, and for a secret that is no data.
///   - `errSecUserCanceled` and `errSecAuthFailed` stand for a person who did not authenticate.
///   - `errSecMissingEntitlement` stands for an access group that the program does not hold.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let query = try dictionary.updateQuery()
        let changes = try SecItemChanges.parse(attributesToUpdate, for: query.itemClass)
        try dictionary.ask(.update(UpdateRequest(query, changes: changes)))
    }
}

/// Deletes every item that a query finds.
///
/// An item is deleted without authentication, even if its access control asks for one, and also while it is locked. A
/// locked item is not deleted if the query names something without an index, such as a date, or if the keychain was not
/// unlocked since the system was started.
///
/// - Parameter query: A query as for ``SecItemCopyMatching(_:_:)``. The only match key is `kSecMatchLimit` with
///   `kSecMatchLimitAll`.
/// - Returns: `errSecSuccess`, or one of these statuses:
///   - `errSecItemNotFound` means that no item matches.
///   - `errSecInteractionNotAllowed` means that the keychain refuses to delete a locked item.
///   - `errSecMissingEntitlement` stands for an access group that the program does not hold.
///   - `errSecParam`, `errSecNoSuchAttr` and `errSecNoSuchClass` stand for a malformed query.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    status { () throws(KeychainError) in
        let dictionary = try SecItemDictionary(query)
        let query = try dictionary.deleteQuery()
        _ = try dictionary.ask(.delete(query))
    }
}

/// Explains a status in a text for a person.
///
/// If the last failed call of this thread had the status, the text also says what was asked and what the program holds.
/// The text names attributes and access groups. It never contains a secret, and no value of an attribute but an item
/// class or accessibility that does not exist.
///
/// - Parameters:
///   - status: The status to explain.
///   - reserved: The argument is ignored, and nil on Apple's systems.
/// - Returns: The text, which is never nil.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let meaning = statusMessage(status)
    guard let failure = LastFailure.onThisThread, failure.code.status == status else { return meaning as NSString }
    return "\(meaning) (\(failure.message))" as NSString
}

extension SecItemDictionary {
    /// Asks the keychain, and the person for the proof that it wants, unless the dictionary forbids that.
    func ask<Answer>(_ question: Question<Answer>) throws(KeychainError) -> Answer {
        try Connection.current.ask(question, asking)
    }

    var asking: Asking { Asking(in: context?.session, reason: prompt, mayAsk: authenticationUI == .allow) }
}

/// Runs a call, and is the one place where an error becomes a status.
func status(_ body: () throws(KeychainError) -> Void) -> OSStatus {
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
