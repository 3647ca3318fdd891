// swift-tools-version: 6.2
// Packages that look for Apple's Security and do not know of ours.

import PackageDescription

let package = Package(
    name: "Strangers",
    products: [
        .library(name: "AsksOnly", targets: ["AsksOnly"]),
        .library(name: "AsksAndImports", targets: ["AsksAndImports"]),
    ],
    targets: [.target(name: "AsksOnly"), .target(name: "AsksAndImports")],
    swiftLanguageModes: [.v6]
)
