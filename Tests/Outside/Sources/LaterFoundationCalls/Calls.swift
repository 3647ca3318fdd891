// A client of the library that is built against such a Foundation.

import DataProtection
import Foundation
import LaterFoundation

func write(_ data: Data, to url: URL) throws -> FileProtectionType? {
    try FoundationFiles.write(data, to: url, options: [.completeFileProtectionWhenUserInactive, .atomic])
    let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.completeWhenUserInactive]
    try FoundationFiles.setAttributes(.default, attributes, ofItemAtPath: url.path)
    let found = try url.resourceValues(forKeys: [.fileProtectionKey]).fileProtection
    return found
}
