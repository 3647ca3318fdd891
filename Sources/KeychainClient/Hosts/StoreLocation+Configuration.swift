package import KeychainModel
internal import KeychainSystem

extension StoreLocation {
    package init(_ configuration: KeychainConfiguration) throws(KeychainError) {
        try self.init(configuration, environment: .process)
    }

    init(_ configuration: KeychainConfiguration, environment: Environment) throws(KeychainError) {
        try self.init(
            store: configuration.storeDirectory, deviceKey: configuration.deviceKeyDirectory, environment: environment)
        mayLieInOthersHomes = configuration.mayLieInOthersHomes
    }
}
