import CKeychainFaults

/// What may happen at a step.
enum Fault: String, CaseIterable, Sendable {
    case kill
    case tearSector = "tear-sector"
    case tearOdd = "tear-odd"
    /// With the index of SQLite's log gone, and left as it is.
    case power
    case powerWithIndex = "power-with-index"
    case powerSubset = "power-subset"
    case noSpace = "enospc"
    case noSpaceFromThenOn = "enospc-on"
    case inputOutput = "eio"
    case inputOutputFromThenOn = "eio-on"

    var layered: ckeychain_fault {
        switch self {
        case .kill: CKEYCHAIN_FAULT_KILL
        case .tearSector: CKEYCHAIN_FAULT_TEAR_SECTOR
        case .tearOdd: CKEYCHAIN_FAULT_TEAR_ODD
        case .power, .powerWithIndex: CKEYCHAIN_FAULT_POWER
        case .powerSubset: CKEYCHAIN_FAULT_POWER_SUBSET
        case .noSpace: CKEYCHAIN_FAULT_NO_SPACE
        case .noSpaceFromThenOn: CKEYCHAIN_FAULT_NO_SPACE_FROM_THEN_ON
        case .inputOutput: CKEYCHAIN_FAULT_IO
        case .inputOutputFromThenOn: CKEYCHAIN_FAULT_IO_FROM_THEN_ON
        }
    }

    /// The power goes, at the latest when all is done.
    var cutsPower: Bool { [.power, .powerWithIndex, .powerSubset].contains(self) }

    /// A call fails, and the process goes on.
    var isRefusal: Bool { failsOnce || [.noSpaceFromThenOn, .inputOutputFromThenOn].contains(self) }

    var failsOnce: Bool { [.noSpace, .inputOutput].contains(self) }

    func keepsSharedMemory(seed: UInt64) -> Bool {
        self == .powerWithIndex || (self == .powerSubset && seed % 2 == 0)
    }
}
