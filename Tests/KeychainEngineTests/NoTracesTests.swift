import Foundation
import KeychainEngine
import KeychainModel
import KeychainTestSupport
import Testing

/// No value that was ever given to a store is found anywhere outside of it: not in its files, in logs, in the text of
/// an error or among temporary files, in any form.
@Suite struct NoTracesTests {
    private let work = NeedleWork()

    @Test("The scanner finds every form of what is there, and nothing that is not")
    func scannerFinds() {
        let scanner = TraceScanner(texts: work.needles)
        for (name, text) in work.needles {
            for (form, bytes) in TraceScanner.forms(of: Data(text.utf8)) {
                let found = scanner.traces(in: Data([0, 1, 2]) + bytes + Data([3]))
                #expect(found.contains(TraceScanner.Trace(needle: name, form: form)), "\(name) as \(form)")
            }
        }
        var generator = SeededGenerator()
        #expect(scanner.traces(in: generator.bytes(1 << 20)).isEmpty)
        #expect(scanner.patternCount == 24 * work.needles.count)
    }

    @Test("The scanner finds what other programs write, not only what it makes itself", arguments: 0..<3)
    func scannerFindsEncodings(offset: Int) throws {
        let text = work.text("secret")
        let scanner = TraceScanner(texts: ["secret": text])
        // As a part of something longer, which begins anywhere.
        let whole = Data(repeating: 0x41, count: offset) + Data(text.utf8) + Data("and more".utf8)
        let string = String(decoding: whole, as: UTF8.self)
        let forms = [
            whole, Data(whole.base64EncodedString().utf8),
            try #require(string.data(using: .utf16LittleEndian)), try #require(string.data(using: .utf16BigEndian)),
            Data(whole.map { String(format: "%02x", $0) }.joined().utf8),
            Data(whole.map { String(format: "%02X", $0) }.joined().utf8),
        ]
        for form in forms { #expect(!scanner.traces(in: form).isEmpty) }
        for digest in unkeyedDigests(of: Data(text.utf8)) {
            #expect(scanner.traces(in: digest).count == 1)
            #expect(scanner.traces(in: Data(digest.base64EncodedString().utf8)).count == 1)
        }
        #expect(scanner.traces(in: Data(text.utf8).dropLast()).isEmpty)
    }

    @Test(
        "In the files, the logs and the errors of a store there is no value, at any step of its life",
        arguments: KeychainHost.carriers)
    func steps(host: KeychainHost) throws {
        LogCapture.begin()
        let scanner = TraceScanner(texts: work.needles)
        let errorScanner = TraceScanner(texts: work.secretNeedles)
        try withKeychain(host) { keychain in
            for step in NeedleWork.Step.allCases {
                if step == .damaged { try damage(keychain) }
                let errors = try work.perform(step, on: keychain.handler)
                #expect(try scanner.traces(below: keychain.directory) == [:], "after \(step)")
                #expect(errorScanner.traces(in: errors.joined()).isEmpty, "errors of \(step)")
                if step == .refused {
                    // The groups that were asked for are named: so the errors are really searched.
                    #expect(scanner.traces(in: errors.joined()).map(\.needle).contains("foreign group"))
                }
            }
            keychain.engine.prepareForExit()
            #expect(try scanner.traces(below: keychain.directory) == [:], "after the end")
            let plant = keychain.directory.appendingPathComponent("store/planted")
            try Data("x\(work.text("secret"))x".utf8).write(to: plant)
            #expect(try scanner.traces(below: keychain.directory).count == 1)
        }
        #expect(LogCapture.text.contains("does not open"), "nothing was logged")
        #expect(scanner.traces(in: LogCapture.text).isEmpty)
    }

    @Test(
        "Nor is there after a kill, nor ever in the directory of temporary files",
        arguments: [NeedleWork.Step.add, .update, .refused, .passcode, .locked, .unlocked])
    func killed(last: NeedleWork.Step) throws {
        let scanner = TraceScanner(texts: work.needles)
        try withTemporaryDirectory { directory in
            let temporary = directory.appendingPathComponent("tmp")
            let errors = directory.appendingPathComponent("errors")
            try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
            try Data().write(to: errors)
            let agent = try AgentProcess(
                "needles", directory.path, usesKeyring: false,
                environment: ["TMPDIR": temporary.path, "SQLITE_TMPDIR": temporary.path], errors: errors)
            let needles = try JSONEncoder().encode(work)
            #expect(try agent.ask(String(decoding: needles, as: UTF8.self)) == "")
            for step in NeedleWork.Step.allCases {
                let answer = try agent.ask(step.rawValue)
                #expect(answer.hasPrefix("["), "\(step)")
                #expect(try scanner.traces(below: directory) == [:], "after \(step)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
                if step == last { break }
            }
            agent.kill()
            #expect(try scanner.traces(below: directory) == [:], "after the kill")
            #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
            // The next process reads the log that the other one left.
            _ = try Engine(.test(in: directory, usesKeyring: false))
            #expect(try scanner.traces(below: directory) == [:], "after the next opening")
        }
    }

    /// Damages every secret, as someone with the file and no key.
    private func damage(_ keychain: TestKeychain) throws {
        let store = ClosedStore(directory: keychain.directory)
        try store.edit("UPDATE item SET secret = zeroblob(length(secret))")
    }
}

/// What was deleted or replaced is not there any more as ciphertext either, once the log has been emptied.
@Suite struct OldCiphertextTests {
    /// How a log is emptied.
    enum Ending: CaseIterable { case exit, lock, close }

    @Test("Old ciphertext leaves every file of the store with the next emptying of the log", arguments: Ending.allCases)
    func leaves(ending: Ending) throws {
        try withTemporaryDirectory { directory in
            var generator = SeededGenerator(seed: 1)
            let store = ClosedStore(directory: directory)
            var engine: Engine? = try store.open()
            defer { engine?.withdrawKeys() }
            if ending == .lock { try engine?.setPasscode("1234") }
            // Of very different sizes, so that rows are split over pages, moved and merged.
            for number in 0..<200 {
                var request = AddRequest.password("\(number)", label: "label \(number)")
                request.secret = SecretBytes(copying: generator.bytes(generator.below(number % 10 == 0 ? 20_000 : 600)))
                try engine?.add(request)
            }
            engine?.prepareForExit()
            let all = try pieces(of: store)
            // A few lie across the edge of a page.
            let old = try found(all, in: store)
            #expect(old.count > all.count * 9 / 10, "the search does not find what is there")
            for number in 0..<200 where number % 3 != 0 {
                let query = ItemQuery.password([.account: .text("\(number)")])
                if number % 3 == 1 {
                    _ = try engine?.handle(.delete(query), from: caller)
                } else {
                    var changes = ItemChanges()
                    changes.secret = SecretBytes(copying: generator.bytes(generator.below(3_000)))
                    _ = try engine?.handle(.update(UpdateRequest(query, changes: changes)), from: caller)
                }
            }
            let kept = Set(try pieces(of: store))
            let gone = old.filter { !kept.contains($0) }
            #expect(gone.count > 400)
            // The control: before the log is emptied the old pages are there still.
            #expect(try !found(Array(gone), in: store).isEmpty)
            switch ending {
            case .exit: engine?.prepareForExit()
            case .lock: _ = try engine?.handle(.lock(.withGrace), from: .owner)
            case .close: engine = nil
            }
            let left = try found(Array(gone), in: store)
            #expect(left.isEmpty, "\(left.count) of \(gone.count) pieces")
        }
    }

    /// Sixteen bytes out of every sealed part and wrapped key, and out of every few hundred bytes of a long one.
    private func pieces(of store: ClosedStore) throws -> [Data] {
        let rows = try TestDatabase(store.database).rows("SELECT secret, metadata, secret_key, metadata_key FROM item")
        let blobs = rows.flatMap { $0.values.compactMap(\.bytes) }
        return blobs.flatMap { blob in
            stride(from: 0, to: blob.count - 16, by: 300).map { blob[blob.startIndex + $0..<blob.startIndex + $0 + 16] }
        }.map { Data($0) }
    }

    private func found(_ pieces: [Data], in store: ClosedStore) throws -> Set<Data> {
        let byStart = Dictionary(grouping: pieces) { $0.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } }
        var beginnings = [Bool](repeating: false, count: 1 << 16)
        for piece in pieces { beginnings[piece.withUnsafeBytes { Int($0.loadUnaligned(as: UInt16.self)) }] = true }
        var found: Set<Data> = []
        for file in try store.files {
            try Data(contentsOf: file).withUnsafeBytes { bytes in
                for place in stride(from: 0, through: bytes.count - 16, by: 1) {
                    guard beginnings[Int(bytes.loadUnaligned(fromByteOffset: place, as: UInt16.self))] else { continue }
                    let start = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                    for piece in byStart[start] ?? [] where piece.elementsEqual(bytes[place..<place + 16]) {
                        found.insert(piece)
                    }
                }
            }
        }
        return found
    }
}
