extension WireExportItems {
    init(_ request: ExportRequest) {
        self.init()
        if let group = request.accessGroup { accessGroup = group }
        start = request.start
    }
}

extension ExportRequest {
    init(_ wire: WireExportItems) {
        self.init(accessGroup: wire.hasAccessGroup ? wire.accessGroup : nil, start: wire.start)
    }
}

extension WireExported {
    /// All but the items.
    init(_ part: ExportedPart) {
        self.init()
        leftOutThisDeviceOnly = Int64(part.leftOut.thisDeviceOnly)
        leftOutConstrained = Int64(part.leftOut.constrained)
        leftOutOfTokens = Int64(part.leftOut.ofTokens)
        leftOutUnreadable = Int64(part.leftOut.unreadable)
        if let row = part.next { next = row }
    }
}

extension ExportedPart {
    init(_ wire: WireExported, _ items: [WireItem], _ tail: inout WireTail) throws(KeychainError) {
        self.init()
        self.items = try [FoundItem](items, &tail)
        leftOut.thisDeviceOnly = try Int(wireCount: wire.leftOutThisDeviceOnly)
        leftOut.constrained = try Int(wireCount: wire.leftOutConstrained)
        leftOut.ofTokens = try Int(wireCount: wire.leftOutOfTokens)
        leftOut.unreadable = try Int(wireCount: wire.leftOutUnreadable)
        next = wire.hasNext ? wire.next : nil
    }
}
