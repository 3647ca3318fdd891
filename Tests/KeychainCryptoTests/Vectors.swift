import Foundation
import KeychainTestSupport

/// Reads the published vectors and the worked examples that lie in `Tests/Vectors`.
enum Vectors {
    static func load<T: Decodable>(_ name: String, as type: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(type, from: Data(contentsOf: Repository.file("Tests/Vectors/\(name).json")))
    }

    /// The vectors of a standard, which are a list.
    static func list<Vector: Decodable>(_ name: String, of type: Vector.Type) throws -> [Vector] {
        try load(name, as: List<Vector>.self).vectors
    }

    private struct List<Vector: Decodable>: Decodable {
        let vectors: [Vector]
    }
}

/// Bytes that a file spells in hexadecimal.
struct HexBytes: Decodable {
    let data: Data

    init(from decoder: any Decoder) throws {
        data = Data(hex: try decoder.singleValueContainer().decode(String.self))
    }
}
