/// Something by which a person shows that it is them, or a program that it knows a password.
package enum AuthenticationFactor: UInt8, Sendable, Hashable, CaseIterable {
    case passcode = 1
    case biometry = 2
    case applicationPassword = 3
}

extension AccessControl {
    package enum Operation: Sendable, Hashable { case read, use, delete }

    /// Sets of factors, each of which is enough for an operation. An empty set: the operation needs none. No set at
    /// all: nothing is enough (`SecAccessControlCreateFlags` and the operations they rule, as Apple documents them).
    package func alternatives(for operation: Operation) -> [Set<AuthenticationFactor>] {
        switch operation {
        case .delete: return constrainsDeletion ? alternatives : [[]]
        // The constraints are for the use of the key: its bytes cannot be read at all.
        case .read: return flags.contains(.privateKeyUsage) ? [] : alternatives
        // The use of a key in the engine. Without that flag an access control says nothing about use, and allows none.
        // An application password proves right by opening a secret that it is part of, and it is part of none here.
        case .use where flags.contains(.privateKeyUsage) && !flags.contains(.applicationPassword): return alternatives
        case .use: return isConstrained ? [] : [[]]
        }
    }

    private var alternatives: [Set<AuthenticationFactor>] {
        var sets: [Set<AuthenticationFactor>] = [[]]
        let each = constraints
        if flags.contains(.or) && !each.isEmpty {
            sets = each.flatMap(\.self)
        } else {
            for constraint in each {
                sets = sets.flatMap { former in constraint.map { former.union($0) } }
            }
        }
        if flags.contains(.applicationPassword) { sets = sets.map { $0.union([.applicationPassword]) } }
        var seen: Set<Set<AuthenticationFactor>> = []
        return sets.filter { seen.insert($0).inserted }
    }

    /// For each constraint that there is, the sets that satisfy it.
    private var constraints: [[Set<AuthenticationFactor>]] {
        var constraints: [[Set<AuthenticationFactor>]] = []
        if flags.contains(.userPresence) { constraints.append([[.biometry], [.passcode]]) }
        if !flags.isDisjoint(with: [.biometryAny, .biometryCurrentSet]) { constraints.append([[.biometry]]) }
        if flags.contains(.devicePasscode) { constraints.append([[.passcode]]) }
        // There is no companion device, so nothing satisfies it.
        if flags.contains(.companion) { constraints.append([]) }
        return constraints
    }

    /// Whether every way to read the item needs the passcode, so that it can be part of the key.
    package var isSealedWithPasscode: Bool {
        let sets = alternatives(for: .read)
        return !sets.isEmpty && sets.allSatisfy { $0.contains(.passcode) }
    }

    /// Whether an item is of no use when the passcode is removed.
    package var needsPasscode: Bool { protection == .whenPasscodeSetThisDeviceOnly || isSealedWithPasscode }

    /// Whether something that a person or program shows is part of the key.
    package var isSealedWithAuthentication: Bool { isSealedWithPasscode || isSealedWithApplicationPassword }

    /// Whether a password of the program's is part of the key.
    package var isSealedWithApplicationPassword: Bool {
        let sets = alternatives(for: .read)
        return !sets.isEmpty && flags.contains(.applicationPassword)
    }
}
