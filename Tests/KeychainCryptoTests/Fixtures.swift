import Foundation
import KeychainCrypto
import KeychainModel

extension Data {
    init(hex: String) {
        var rest = Substring(hex)
        self.init()
        while !rest.isEmpty {
            append(UInt8(rest.prefix(2), radix: 16)!)
            rest = rest.dropFirst(2)
        }
    }

    /// The same bytes with one bit changed.
    func flipping(_ place: Int) -> Data {
        var copy = self
        copy[copy.startIndex + place] ^= 0x10
        return copy
    }
}

extension KeyMaterial {
    static func repeating(_ byte: UInt8) throws -> KeyMaterial {
        try KeyMaterial { target in
            for place in target.indices { target[place] = byte }
        }
    }
}

extension RowBinding {
    static func fixture() -> RowBinding {
        RowBinding(
            storeID: UUID(uuidString: "00000000-0000-4000-8000-000000000001")!,
            rowID: UUID(uuidString: "00000000-0000-4000-8000-000000000002")!,
            itemClass: .genericPassword, accessControl: AccessControl(.whenUnlocked), version: 1)
    }
}
