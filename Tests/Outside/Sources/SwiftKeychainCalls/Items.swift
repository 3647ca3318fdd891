import Foundation
import Report
import SwiftKeychain

let store = KeychainItems()

func items() throws {
    tell(
        "There are five classes",
        KeychainItemClass.allCases == [.genericPassword, .internetPassword, .certificate, .key, .identity])
    var like = KeychainItems(like: Keychain(service: ""))
    like.context = Keychain.Context()
    like.reason = "to test"
    like.mayAsk = false
    try tell("A store asks as it is told", try like.find(Keychain.Identity.self).isEmpty)
    try genericPasswords()
    try internetPasswords()
    try certificates()
    try keys()
    tell(
        "An identity has a certificate",
        Keychain.Identity().certificate == nil && KeychainItemKinds.Identity.itemClass == .identity)
}

func genericPasswords() throws {
    var password = Keychain.GenericPassword()
    password.service = "com.example.items"
    password.generic = Data([7])
    password.label = "label"
    password.viewHint = "hint"
    password.tokenID = "token"
    password.alias = Data([1])
    password.account = "alice"
    password.itemDescription = "d"
    password.comment = "c"
    password.creator = 1
    password.type = 2
    password.scriptCode = 3
    password.isInvisible = true
    password.isNegative = false
    password.hasCustomIcon = true
    password.secret = Data("s3cret".utf8)
    password.accessGroup = nil
    password.accessControl = .init(.always)
    password.isSynchronizable = false
    password.created = nil
    password.modified = nil
    let stored = try store.add(password)
    tell(
        "An item is returned as it is stored",
        stored.created != nil && stored.modified == stored.created && stored.persistentReference?.count == 20)
    var query = KeychainQuery<KeychainItemKinds.GenericPassword>()
    query.service = "com.example.items"
    query.isSynchronizable = nil
    query.accessibility = .always
    query.limit = 1
    query.persistentReference = nil
    let found = try store.find(query, wantsSecrets: true)
    tell("A query finds it", found.first?.secret == Data("s3cret".utf8) && found.first?.service == query.service)
    try store.update(query) { $0.comment = "new" }
    try tell("An update changes it", try store.find(query).first?.comment == "new")
    try store.update(Keychain.GenericPassword.self) {
        $0.comment = "new"
    } _: {
        $0.comment = "newer"
    }
    try tell("Conditions find it", try store.find(Keychain.GenericPassword.self) { $0.comment = "newer" }.count == 1)
    try tell("It is removed", try store.remove(query) == 1)
    try tell("Once", try store.remove(Keychain.GenericPassword.self) { $0.service = "com.example.items" } == 0)
    tell("Its class is told", KeychainItemKinds.GenericPassword.itemClass == .genericPassword)
}

func internetPasswords() throws {
    var password = Keychain.InternetPassword()
    (password.server, password.port, password.path, password.securityDomain) = ("example.com", 443, "/", "staff")
    (password.protocol, password.authenticationType) = (.https, .httpDigest)
    try store.add(password)
    let found = try store.find(Keychain.InternetPassword.self) { $0.protocol = .https }.first
    tell(
        "A server's password has all that names the server",
        found?.port == 443 && found?.authenticationType == .httpDigest)
    try store.remove(Keychain.InternetPassword.self) { $0.server = "example.com" }
    tell("Its class is told", KeychainItemKinds.InternetPassword.itemClass == .internetPassword)
}

func certificates() throws {
    var certificate = Keychain.Certificate()
    (certificate.certificateType, certificate.certificateEncoding) = (1, 3)
    (certificate.subject, certificate.issuer, certificate.serialNumber) = (Data([1]), Data([2]), Data([3]))
    (certificate.subjectKeyID, certificate.publicKeyHash) = (Data([4]), Data([5]))
    let stored = try store.add(certificate)
    tell(
        "A certificate has its names",
        stored.issuer == Data([2]) && KeychainItemKinds.Certificate.itemClass == .certificate)
    try store.remove(Keychain.Certificate.self) { $0.serialNumber = Data([3]) }
}

func keys() throws {
    var key = Keychain.Key()
    (key.applicationLabel, key.applicationTag, key.keyClass, key.keyType) = (Data([1]), Data([2]), .privateKey, 73)
    (key.creator, key.keySizeInBits, key.effectiveKeySize) = (0, 256, 256)
    (key.startDate, key.endDate) = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1))
    (key.isPermanent, key.isPrivate, key.isModifiable, key.isSensitive) = (true, true, false, true)
    (key.wasAlwaysSensitive, key.isExtractable, key.wasNeverExtractable) = (true, false, true)
    (key.canEncrypt, key.canDecrypt, key.canDerive, key.canSign, key.canVerify) = (false, true, true, true, false)
    (key.canSignRecover, key.canVerifyRecover, key.canWrap, key.canUnwrap) = (false, false, true, true)
    let stored = try store.add(key)
    tell(
        "A key says what it is for",
        stored.canSign == true && stored.keyClass == .privateKey && Keychain.KeyClass.allCases.count == 3)
    try store.remove(Keychain.Key.self) { $0.applicationTag = Data([2]) }
    tell("Its class is told", KeychainItemKinds.Key.itemClass == .key)
}

func itemsInTasks() async throws {
    var password = Keychain.GenericPassword()
    password.service = "com.example.items"
    let stored = try await store.add(password)
    tell("A task stores an item", stored.service == password.service)
    try await store.update(Keychain.GenericPassword.self) {
        $0.service = "com.example.items"
    } _: {
        $0.comment = "c"
    }
    let found = try await store.find(Keychain.GenericPassword.self) { $0.comment = "c" }
    tell("It finds it", found.count == 1)
    var query = KeychainQuery<KeychainItemKinds.GenericPassword>()
    query.service = "com.example.items"
    try await store.update(query) { $0.comment = "d" }
    try await tell("With a query too", store.find(query).map(\.comment), ["d"])
    try await tell("It removes it", store.remove(query), 1)
    try await tell("Once", store.remove(Keychain.GenericPassword.self) { $0.service = "com.example.items" }, 0)
}
