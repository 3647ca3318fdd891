extension WireImportItems {
    init(_ request: ImportRequest, _ secrets: inout [SecretBytes]) {
        self.init()
        items = request.items.map { WireItem($0, &secrets) }
        dryRun = request.isDryRun
    }
}

extension ImportRequest {
    init(_ wire: WireImportItems, _ tail: inout WireTail) throws(KeychainError) {
        self.init(try [FoundItem](wire.items, &tail), isDryRun: wire.dryRun)
    }
}

extension WireImportOutcomes.Outcome {
    init(_ outcome: ImportOutcome) {
        self =
            switch outcome {
            case .added: .added
            case .replaced: .replaced
            case .kept: .kept
            case .unchanged: .unchanged
            case .refused: .refused
            }
    }
}

extension ImportOutcome {
    init(_ wire: WireImportOutcomes.Outcome) throws(KeychainError) {
        switch wire {
        case .added: self = .added
        case .replaced: self = .replaced
        case .kept: self = .kept
        case .unchanged: self = .unchanged
        case .refused: self = .refused
        case .unspecified, .UNRECOGNIZED: throw .unknown("outcome of an import", wire.rawValue)
        }
    }
}
