import Foundation
import KeychainModel
import KeychainTestSupport
import Testing

extension RequestHandler {
    func fileKey(_ request: FileKeyRequest, as caller: Caller = caller) throws(KeychainError) -> FileKey {
        guard case .fileKey(let key) = try handle(.fileKey(request), from: caller) else {
            throw KeychainError(.internalFailure, message: "another reply")
        }
        return key
    }

    /// A fresh key of each class.
    func makeFileKeys() throws(KeychainError) -> [FileKey] {
        var keys: [FileKey] = []
        for fileClass in FileClass.allCases { keys.append(try fileKey(.make(fileClass, fileID: UUID()))) }
        return keys
    }
}

/// Expects that each opens to the key that it was made with, or fails with a status.
func expectKeys(
    _ keys: [FileKey], in handler: any RequestHandler, sourceLocation: SourceLocation = #_sourceLocation,
    fail code: (FileKey) -> KeychainError.Code? = { _ in nil }
) {
    for key in keys {
        let result = Result { () throws(KeychainError) in try handler.fileKey(.open(key.wrapped)) }
        let comment: Comment = "class \(key.wrapped.fileClass), generation \(key.wrapped.generation)"
        switch result {
        case .success(let opened):
            #expect(opened.key.copyData() == key.key.copyData(), comment, sourceLocation: sourceLocation)
            #expect(code(key) == nil, comment, sourceLocation: sourceLocation)
        case .failure(let error):
            #expect(error.code == code(key), "\(comment): \(error)", sourceLocation: sourceLocation)
        }
    }
}
