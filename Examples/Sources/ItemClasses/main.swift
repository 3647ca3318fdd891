// Goes once through the classes of items and leaves nothing behind.

import Foundation
import Security
import Story

struct Login: Codable, Equatable {
    var password: String
    var hints: [String]
}

story {
    for itemClass in ItemClass.allCases {
        tell("\(itemClass) is \(itemClass.rawValue), and back.", ItemClass(rawValue: itemClass.rawValue) == itemClass)
        tell("There is no \(itemClass) yet.", try Vault(itemClass: itemClass).inventory().isEmpty)
    }
    tell("No class has the name \"file\".", ItemClass(rawValue: "file" as CFString) == nil)

    let login = Login(password: "correct horse", hints: ["battery", "staple"])
    let changed = Login(password: "incorrect horse", hints: [])

    let generic = Vault(itemClass: .genericPassword)
    let service: Vault.Attributes = [kSecAttrService: "com.example.item-classes", kSecAttrLabel: "Example"]
    try generic.insert(login, account: "ada", attributes: service)
    tell("A generic password comes back.", try generic.value(account: "ada", attributes: service) == login)
    tell("A second one like it is a duplicate.", fails: VaultError.duplicate) {
        try generic.insert(changed, account: "ada", attributes: service)
    }
    tell("The first one is still as it was.", try generic.value(account: "ada", attributes: service) == login)
    try generic.update(changed, account: "ada", attributes: service)
    tell("Updated, it has changed.", try generic.value(account: "ada", attributes: service) == changed)
    tell("A generic password has no server.", fails: VaultError.attributeUnknownToClass) {
        try generic.insert(login, account: "ada", attributes: [kSecAttrServer: "example.com"])
    }
    tell("A service cannot be a date.", fails: VaultError.malformed) {
        try generic.insert(login, account: "grace", attributes: [kSecAttrService: Date()])
    }

    let internet = Vault(itemClass: .internetPassword)
    let site: Vault.Attributes = [
        kSecAttrServer: "example.com",
        kSecAttrProtocol: kSecAttrProtocolHTTPS,
        kSecAttrAuthenticationType: kSecAttrAuthenticationTypeHTMLForm,
        kSecAttrPath: "/login",
    ]
    for port in [443, 8443] {
        let attributes = site.merging([kSecAttrPort: port]) { $1 }
        try internet.insert(login, account: "ada", attributes: attributes)
    }
    let ports = try internet.inventory().compactMap { $0[kSecAttrPort as String] as? Int }
    tell("Two internet passwords differ in their port alone.", ports.sorted() == [443, 8443])
    tell(
        "Their protocol is still a CFString.",
        try internet.inventory().allSatisfy { item in
            item[kSecAttrProtocol as String] as? String == kSecAttrProtocolHTTPS as String
        })
    tell("The port finds one of them.", try internet.value(account: "ada", attributes: [kSecAttrPort: 8443]) == login)

    let client = try ClientFile()
    let objects: [(ItemClass, NSObject)] = [
        (.certificate, client.certificate), (.key, client.key), (.identity, client.identity),
    ]
    for (itemClass, object) in objects {
        let vault = Vault(itemClass: itemClass)
        try vault.insert(object, label: "client")
        tell("The \(itemClass) comes back.", try vault.object(label: "client") == object)
        tell("It is kept once.", fails: VaultError.duplicate) { try vault.insert(object, label: "client") }
        try vault.delete(label: "client")
        tell("Deleted, it is gone.", fails: VaultError.notFound) { _ = try vault.object(label: "client") }
    }

    try internet.delete(account: "ada", attributes: site)
    tell("Deleting without the port removes both.", try internet.inventory().isEmpty)
    try generic.delete(account: "ada")
    tell("What is deleted is not found.", fails: VaultError.notFound) {
        _ = try generic.value(of: Login.self, account: "ada", attributes: service)
    }
    tell("Deleting it again finds nothing.", fails: VaultError.notFound) { try generic.delete(account: "ada") }
}
