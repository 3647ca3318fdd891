package import Foundation
package import KeychainClient
internal import KeychainCrypto
internal import KeychainModel
internal import SwiftKeychain

/// What a protected file has on the disk, found by walking through it as docs/file-format.md says.
package struct FileAudit: Sendable {
    /// In pages, with the header's.
    package private(set) var storedPages: UInt64 = 0
    /// That chunks and nodes take.
    package private(set) var usedPages: UInt64 = 0
    /// Otherwise it is the header before the newest one that was looked at.
    package private(set) var isDurable = false

    /// A rule of the format that a file breaks.
    package struct Broken: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter connection: Of the keychain that has its key.
    package init(of url: URL, _ connection: Connection) throws {
        let bytes = try Data(contentsOf: url, options: .alwaysMapped)
        let pair = try FileHeader.inFirstPage(bytes.prefix(FileFormat.headerByteCount))
        let wrapped = pair.newest.claimed.key
        guard case .fileKey(let key) = try connection.perform(.fileKey(.open(wrapped))) else {
            throw Broken(description: "the keychain answered something else")
        }
        let fileKey = try KeyMaterial { target throws(KeychainError) in
            key.key.withUnsafeBytes { target.copyMemory(from: $0) }
        }
        let newest = try pair.newest.verified(fileKey: fileKey)
        isDurable = newest.isDurable
        let header = isDurable ? newest : try pair.former?.verified(fileKey: fileKey) ?? newest
        storedPages = header.storedSize.pageCount
        guard UInt64(bytes.count) >= header.storedSize else { throw Broken(description: "the file is too short") }
        var walk = Walk(
            bytes: bytes, header: header, cipher: FileCipher(fileKey: fileKey, fileID: wrapped.fileID))
        try walk.visit(header.root, level: header.tree.depth, index: 0)
        usedPages = UInt64(walk.pages.count)
        guard usedPages == header.usedPages else {
            throw Broken(description: "the header says \(header.usedPages) used pages, there are \(usedPages)")
        }
    }

    private struct Walk {
        let bytes: Data
        let header: FileHeader
        let cipher: FileCipher
        var pages: Set<UInt64> = []
        var writeCounts: Set<UInt64> = []

        mutating func visit(_ entry: FileEntry?, level: UInt8, index: UInt64) throws {
            guard let entry else { return }
            try header.tree.check(
                entry, level: level, index: index, storedSize: header.storedSize, writeCount: header.writeCount)
            guard writeCounts.insert(entry.writeCount).inserted else {
                throw Broken(description: "two entries have the write count \(entry.writeCount)")
            }
            for page in entry.page..<(entry.page + UInt64(entry.length).pageCount) {
                guard pages.insert(page).inserted else { throw Broken(description: "page \(page) is used twice") }
            }
            guard level > 0 else { return }
            let children = try open(entry, level, index)
            guard children.count <= FileFormat.fanOut, let last = children.last, last != nil else {
                throw Broken(description: "a node ends in a hole")
            }
            for (number, child) in children.enumerated() {
                try visit(child, level: level - 1, index: index * UInt64(FileFormat.fanOut) + UInt64(number))
            }
        }

        private func open(_ entry: FileEntry, _ level: UInt8, _ index: UInt64) throws -> [FileEntry?] {
            var node = bytes.subdata(in: Int(entry.offset)..<(Int(entry.offset) + Int(entry.length)))
            let isOpen = node.withUnsafeMutableBytes { node in
                cipher.open(UnsafeRawBufferPointer(node), level: level, index: index, entry: entry, into: node)
            }
            guard isOpen else { throw Broken(description: "a node does not open") }
            return try node.withUnsafeBytes { node in
                try stride(from: 0, to: node.count, by: FileEntry.byteCount).map { start in
                    try FileEntry.decode(
                        UnsafeRawBufferPointer(rebasing: node[start..<(start + FileEntry.byteCount)]))
                }
            }
        }
    }
}
