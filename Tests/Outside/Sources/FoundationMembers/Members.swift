import Foundation

struct Members {
    let desk: Desk
    private let manager = FileManager.default

    init(desk: Desk) { self.desk = desk }

    /// The first word of each sentence is the member's name; a test compares them with those that the plugin adds.
    private func tell(_ member: String, _ sentence: String, _ body: () throws -> Void) throws {
        do { try body() } catch { throw Untrue(description: "\(member): \(error)") }
        print("\(member) \(sentence)")
    }

    func useAll() throws {
        try useData()
        try useStringsForReading()
        try useStringsForWriting()
        try useFileManager()
        try useURLs()
        try useNSDataForReading()
        try useNSDataForWriting()
    }

    // MARK: Data

    private func useData() throws {
        try tell("Data.write(to:options:)", "encrypts with every class.") {
            let classes: [Data.WritingOptions] = [
                .completeFileProtection, .completeFileProtectionUnlessOpen,
                .completeFileProtectionUntilFirstUserAuthentication, .completeFileProtectionWhenUserInactive,
                .noFileProtection,
            ]
            for options in classes {
                let file = desk.newFile()
                try note.write(to: file, options: [options, .atomic])
                try desk.requireSealed(file)
                try note.write(to: file)
                try desk.requireSealed(file)
            }
        }
        try tell("Data.init(contentsOf:options:)", "reads a protected file.") {
            let file = try desk.protectedFile()
            try require(try Data(contentsOf: file) == note, "it reads something else")
            try require(try Data(contentsOf: file, options: .mappedIfSafe) == note, "mapped, it reads something else")
        }
    }

    // MARK: String

    private func useStringsForReading() throws {
        let file = try desk.protectedFile()
        try tell("String.init(contentsOf:encoding:)", "reads a protected file.") {
            try require(try String(contentsOf: file, encoding: .utf8) == text, "it reads something else")
        }
        try tell("String.init(contentsOfFile:encoding:)", "reads a protected file.") {
            try require(try String(contentsOfFile: file.path, encoding: .utf8) == text, "it reads something else")
        }
        let wide = try desk.protectedFile(try encoded(.utf16))
        try tell("String.init(contentsOf:usedEncoding:)", "reads a protected file and finds its encoding.") {
            var encoding = String.Encoding.ascii
            try require(try String(contentsOf: wide, usedEncoding: &encoding) == text, "it reads something else")
            try require(encoding == .utf16, "it finds another encoding")
        }
        try tell("String.init(contentsOfFile:usedEncoding:)", "reads a protected file and finds its encoding.") {
            var encoding = String.Encoding.ascii
            try require(
                try String(contentsOfFile: wide.path, usedEncoding: &encoding) == text, "it reads something else")
            try require(encoding == .utf16, "it finds another encoding")
        }
        try tell("String.init(contentsOf:)", "reads a protected file.") {
            try require(try String(contentsOf: file) == text, "it reads something else")
        }
        try tell("String.init(contentsOfFile:)", "reads a protected file.") {
            try require(try String(contentsOfFile: file.path) == text, "it reads something else")
        }
    }

    private func encoded(_ encoding: String.Encoding) throws -> Data {
        guard let data = text.data(using: encoding) else { throw Untrue(description: "the text cannot be encoded") }
        return data
    }

    private func useStringsForWriting() throws {
        let wide = try encoded(.utf16LittleEndian)
        try tell("StringProtocol.write(to:atomically:encoding:)", "leaves a protected file protected.") {
            let file = try desk.protectedFile(Data("something else".utf8))
            try text.write(to: file, atomically: true, encoding: .utf8)
            try desk.requireSealed(file)
            try text[...].write(to: file, atomically: false, encoding: .utf16LittleEndian)
            try desk.requireSealed(file, wide)
        }
        try tell("StringProtocol.write(toFile:atomically:encoding:)", "leaves a protected file protected.") {
            let file = try desk.protectedFile(Data("something else".utf8))
            try text.write(toFile: file.path, atomically: true, encoding: .utf8)
            try desk.requireSealed(file)
            try text[...].write(toFile: file.path, atomically: false, encoding: .utf16LittleEndian)
            try desk.requireSealed(file, wide)
        }
    }

    // MARK: FileManager

    private func useFileManager() throws {
        let complete: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.complete]
        try tell("FileManager.contents(atPath:)", "reads a protected file.") {
            let file = try desk.protectedFile()
            try require(manager.contents(atPath: file.path) == note, "it reads something else")
        }
        try tell("FileManager.createFile(atPath:contents:attributes:)", "encrypts what it writes.") {
            let file = desk.newFile()
            try require(
                manager.createFile(atPath: file.path, contents: note, attributes: complete), "it makes no file")
            try desk.requireSealed(file)
            try require(manager.createFile(atPath: file.path, contents: note), "it makes no other file")
            try desk.requireSealed(file)
        }
        try tell("FileManager.attributesOfItem(atPath:)", "tells the class, and the size of the content.") {
            let attributes = try manager.attributesOfItem(atPath: try desk.protectedFile().path)
            let protection = attributes[.protectionKey] as? FileProtectionType
            try require(protection?.rawValue == FileProtectionType.complete.rawValue, "it tells another class")
            try require(attributes[.size] as? Int == note.count, "it tells another size")
        }
        try tell("FileManager.setAttributes(_:ofItemAtPath:)", "encrypts a plain file.") {
            let file = try desk.plainFile()
            try manager.setAttributes(complete, ofItemAtPath: file.path)
            try desk.requireSealed(file)
        }
        try tell(
            "FileManager.createDirectory(at:withIntermediateDirectories:attributes:)", "makes what is in it protected."
        ) {
            let directory = desk.newFile()
            try manager.createDirectory(at: directory, withIntermediateDirectories: true, attributes: complete)
            try requireProtecting(directory)
        }
        try tell(
            "FileManager.createDirectory(atPath:withIntermediateDirectories:attributes:)",
            "makes what is in it protected."
        ) {
            let directory = desk.newFile()
            try manager.createDirectory(
                atPath: directory.path, withIntermediateDirectories: true, attributes: complete)
            try requireProtecting(directory)
        }
    }

    /// What is written into the directory without a word of a class is encrypted.
    private func requireProtecting(_ directory: URL) throws {
        let file = directory.appendingPathComponent("file")
        try note.write(to: file)
        try desk.requireSealed(file)
    }

    // MARK: URL

    private func useURLs() throws {
        try tell("URL.resourceValues(forKeys:)", "tells the class.") {
            let values = try desk.protectedFile().resourceValues(forKeys: [.fileProtectionKey])
            try require(values.fileProtection == .complete, "it tells another class")
        }
        try tell("NSURL.setResourceValue(_:forKey:)", "encrypts a plain file.") {
            let file = try desk.plainFile()
            try (file as NSURL).setResourceValue(URLFileProtection.complete, forKey: .fileProtectionKey)
            try desk.requireSealed(file)
        }
        try tell("NSURL.setResourceValues(_:)", "encrypts a plain file.") {
            let file = try desk.plainFile()
            try (file as NSURL).setResourceValues([.fileProtectionKey: URLFileProtection.complete])
            try desk.requireSealed(file)
        }
        try tell("NSURL.getResourceValue(_:forKey:)", "tells the class.") {
            var value: AnyObject?
            try (try desk.protectedFile() as NSURL).getResourceValue(&value, forKey: .fileProtectionKey)
            try require(value as? URLFileProtection == .complete, "it tells another class")
        }
        try tell("NSURL.resourceValues(forKeys:)", "tells the class.") {
            let values = try (try desk.protectedFile() as NSURL).resourceValues(forKeys: [.fileProtectionKey])
            try require(values[.fileProtectionKey] as? URLFileProtection == .complete, "it tells another class")
        }
    }

    // MARK: NSData

    private func useNSDataForReading() throws {
        let file = try desk.protectedFile()
        try tell("NSData.init(contentsOf:options:)", "reads a protected file.") {
            try require(try NSData(contentsOf: file, options: []) as Data == note, "it reads something else")
        }
        try tell("NSData.init(contentsOfFile:options:)", "reads a protected file.") {
            try require(try NSData(contentsOfFile: file.path, options: []) as Data == note, "it reads something else")
        }
        try tell("NSData.init(contentsOf:)", "reads a protected file.") {
            try require(NSData(contentsOf: file).map { $0 as Data } == note, "it reads something else")
        }
        try tell("NSData.init(contentsOfFile:)", "reads a protected file.") {
            try require(NSData(contentsOfFile: file.path).map { $0 as Data } == note, "it reads something else")
        }
    }

    private func useNSDataForWriting() throws {
        let data = NSData(data: note)
        try tell("NSData.write(to:options:)", "encrypts what it writes.") {
            let file = desk.newFile()
            try data.write(to: file, options: .completeFileProtection)
            try desk.requireSealed(file)
        }
        try tell("NSData.write(toFile:options:)", "encrypts what it writes.") {
            let file = desk.newFile()
            try data.write(toFile: file.path, options: .completeFileProtection)
            try desk.requireSealed(file)
        }
        try tell("NSData.write(to:atomically:)", "leaves a protected file protected.") {
            let file = try desk.protectedFile(Data("something else".utf8))
            try require(data.write(to: file, atomically: true), "it writes nothing")
            try desk.requireSealed(file)
        }
        try tell("NSData.write(toFile:atomically:)", "leaves a protected file protected.") {
            let file = try desk.protectedFile(Data("something else".utf8))
            try require(data.write(toFile: file.path, atomically: true), "it writes nothing")
            try desk.requireSealed(file)
        }
    }
}
