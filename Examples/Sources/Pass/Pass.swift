import Foundation
import JWTKit

/// What a token of the service says.
package struct Pass: JWTPayload, Equatable {
    package var holder: SubjectClaim
    package var expiration: ExpirationClaim

    enum CodingKeys: String, CodingKey {
        case holder = "sub"
        case expiration = "exp"
    }

    package init(holder: String, lifetime: TimeInterval = 600) {
        self.holder = SubjectClaim(value: holder)
        // Whole seconds, because a token holds no others.
        expiration = ExpirationClaim(
            value: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + lifetime))
    }

    package func verify(using algorithm: some JWTAlgorithm) throws { try expiration.verifyNotExpired() }
}
