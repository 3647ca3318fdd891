import Foundation
import JWTKit

struct Ticket: JWTPayload, Equatable {
    var subject: SubjectClaim
    var expiration: ExpirationClaim
    var seat: String

    enum CodingKeys: String, CodingKey {
        case subject = "sub"
        case expiration = "exp"
        case seat
    }

    init(holder: String, seat: String) {
        subject = SubjectClaim(value: holder)
        // Whole seconds, because a token holds no others.
        expiration = ExpirationClaim(value: Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 600))
        self.seat = seat
    }

    func verify(using algorithm: some JWTAlgorithm) throws {
        try expiration.verifyNotExpired()
    }
}
