// swift-tools-version: 6.2
// The adapters, tested from a package of their own, which asks for their traits. Scripts/check-integrations runs the tests.

import PackageDescription

let settings: [SwiftSetting] =
    [.enableUpcomingFeature("MemberImportVisibility")]
    + (Context.environment["KEYCHAIN_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : [])

let package = Package(
    name: "Integrations",
    dependencies: [
        .package(path: Context.environment["KEYCHAIN_PACKAGE"] ?? "../..", traits: ["JWTKit", "NIOSSL", "X509"]),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "KeychainJWTKit", package: "swift-keychain"),
                .product(name: "KeychainNIOSSL", package: "swift-keychain"),
                .product(name: "KeychainSecurity", package: "swift-keychain"),
                .product(name: "KeychainX509", package: "swift-keychain"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "SwiftASN1", package: "swift-asn1"),
                .product(name: "X509", package: "swift-certificates"),
            ],
            swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
