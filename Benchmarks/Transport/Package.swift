// swift-tools-version: 6.2
// The evidence for docs/decisions/019: three ways to serve a socket. A package of its own, so that nothing else
// depends on swift-nio.

import PackageDescription

let package = Package(
    name: "Transport",
    dependencies: [.package(url: "https://github.com/apple/swift-nio", from: "2.101.2")],
    targets: [
        .target(name: "CTransport"),
        .executableTarget(
            name: "TransportServer",
            dependencies: [
                "CTransport",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(name: "TransportClient", dependencies: ["CTransport"]),
    ],
    swiftLanguageModes: [.v6]
)
