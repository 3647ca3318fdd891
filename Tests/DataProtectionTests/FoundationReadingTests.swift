import DataProtection
import DataProtectionCore
import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

/// What the members that the plugin generates call, where something is read.
@Suite struct FoundationReadingTests {
    static let readingOptions: [Data.ReadingOptions] = [[], .mappedIfSafe, .alwaysMapped, .uncached]

    @Test("Every way of reading gives the content of a protected file")
    func protectedFile() throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try files.write(note, to: url, protection: .complete)
            for options in Self.readingOptions {
                #expect(try FoundationFiles.data(contentsOf: url, options: options) == note)
                #expect(try FoundationFiles.data(contentsOfFile: url.path, options: options) == note)
            }
            #expect(try FoundationFiles.string(contentsOf: url, encoding: .utf8) == text)
            #expect(try FoundationFiles.string(contentsOfFile: url.path, encoding: .ascii) == text)
            #expect(FoundationFiles.contents(.default, atPath: url.path) == note)
            try files.write(Data([0xFF]), to: url, protection: .complete)
            #expect(failure { _ = try FoundationFiles.string(contentsOf: url, encoding: .utf8) } == 261)
        }
    }

    @Test(
        "Text in every encoding is written, read and recognised as Foundation does",
        arguments: [.utf8, .utf16, .utf32, .utf16BigEndian, .isoLatin1, .ascii] as [String.Encoding])
    func encodings(encoding: String.Encoding) throws {
        try withFoundationFiles { files, directory, _ throws in
            let plain = directory.appendingPathComponent("plain")
            let url = directory.appendingPathComponent("protected")
            try files.write(Data(), to: url, protection: .complete)
            for text in ["", "a", "abc", encoding == .ascii ? "abcd" : "äbc"] {
                try FoundationFiles.write(text, to: plain, atomically: true, encoding: encoding)
                try FoundationFiles.write(text, to: url, atomically: true, encoding: encoding)
                #expect(try Data(contentsOf: plain) == files.read(from: url))
                #expect(try FoundationFiles.string(contentsOf: url, encoding: encoding) == text)
                var used: (String.Encoding, String.Encoding) = (.macOSRoman, .macOSRoman)
                let expected = try? String(contentsOf: plain, usedEncoding: &used.0)
                let got = [
                    try? FoundationFiles.string(contentsOf: url, usedEncoding: &used.1),
                    try? FoundationFiles.string(contentsOfFile: url.path, usedEncoding: &used.1),
                ]
                #expect(got == [expected, expected])
                if expected != nil { #expect(used.0 == used.1) }
            }
            if encoding == .ascii {
                #expect(
                    failure { try FoundationFiles.write("ä", to: url, atomically: true, encoding: .ascii) } == 517)
            }
        }
    }

    @Test("Everything that is not protected is as Foundation has it, errors included")
    func sameAsFoundation() throws {
        try withFoundationFiles { _, directory, _ throws in
            let empty = directory.appendingPathComponent("empty")
            let short = directory.appendingPathComponent("short")
            let long = directory.appendingPathComponent("long")
            let ring = directory.appendingPathComponent("ring")
            try Data().write(to: empty)
            try Data("abc".utf8).write(to: short)
            try content(100_000).write(to: long)
            try FileManager.default.createSymbolicLink(at: ring, withDestinationURL: ring)
            let urls = [
                empty, short, long, ring, directory, directory.appendingPathComponent("missing"),
                short.appendingPathComponent("below"), URL(fileURLWithPath: "/proc/self/cmdline"),
                URL(fileURLWithPath: "/proc/self/mem"), URL(fileURLWithPath: "/dev/null"),
                directory.appendingPathComponent(String(repeating: "n", count: 300)),
                URL(string: "data:,text"), URL(string: "nothing:here"), URL(string: "relative"),
            ].compactMap { $0 }
            for url in urls {
                for options in Self.readingOptions {
                    #expect(
                        outcome { try FoundationFiles.data(contentsOf: url, options: options) }
                            == outcome { try Data(contentsOf: url, options: options) }, "\(url)")
                    #expect(
                        outcome { try FoundationFiles.data(contentsOfFile: url.path, options: options) }
                            == outcome { try NSData(contentsOfFile: url.path, options: options) as Data }, "\(url)")
                }
                #expect(
                    outcome { try FoundationFiles.string(contentsOf: url, encoding: .utf8) }
                        == outcome { try String(contentsOf: url, encoding: .utf8) }, "\(url)")
                #expect(
                    outcome { try FoundationFiles.string(contentsOfFile: url.path, encoding: .utf8) }
                        == outcome { try String(contentsOfFile: url.path, encoding: .utf8) }, "\(url)")
                #expect(
                    FoundationFiles.contents(.default, atPath: url.path)
                        == FileManager.default.contents(atPath: url.path), "\(url)")
                #expect(
                    outcome { try describe(FoundationFiles.attributesOfItem(.default, atPath: url.path)) }
                        == outcome { try describe(FileManager.default.attributesOfItem(atPath: url.path)) }, "\(url)")
            }
        }
    }

    @Test("Writing what is not protected is as Foundation has it, errors included")
    func sameWriting() throws {
        try withFoundationFiles { _, directory, _ throws in
            let file = directory.appendingPathComponent("file")
            try note.write(to: file)
            let urls = [
                file, directory, directory.appendingPathComponent("none/file"), file.appendingPathComponent("below"),
                directory.appendingPathComponent(String(repeating: "n", count: 300)), URL(fileURLWithPath: "/dev/null"),
                URL(fileURLWithPath: "/proc/none"), URL(string: "https://example.invalid/"),
            ].compactMap { $0 }
            for url in urls {
                for options in [[], .atomic, .withoutOverwriting] as [Data.WritingOptions]
                where options != .atomic || url.path != "/dev/null" {
                    #expect(
                        outcome { try FoundationFiles.write(note, to: url, options: options) }
                            == outcome { try note.write(to: url, options: options) }, "\(url) \(options)")
                }
                #expect(
                    outcome { try FoundationFiles.write(text, to: url, atomically: false, encoding: .utf8) }
                        == outcome { try text.write(to: url, atomically: false, encoding: .utf8) }, "\(url)")
                // Never of anything that is not this test's own: the path of a web address is that of the root.
                if !url.path.hasPrefix(directory.path + "/") { continue }
                #expect(
                    outcome {
                        try FoundationFiles.setAttributes(.default, [.posixPermissions: 0o600], ofItemAtPath: url.path)
                    }
                        == outcome {
                            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
                        }, "\(url)")
            }
            for path in ["", "file", "none/a"] {
                let url = URL(fileURLWithPath: directory.path + "/" + path)
                #expect(
                    outcome {
                        try FoundationFiles.createDirectory(
                            .default, at: url, withIntermediateDirectories: false, attributes: nil)
                    }
                        == outcome {
                            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
                        }, "\(url)")
            }
        }
    }

    @Test("A pipe is not looked into, which would take from it")
    func pipe() throws {
        try withFoundationFiles { _, directory, _ throws in
            let pipe = directory.appendingPathComponent("pipe")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            // Both ends, so that nobody waits for the other one.
            let descriptor = open(pipe.path, O_RDWR | O_NONBLOCK)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let written = note.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            try #require(written == note.count)
            #expect(
                outcome { try FoundationFiles.data(contentsOf: pipe, options: []) }
                    == outcome { try Data(contentsOf: pipe) })
            #expect(FoundationFiles.contents(.default, atPath: pipe.path) == nil)
            var rest = [UInt8](repeating: 0, count: 100)
            #expect(read(descriptor, &rest, rest.count) == note.count)
        }
    }

    @Test("A damaged file is reported, and none of it given out")
    func damaged() throws {
        try withFoundationFiles { files, directory, _ throws in
            let url = directory.appendingPathComponent("file")
            try files.write(content(100_000), to: url, protection: .complete)
            var bytes = try Data(contentsOf: url)
            bytes[50_000] ^= 1
            try bytes.write(to: url)
            #expect(failure { _ = try FoundationFiles.data(contentsOf: url, options: []) } == 259)
            #expect(failure { _ = try FoundationFiles.string(contentsOf: url, encoding: .isoLatin1) } == 259)
            #expect(FoundationFiles.contents(.default, atPath: url.path) == nil)
            try bytes.prefix(30_000).write(to: url)
            #expect(failure { _ = try FoundationFiles.data(contentsOf: url, options: []) } == 259)
            try bytes.prefix(20).write(to: url)
            #expect(failure { _ = try FoundationFiles.data(contentsOf: url, options: []) } == 259)
        }
    }
}

/// Errors and results while the keys are locked away, as on Apple's systems.
@Suite struct FoundationLockTests {
    @Test("Locked at once: A, B and CX do not open, C and D do; new files of B, C and D can be made")
    func locked() throws {
        try withFoundationFiles { files, directory, keychain throws in
            try keychain.setPasscode("1234")
            for protection in FileProtection.allCases {
                try files.write(note, to: directory.appendingPathComponent(protection.rawValue), protection: protection)
            }
            let plain = directory.appendingPathComponent("plain")
            try note.write(to: plain)
            try keychain.lock(.now)

            for (option, protection) in FoundationWritingTests.classes {
                let url = directory.appendingPathComponent(protection.rawValue)
                let opens = [.always, .completeUntilFirstUserAuthentication].contains(protection)
                #expect(failure { _ = try FoundationFiles.data(contentsOf: url, options: []) } == (opens ? nil : 257))
                #expect(
                    failure { _ = try FoundationFiles.string(contentsOf: url, encoding: .utf8) } == (opens ? nil : 257))
                #expect((FoundationFiles.contents(.default, atPath: url.path) != nil) == opens)
                let attributes = try FoundationFiles.attributesOfItem(.default, atPath: url.path)
                #expect(attributes[.size] as? Int == note.count)
                #expect(attributes[.protectionKey] != nil)

                let written = protection.fileClass.closesWithLock ? 513 : nil
                #expect(failure { try FoundationFiles.write(note, to: url, options: []) } == written)
                let new = directory.appendingPathComponent("new \(protection)")
                #expect(failure { try FoundationFiles.write(note, to: new, options: option) } == written)
                #expect(FileManager.default.fileExists(atPath: new.path) == (written == nil))
                #expect(
                    FoundationFiles.createFile(.default, atPath: url.path, contents: nil, attributes: nil)
                        == (written == nil))
            }
            #expect(failure { try protect(plain) } == 513)
            #expect(try Data(contentsOf: plain) == note)

            try keychain.unlock("1234")
            #expect(
                try FoundationFiles.data(contentsOf: directory.appendingPathComponent("complete"), options: []) == note)
            try protect(plain)
            #expect(try files.protection(of: plain) == .complete)
        }
    }

    private func protect(_ url: URL) throws {
        try FoundationFiles.setResourceValue(
            URLFileProtection.complete, forKey: .fileProtectionKey, of: url as NSURL)
    }

    @Test("The error holds EPERM, as on Apple's systems")
    func underlying() throws {
        try withFoundationFiles { files, directory, keychain throws in
            try keychain.setPasscode("1234")
            let url = directory.appendingPathComponent("file")
            try files.write(note, to: url, protection: .complete)
            try keychain.lock(.now)
            let reading = #expect(throws: CocoaError.self) {
                try FoundationFiles.data(contentsOf: url, options: .mappedIfSafe)
            }
            #expect(reading?.code == .fileReadNoPermission)
            #expect((reading?.underlying as? POSIXError)?.code == .EPERM)
            let writing = #expect(throws: CocoaError.self) {
                try FoundationFiles.write(note, to: url, options: [.completeFileProtection, .atomic])
            }
            #expect(writing?.code == .fileWriteNoPermission)
            #expect((writing?.underlying as? POSIXError)?.code == .EPERM)
        }
    }
}

/// A result that can be compared, or what the error says.
private func outcome<R>(_ body: () throws -> R) -> String {
    do {
        return "\(try body())"
    } catch {
        // The details are in no order.
        let details = (error as NSError).userInfo.map { "\($0.key): \($0.value)" }.sorted()
        return "\(type(of: error)) \((error as NSError).domain) \((error as NSError).code) \(details)"
    }
}

private func describe(_ attributes: [FileAttributeKey: Any]) -> String {
    attributes.map { "\($0.key.rawValue): \($0.value)" }.sorted().joined(separator: ", ")
}
