// Goes through everything once and leaves nothing behind.

import Story
import SwiftKeychain

/// A failure is told by its code, which is what a program looks at.
func tell(_ sentence: String, failsWith code: KeychainError.Code, _ body: () throws -> Void) {
    do {
        try body()
        stop("not as told: \(sentence) It succeeded.")
    } catch code {
        print(sentence)
    } catch {
        stop("not as told: \(sentence) \(error)")
    }
}

await story {
    let signIn = SignIn()
    let ada = Account(name: "ada", password: "opensesame")
    try signIn.signIn(as: ada)
    let account = try await signIn.accounts.credentials(for: "ada")
    tell("The account comes back whole.", account == ada)
    tell("A property has the last one.", signIn.lastAccount == "ada" && signIn.$lastAccount.error == nil)
    let isGood = try await signIn.tokens.hasAccessToken()
    tell("The access token has expired.", !isGood)
    let token = try await signIn.accessToken()
    tell("It is refreshed.", token == "next")
    let isGoodNow = try await signIn.tokens.hasAccessToken()
    tell("The new one is stored.", isGoodNow)
    try signIn.signOut()
    let (tokens, names) = try await (signIn.tokens.tokens(), signIn.accounts.names())
    tell("Signed out, nothing of it is left.", tokens == nil && names.isEmpty)
}

story {
    let cards = Repository<Card>(keychain: Keychain(service: "com.example.cards"))
    var card = Card(id: "visa", number: "4111")
    try cards.create(card)
    tell("A card cannot be made twice.", failsWith: .duplicateItem) { try cards.create(card) }
    card.number = "4242"
    try cards.update(card)
    tell("An update is read back.", try cards.read("visa") == card)
    tell("All cards are listed.", try cards.readAll() == [card])
    try cards.delete("visa")
    tell("Deleted, it is nil.", try cards.read("visa") == nil)
    tell("It cannot be updated any more.", failsWith: .itemNotFound) { try cards.update(card) }
}

story {
    KeychainConfiguration.processDefault.accessGroups = ["com.example.calendar", "com.example.family"]
    let own = Keychain(service: "com.example.notes")
    let shared = own.inGroup("com.example.family")
    try own.set("milk, eggs", for: "shopping")
    tell("A note of one's own is not shared.", try !shared.contains("shopping"))
    tell("It moves into the group.", try shared.migrate(from: own) == 1 && own.count() == 0)
    KeychainConfiguration.processDefault.accessGroups = ["com.example.shopping", "com.example.family"]
    tell("Another program of the group reads it.", try shared.string(for: "shopping") == "milk, eggs")
    tell("A foreign group is refused.", failsWith: .missingEntitlement) {
        try own.inGroup("com.example.bank").set("x", for: "k")
    }
    try shared.removeAll()
    tell("Nothing is left.", try shared.keys().isEmpty)
}
