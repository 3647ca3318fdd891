import Foundation
import KeychainModel
import KeychainTestSupport
import KeychainWire
import Testing

@Suite struct RoundTripTests {
    @Test("There is a sample of every request and of every answer")
    func samples() {
        #expect(Set(RequestSamples.all.map { RequestKind($0) }) == Set(RequestKind.allCases))
        #expect(Set(ReplySamples.all.map { ReplyKind($0) }) == Set(ReplyKind.allCases))
        #expect(Set(DaemonMessageSamples.all.map { DaemonMessageKind($0) }) == Set(DaemonMessageKind.allCases))
    }

    @Test("The full samples leave no field at its default, or a lost one would not be noticed")
    func fullSamples() {
        // A query for a name has no date; that of a search has all three.
        func isDateOfName(_ path: String) -> Bool {
            path.hasPrefix(".resolve.levels.")
                && ["created", "modified", "expires"].contains { path.hasSuffix(".\($0)") }
        }
        for sample in RequestSamples.full { #expect(Structure(sample).defaults.filter { !isDateOfName($0) } == []) }
        for sample in DaemonMessageSamples.full { #expect(Structure(sample).defaults == []) }
    }

    @Test("A name with a date, or with more meanings than a name can have, is refused")
    func names() {
        let many = Array(repeating: [RequestSamples.named], count: ResolveRequest.mostQueries + 1)
        for levels in [[[RequestSamples.query]], many] {
            #expect(throws: WireFlaw.self) {
                try ClientMessage.request(id: 1, .resolve(ResolveRequest(levels))).arrived()
            }
        }
    }

    @Test("What a client says arrives as it was said")
    func clientMessages() throws {
        for message in ClientMessageSamples.all {
            #expect(Structure(try message.arrived()) == Structure(message))
        }
    }

    @Test("What a daemon says arrives as it was said")
    func daemonMessages() throws {
        for message in DaemonMessageSamples.all {
            #expect(Structure(try message.arrived()) == Structure(message))
        }
    }

    @Test("Every choice of a query arrives")
    func choices() throws {
        for itemClass in ItemClass.allCases {
            var query = ItemQuery(itemClass)
            try expectArrival(of: .delete(query))
            for limit in [.one, .all, .atMost(0), .atMost(1), .atMost(.max)] as [ItemQuery.Limit] {
                query.limit = limit
                try expectArrival(of: .delete(query))
            }
            for ui in [.allow, .fail, .skip] as [ItemQuery.AuthenticationUI] {
                query.authenticationUI = ui
                try expectArrival(of: .delete(query))
            }
            for synchronizable in [.no, .yes, .any] as [ItemQuery.Synchronizable] {
                query.synchronizable = synchronizable
                try expectArrival(of: .delete(query))
            }
        }
    }

    @Test("Every protection arrives, with flags and without")
    func accessControls() throws {
        for protection in Protection.allCases {
            for flags in [[], .userPresence, [.biometryAny, .or, .devicePasscode, .privateKeyUsage]]
                as [AccessControl.Flags]
            {
                var request = AddRequest(.genericPassword)
                request.accessControl = try AccessControl(protection, flags: flags)
                try expectArrival(of: .add(request))
            }
        }
    }

    @Test("An absent secret and an empty one stay what they are")
    func emptySecrets() throws {
        for secret in [nil, "", "s"] as [String?] {
            for certificate in [nil, "", "c"] as [String?] {
                var item = RequestSamples.bareItem
                item.secret = secret.map { SecretBytes($0) }
                item.certificate = certificate.map { SecretBytes($0) }
                try expectArrival(of: .importItems(ImportRequest([item, RequestSamples.bareItem, item])))
                let reply = DaemonMessage.reply(id: 1, .added(item), isLast: true)
                #expect(Structure(try reply.arrived()) == Structure(reply))
            }
        }
    }

    @Test("Dates of an item arrive bit for bit, whatever they are")
    func dates() throws {
        let dates = [
            0.1, -0.1, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, Double(bitPattern: 0x7ff8_0000_dead_beef),
            -0.0,
        ]
        for date in dates {
            var item = RequestSamples.bareItem
            item.created = date
            item.modified = date
            item.attributes = [.startDate: .date(date)]
            let message = DaemonMessage.reply(id: 1, .found([item]), isLast: true)
            guard case .reply(_, .found(let items), _) = try message.arrived(), items.count == 1 else {
                Issue.record("another message arrived")
                continue
            }
            #expect(items[0].created.bitPattern == date.bitPattern)
            #expect(items[0].modified.bitPattern == date.bitPattern)
            guard case .date(let attribute)? = items[0].attributes[.startDate] else {
                Issue.record("the attribute is gone")
                continue
            }
            #expect(attribute.bitPattern == date.bitPattern)
        }
    }

    @Test("Any value of any attribute of any class arrives, in the type and with the bytes it has")
    func anyValues() throws {
        var any = AnyBytes()
        for _ in 0..<30 {
            for itemClass in ItemClass.allCases {
                var query = ItemQuery(itemClass)
                for rule in AttributeTable.table(for: itemClass).rules {
                    query.attributes[rule.attribute] = any.value(of: rule.kind)
                }
                query.accessGroup = any.text()
                query.hostOrSubdomainOf = any.text()
                let changes = ItemChanges(attributes: query.attributes, secret: SecretBytes(copying: any.data()))
                try expectArrival(of: .update(UpdateRequest(query, changes: changes)), "seed \(any.generator.seed)")
            }
        }
    }

    @Test("A failure keeps a status that is not known here, and says so")
    func unknownStatus() throws {
        let message = DaemonMessage.failure(id: 3, KeychainError(.init(status: -67_585), message: "from the future"))
        guard case .failure(3, let error) = try message.arrived() else {
            Issue.record("another message arrived")
            return
        }
        #expect(error.code.status == -67_585)
        #expect(error.code == KeychainError.Code(status: -67_585))
        #expect("\(error.code)" == "unknown status (-67585)")
        #expect(error.message == "from the future")
    }

    @Test("A known status is the same failure wherever it comes from")
    func knownStatus() {
        #expect(KeychainError.Code(status: -25300) == .itemNotFound)
        #expect("\(KeychainError.Code(status: -25300))" == "itemNotFound (-25300)")
    }

    private func expectArrival(
        of request: Request, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let message = ClientMessage.request(id: 1, request)
        #expect(Structure(try message.arrived()) == Structure(message), comment, sourceLocation: sourceLocation)
    }
}

extension ItemChanges {
    fileprivate init(attributes: AttributeSet, secret: SecretBytes) {
        self.init()
        self.attributes = attributes
        self.secret = secret
    }
}
