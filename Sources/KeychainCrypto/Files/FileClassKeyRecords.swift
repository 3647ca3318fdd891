package import KeychainModel

/// The class keys of files that a store has, one behind the other, as a backup key file seals them
/// (docs/backup-format.md, "Records").
///
/// The places of the keys, without the keys.
struct FileClassKeyRecords: Sendable {
    static let byteCount = 1 + 4 + KeyMaterial.byteCount
    /// The most records of one keybag: two generations are in use while keys are renewed.
    static let mostRecords = FileClass.ofKeybag.count * (Keybag.mostRetiredGenerations + 2)

    struct Name: Sendable, Hashable {
        let fileClass: FileClass
        let generation: UInt32
    }

    /// The names in the order of the records.
    let names: [Name]
    private let places: [Name: Int]

    var newestGeneration: UInt32 { names.last?.generation ?? 0 }

    func contains(_ name: Name) -> Bool { places[name] != nil }

    /// The key of a record.
    ///
    /// - Parameter records: The records that this was made from.
    func key(_ name: Name, in records: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        places[name].map { place in
            let start = place * Self.byteCount + 5
            return UnsafeRawBufferPointer(rebasing: records[start..<(start + KeyMaterial.byteCount)])
        }
    }

    /// - Returns: nil if the bytes are not records of a store that ever was.
    init?(_ records: UnsafeRawBufferPointer) {
        guard records.count % Self.byteCount == 0, 1...Self.mostRecords ~= records.count / Self.byteCount else {
            return nil
        }
        var names: [Name] = []
        var places: [Name: Int] = [:]
        for start in stride(from: 0, to: records.count, by: Self.byteCount) {
            let generation = UInt32(bigEndian: records.loadUnaligned(fromByteOffset: start + 1, as: UInt32.self))
            guard case .file(let fileClass) = KeyName(number: records[start]), generation > 0 else { return nil }
            let name = Name(fileClass: fileClass, generation: generation)
            if let last = names.last, !last.precedes(name) { return nil }
            places[name] = names.count
            names.append(name)
        }
        let newest = names.last?.generation
        // A store has a key of each class to make files with.
        guard
            FileClass.ofKeybag.allSatisfy({ fileClass in
                names.contains { $0.fileClass == fileClass && $0.generation == newest }
            })
        else { return nil }
        self.names = names
        self.places = places
    }
}

extension FileClassKeyRecords.Name {
    fileprivate func precedes(_ other: FileClassKeyRecords.Name) -> Bool {
        (generation, fileClass.rawValue) < (other.generation, other.fileClass.rawValue)
    }
}

// MARK: - The records of a keybag

extension Keybag {
    /// The keys of files, in use and retired, as records. The caller erases them soon.
    ///
    /// - Parameter keys: The keys in use of each tier.
    /// - Throws: `.decode` if a retired key does not open.
    package func fileClassKeyRecords(_ keys: (KeyTier) -> KeySet) throws(KeychainError) -> SecretBytes {
        let listed = (retired + entries).filter(\.key.isOfFiles)
        return try SecretBytes(count: listed.count * FileClassKeyRecords.byteCount) { target throws(KeychainError) in
            for (place, entry) in listed.enumerated() {
                let start = place * FileClassKeyRecords.byteCount
                target[start] = entry.key.number
                target.storeBytes(of: entry.generation.bigEndian, toByteOffset: start + 1, as: UInt32.self)
            }
            for fileClass in FileClass.ofKeybag {
                try fill(target, listed, .file(fileClass), keys(fileClass.tier))
            }
        }
    }

    /// From the newest key of a class down: each opens the one before it.
    private func fill(
        _ records: UnsafeMutableRawBufferPointer, _ listed: [Entry], _ name: KeyName, _ keys: KeySet
    ) throws(KeychainError) {
        try withErasedBytes(KeyMaterial.byteCount) { key throws(KeychainError) in
            for (place, entry) in listed.enumerated().reversed() where entry.key == name {
                if entry.wrap == .successor {
                    try unwrap(entry, replacingSuccessorIn: key)
                } else if keys.withKey(name, generation: entry.generation, { key.copyMemory(from: $0) }) == nil {
                    throw KeychainError(.internalFailure, message: "a key of files is out of reach")
                }
                let start = place * FileClassKeyRecords.byteCount + 5
                UnsafeMutableRawBufferPointer(rebasing: records[start..<(start + key.count)])
                    .copyMemory(from: UnsafeRawBufferPointer(key))
            }
        }
    }
}
