/// A registry's URL, as docker writes it, with the user's name and secret.
package struct DockerCredential: Codable, Equatable {
    package var serverURL = ""
    package var username = ""
    package var secret = ""

    package init(serverURL: String, username: String, secret: String) {
        (self.serverURL, self.username, self.secret) = (serverURL, username, secret)
    }

    private enum CodingKeys: String, CodingKey {
        case serverURL = "ServerURL"
        case username = "Username"
        case secret = "Secret"
    }

    /// A missing key means an empty text.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        serverURL = try container.decodeIfPresent(String.self, forKey: .serverURL) ?? ""
        username = try container.decodeIfPresent(String.self, forKey: .username) ?? ""
        secret = try container.decodeIfPresent(String.self, forKey: .secret) ?? ""
    }
}
