import Foundation

/// As much of DER as it takes to unpack keys, and to put one into a certificate.
enum DER {
    struct Element {
        let tag: UInt8
        let content: Data
    }

    /// The elements in the first element; none of bytes that are no DER.
    static func children(of bytes: Data) -> [Element] {
        guard let root = all(in: bytes).first else { return [] }
        return all(in: root.content)
    }

    private static func all(in bytes: Data) -> [Element] {
        var (elements, rest) = ([Element](), bytes)
        while rest.count >= 2 {
            let tag = rest.removeFirst()
            var count = Int(rest.removeFirst())
            if count >= 0x80 {
                let digits = rest.prefix(count & 0x7F)
                rest.removeFirst(digits.count)
                guard digits.count <= 4 else { return [] }
                count = digits.reduce(0) { $0 << 8 | Int($1) }
            }
            guard rest.count >= count else { return [] }
            elements.append(Element(tag: tag, content: Data(rest.prefix(count))))
            rest = Data(rest.dropFirst(count))
        }
        return elements
    }

    /// A certificate with a key, whose signature nobody has made. It can be read all the same.
    static func certificate(_ publicKeyInfo: Data) -> Data {
        let name = node(0x30)
        let algorithm = node(0x30, Data([0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02]))
        let validity = node(0x30, node(0x17, Data("250101000000Z".utf8)) + node(0x17, Data("260101000000Z".utf8)))
        let signed = node(0x30, node(0x02, Data([1])) + algorithm + name + validity + name + publicKeyInfo)
        return node(0x30, signed + algorithm + node(0x03, Data([0, 0])))
    }

    private static func node(_ tag: UInt8, _ content: Data = Data()) -> Data {
        let count = content.count
        let length: [UInt8] =
            count < 0x80
            ? [UInt8(count)] : count < 0x100 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return Data([tag] + length) + content
    }
}
