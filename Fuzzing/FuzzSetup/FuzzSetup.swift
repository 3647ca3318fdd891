import CFuzzer
import Foundation
import KeychainSetup

/// The configuration of other tools, which 'keychainctl setup' changes: the first byte says which tool, and the rest is its
/// file. A file may be refused; nothing traps. A change that is made is found again, and is taken back byte for byte.
@main
struct FuzzSetup {
    static func main() {
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments) { fuzzSetup($0, $1) })
    }
}

/// Under this name too, because libFuzzer's own `main` is linked and looks for it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSetup(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let content = Data(UnsafeRawBufferPointer(start: start + 1, count: count - 1))
    guard let text = try? SetupFile.text(of: content), let setting = try? FuzzSetup.setting(start[0], text) else {
        return 0
    }
    // Of a file that the tool or a person has written after a change.
    _ = try? setting.takenBack(from: content)
    let changed: Data
    do { changed = try setting.applied(to: content) } catch {
        // A line end behind it would be taken for one with it.
        precondition(text.utf8.last == 13 || !"\(error)".contains("bring back"), "refused for no reason")
        return 0
    }
    precondition(changed != content, "nothing was changed")
    precondition(try! setting.takenBack(from: changed) == content, "a file is not as it was")
    if start[0] == UInt8(ascii: "d"), let others = FuzzSetup.otherMembers(content) {
        precondition(FuzzSetup.otherMembers(changed) == others, "another member was changed")
    }
    let again = try! SetupFile.text(of: changed)
    precondition(try! FuzzSetup.setting(start[0], again) == nil, "a setting is not found again")
    return 0
}

extension FuzzSetup {
    /// nil: the setting is there, the file is no TOML, or there is no such tool.
    static func setting(_ tool: UInt8, _ text: String) throws -> SetupContent? {
        switch tool {
        case UInt8(ascii: "d"): try DockerSetup.member(text, "config.json").map { .member($0) }
        case UInt8(ascii: "p"): try PipSetup.setting(text, "pip.conf").map { .line($0) }
        case _ where TOMLText.flaw(in: text) != nil: nil
        case UInt8(ascii: "c"):
            try CargoSetup.setting(text, provider: "cargo-credential-keychain", "config.toml").map { .line($0) }
        case UInt8(ascii: "u"): try UVSetup.setting(text, "uv.toml").map { .line($0) }
        default: nil
        }
    }

    /// The members of docker's file but for the changed one.
    static func otherMembers(_ content: Data) -> NSDictionary? {
        let object = try? JSONSerialization.jsonObject(with: content) as? [String: Any]
        return object.map { $0.filter { $0.key != "credsStore" } as NSDictionary }
    }
}
