/// A part of everything a store holds, in the order of its rows. The request is for the store's owner alone.
package struct ExportRequest: Sendable, Hashable {
    /// nil: every group.
    package var accessGroup: String?
    /// Where the part begins: 1, and then ``ExportedPart/next`` of the part before.
    package var start: Int64
    /// Whether another host on this machine gets the items: then those of this device are among them, and those that ask for
    /// authentication, with a proof.
    package var isMove: Bool

    package init(accessGroup: String? = nil, start: Int64 = 1, isMove: Bool = false) {
        self.accessGroup = accessGroup
        self.start = start
        self.isMove = isMove
    }
}

/// The result of an ``ExportRequest``: one snapshot of some rows.
package struct ExportedPart: Sendable {
    /// Whole items, with their secrets.
    package var items: [Item] = []
    package var leftOut = LeftOut()
    /// nil: this was the last part.
    package var next: Int64?
    /// In a move: whether there ever were files under the store's keys, which do not go along.
    package var hasFiles = false

    package init() {}

    /// Rows that were dealt with.
    package var count: Int { items.count + leftOut.total }
}

/// How many items an export leaves out, and why.
package struct LeftOut: Sendable, Hashable {
    /// Their protection says that they never leave this device.
    package var thisDeviceOnly = 0
    /// Their access control asks for authentication, and an export cannot ask. In a move: it is impossible by now.
    package var constrained = 0
    /// They stand for keys of a token.
    package var ofTokens = 0
    /// They do not open, damaged or tampered with, or have something that no export can hold: ``Item/flaw``.
    package var unreadable = 0

    package init() {}

    package var total: Int { thisDeviceOnly + constrained + ofTokens + unreadable }

    package static func += (sum: inout LeftOut, more: LeftOut) {
        sum.thisDeviceOnly += more.thisDeviceOnly
        sum.constrained += more.constrained
        sum.ofTokens += more.ofTokens
        sum.unreadable += more.unreadable
    }
}
