import Crypto
import Foundation

/// What a careless index would hold instead of a keyed code.
func unkeyedDigests(of bytes: Data) -> [Data] {
    [
        Data(SHA256.hash(data: bytes)), Data(SHA512.hash(data: bytes)), Data(Insecure.SHA1.hash(data: bytes)),
        Data(Insecure.MD5.hash(data: bytes)),
    ]
}
