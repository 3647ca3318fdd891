import Foundation
import KeychainModel
import Testing

@testable import KeychainCrypto

@Suite struct KeyMemoryTests {
    @Test("The memory of a key is erased when the key goes")
    func keyMaterial() throws {
        try expectErased { try addressOfReleasedKey() }
    }

    @Test("The memory of a set is erased when the set goes, all of it")
    func keySet() throws {
        try expectErased(KeySet.byteCount) { try addressOfReleasedSet() }
    }

    @Test("The memory itself is erased, also what was never a key")
    func memory() throws {
        try expectErased { try addressOfReleasedMemory() }
    }

    private func addressOfReleasedKey() throws -> UInt {
        let key = try KeyMaterial.repeating(0x41)
        return key.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
    }

    /// - Returns: where the set begins: its first key is behind a number and a generation.
    private func addressOfReleasedSet() throws -> UInt {
        let set = try KeySet.repeating(KeyName.all)
        let first = set.withKey(KeyName.all[0], generation: 1) { UInt(bitPattern: $0.baseAddress) }
        return try #require(first) - 5
    }

    private func addressOfReleasedMemory() throws -> UInt {
        let memory = try KeyMemory()
        memory.bytes.copyBytes(from: Data(repeating: 0x41, count: KeyMemory.byteCount))
        return UInt(bitPattern: memory.bytes.baseAddress)
    }

    /// Other tests may take the piece of memory first, so it is tried more than once.
    private func expectErased(_ byteCount: Int = KeyMemory.byteCount, _ makeAndRelease: () throws -> UInt) throws {
        for _ in 0..<100 {
            guard let memory = try takeMemory(at: try makeAndRelease(), byteCount) else { continue }
            #expect(memory.bytes.allSatisfy { $0 == 0 })
            return
        }
        Issue.record("the same memory never came again")
    }

    /// Takes pieces until one is at this address.
    private func takeMemory(at address: UInt, _ byteCount: Int) throws -> KeyMemory? {
        var others: [KeyMemory] = []
        for _ in 0..<64 {
            let memory = try KeyMemory(byteCount: byteCount)
            if UInt(bitPattern: memory.bytes.baseAddress) == address { return memory }
            others.append(memory)
        }
        return nil
    }
}
