package import Foundation

/// Something that several programs append to one file: who, which, and as many bytes more as follow from that.
package struct FileRecord: Sendable, Equatable {
    package let worker: UInt8
    package let value: UInt32

    package init(worker: UInt8, value: UInt32) {
        self.worker = worker
        self.value = value
    }

    package var bytes: Data {
        var data = Data([worker])
        withUnsafeBytes(of: value.bigEndian) { data.append(contentsOf: $0) }
        data.append(Data(repeating: worker ^ UInt8(truncatingIfNeeded: value), count: Int(value * 37 % 5000)))
        return data
    }

    /// nil: there is something else between records.
    package static func all(in data: Data) -> [FileRecord]? {
        var rest = data
        var records: [FileRecord] = []
        while rest.count >= 5 {
            let value = rest.dropFirst().prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let record = FileRecord(worker: rest.first ?? 0, value: value)
            guard rest.starts(with: record.bytes) else { return nil }
            records.append(record)
            rest = rest.dropFirst(record.bytes.count)
        }
        return rest.isEmpty ? records : nil
    }
}
