internal import Foundation
internal import KeychainModel

extension NSError {
    /// Makes the error by which Apple's functions report a failure, with an `OSStatus` and a text for a person.
    convenience init(_ error: KeychainError) {
        self.init(
            domain: NSOSStatusErrorDomain, code: Int(error.code.status),
            userInfo: [NSLocalizedDescriptionKey: error.message])
    }
}
