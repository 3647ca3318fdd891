import KeychainManifests
import Testing

@Suite struct ManifestTests {}
