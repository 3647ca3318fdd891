import DataProtection
import Foundation
import Report

/// Foundation's calls with protection. The plugin AppleCompatibility writes them into a program under Foundation's own names.
enum FoundationCalls {
    private static let text = "It rained the whole day.\n"
    private static let data = Data(text.utf8)
    private static let manager = FileManager.default

    static func check() throws {
        try contents()
        try texts()
        try attributes()
        try resourceValues()
    }

    private static func url(_ name: String) -> URL { URL(filePath: name) }

    private static func contents() throws {
        try FoundationFiles.write(data, to: url("data"), options: .completeFileProtection)
        try tell("Data is read", try FoundationFiles.data(contentsOf: url("data"), options: []) == data)
        try FoundationFiles.write(data as NSData, to: url("nsdata"), options: .completeFileProtection)
        try tell("By its path, too", try FoundationFiles.data(contentsOfFile: "nsdata", options: []) == data)
        try FoundationFiles.write(data as NSData, toFile: "path", options: .completeFileProtection)
        tell("By a file manager, too", FoundationFiles.contents(manager, atPath: "path") == data)
        for name in ["data", "nsdata", "path"] {
            try tell("On the disk \(name) is ciphertext", try Data(contentsOf: url(name)).range(of: data) == nil)
        }
    }

    private static func texts() throws {
        try FoundationFiles.write(text, to: url("data"), atomically: true, encoding: .utf8)
        try tell("Text is read", try FoundationFiles.string(contentsOf: url("data"), encoding: .utf8) == text)
        try FoundationFiles.write(text, toFile: "data", atomically: true, encoding: .utf16)
        try tell("By its path, too", try FoundationFiles.string(contentsOfFile: "data", encoding: .utf16) == text)
        var encoding = String.Encoding.ascii
        let byURL = try FoundationFiles.string(contentsOf: url("data"), usedEncoding: &encoding)
        tell("Its encoding is told", byURL == text && encoding == .utf16)
        let byPath = try FoundationFiles.string(contentsOfFile: "data", usedEncoding: &encoding)
        tell("By its path, too", byPath == text && encoding == .utf16)
    }

    private static func attributes() throws {
        let complete: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
        let isMade = FoundationFiles.createFile(manager, atPath: "made", contents: data, attributes: complete)
        tell("A file is made", isMade)
        let unlessOpen: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.completeUnlessOpen]
        try FoundationFiles.setAttributes(manager, unlessOpen, ofItemAtPath: "made")
        let attributes = try FoundationFiles.attributesOfItem(manager, atPath: "made")
        let protection = attributes[.protectionKey] as? FileProtectionType
        tell("It has another class", protection?.rawValue == FileProtectionType.completeUnlessOpen.rawValue)
        let inactive: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.completeWhenUserInactive]
        try FoundationFiles.setAttributes(manager, inactive, ofItemAtPath: "made")
        let third = try FoundationFiles.attributesOfItem(manager, atPath: "made")[.protectionKey] as? FileProtectionType
        tell("And a third one", third?.rawValue == "NSFileProtectionCompleteWhenUserInactive")
        try FoundationFiles.write(data, to: url("inactive"), options: .completeFileProtectionWhenUserInactive)
        let written = try FoundationFiles.attributesOfItem(manager, atPath: "inactive")[.protectionKey]
        tell("By an option, too", (written as? FileProtectionType)?.rawValue == third?.rawValue)
        tell("And the length of its content", attributes[.size] as? Int == data.count)
        try FoundationFiles.createDirectory(
            manager, at: url("notes"), withIntermediateDirectories: false, attributes: complete)
        try FoundationFiles.createDirectory(
            manager, atPath: "notes/old", withIntermediateDirectories: false, attributes: nil)
        let inherited = try FoundationFiles.attributesOfItem(manager, atPath: "notes/old")[.protectionKey]
        let isInherited = (inherited as? FileProtectionType)?.rawValue == FileProtectionType.complete.rawValue
        tell("A directory has the class of the one around it", isInherited)
    }

    private static func resourceValues() throws {
        let names: [URLFileProtection] = [
            .none, .complete, .completeUnlessOpen, .completeWhenUserInactive, .completeUntilFirstUserAuthentication,
        ]
        tell("Classes are told apart", Set(names).count == 5)
        tell("They have Apple's names", URLFileProtection(rawValue: "NSURLFileProtectionComplete") == .complete)
        tell("The names are their values", URLFileProtection.complete.rawValue == "NSURLFileProtectionComplete")
        let made = NSURL(fileURLWithPath: "made")
        try FoundationFiles.setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey, of: made)
        var value: AnyObject?
        try FoundationFiles.getResourceValue(&value, forKey: .fileProtectionKey, of: made)
        tell("A resource value is set", value as? URLFileProtection == .complete)
        try FoundationFiles.setResourceValues([.fileProtectionKey: URLFileProtection.none], of: made)
        let values = try FoundationFiles.resourceValues(forKeys: [.fileProtectionKey], of: made)
        tell("Several are", values[.fileProtectionKey] as? URLFileProtection == URLFileProtection.none)
        let property = try FoundationFiles.resourceValues(forKeys: [.fileProtectionKey], of: url("made")).fileProtection
        tell("A property has it", property == URLFileProtection.none)
    }
}
