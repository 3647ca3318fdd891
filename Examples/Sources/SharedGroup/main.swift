// SharedGroup                  goes through everything once and leaves nothing behind
// SharedGroup write NAME TEXT  leaves a note for the other programs of the group (LibraryClientTool is one)

import Foundation
import Story

let own = "EXAMPLE123.com.example.shared-group"
let shared = "EXAMPLE123.com.example.family"
let appGroup = "group.com.example.family"

func message(_ status: OSStatus) -> String {
    SecCopyErrorMessageString(status, nil) as String? ?? "no message"
}

func tour() {
    let anywhere = GroupStore(group: nil)
    _ = anywhere.remove("tour")

    tell("Without a group a note goes to the first one.", anywhere.write("mine", named: "tour") == errSecSuccess)
    tell("That is \(own).", anywhere.groups(ofNote: "tour") == [own])

    for group in [shared, appGroup] {
        let status = GroupStore(group: group).write("ours", named: "tour")
        tell("A note of the same name goes into \(group).", status == errSecSuccess)
        tell("It is read from there.", GroupStore(group: group).text(named: "tour") == (errSecSuccess, "ours"))
    }
    tell("The first one is still as it was.", GroupStore(group: own).text(named: "tour") == (errSecSuccess, "mine"))
    tell(
        "A search without a group finds all three.",
        anywhere.groups(ofNote: "tour").sorted() == [own, shared, appGroup].sorted()
    )

    let foreign = GroupStore(group: "EXAMPLE123.com.example.bank")
    let status = foreign.write("theirs", named: "tour")
    let reason = message(status)
    tell("A group that is not among the entitlements: \(status) \(reason)", status == errSecMissingEntitlement)
    tell(
        "The message names the group asked for and the groups held.",
        ["EXAMPLE123.com.example.bank", own, shared].allSatisfy(reason.contains)
    )
    tell("Nor can it be read.", foreign.text(named: "tour").status == errSecMissingEntitlement)

    tell("Deleting without a group removes all three.", anywhere.remove("tour") == errSecSuccess)
    tell("Nothing is left.", anywhere.text(named: "tour").status == errSecItemNotFound)
}

let words = Array(CommandLine.arguments.dropFirst())
switch (words.first, words.count) {
case (nil, _): tour()
case ("write", 3):
    let status = GroupStore(group: shared).write(words[2], named: words[1])
    if status != errSecSuccess { stop(message(status)) }
default: stop("usage: SharedGroup [write NAME TEXT]")
}
