import CKeychainLinux
import Foundation
import KeychainSystem
import KeychainTestSupport
import Testing

/// The functions of C that are declared and not imported: the compiler compares nothing there.
@Suite struct LinuxCallTests {
    private static let pairs: [(name: String, header: Any.Type, declared: Any.Type)] = [
        (
            "ckeychain_erase", type(of: CKeychainLinux.ckeychain_erase),
            type(of: KeychainSystem.ckeychain_erase)
        ),
        (
            "ckeychain_erase_traces", type(of: CKeychainLinux.ckeychain_erase_traces),
            type(of: KeychainSystem.ckeychain_erase_traces)
        ),
        (
            "ckeychain_call_stack", type(of: CKeychainLinux.ckeychain_call_stack),
            type(of: KeychainSystem.ckeychain_call_stack)
        ),
        (
            "ckeychain_cipher_stack", type(of: CKeychainLinux.ckeychain_cipher_stack),
            type(of: KeychainSystem.ckeychain_cipher_stack)
        ),
        (
            "ckeychain_limit_cores", type(of: CKeychainLinux.ckeychain_limit_cores),
            type(of: KeychainSystem.ckeychain_limit_cores)
        ),
        (
            "ckeychain_map_pages", type(of: CKeychainLinux.ckeychain_map_pages),
            type(of: KeychainSystem.ckeychain_map_pages)
        ),
        (
            "ckeychain_map_secret_pages", type(of: CKeychainLinux.ckeychain_map_secret_pages),
            type(of: KeychainSystem.ckeychain_map_secret_pages)
        ),
        (
            "ckeychain_random", type(of: CKeychainLinux.ckeychain_random),
            type(of: KeychainSystem.ckeychain_random)
        ),
        (
            "ckeychain_is_secure_execution", type(of: CKeychainLinux.ckeychain_is_secure_execution),
            type(of: KeychainSystem.ckeychain_is_secure_execution)
        ),
        (
            "ckeychain_embedded_entitlements", type(of: CKeychainLinux.ckeychain_embedded_entitlements),
            type(of: KeychainSystem.ckeychain_embedded_entitlements)
        ),
        (
            "ckeychain_above_standard", type(of: CKeychainLinux.ckeychain_above_standard),
            type(of: KeychainSystem.ckeychain_above_standard)
        ),
        (
            "ckeychain_connect", type(of: CKeychainLinux.ckeychain_connect),
            type(of: KeychainSystem.ckeychain_connect)
        ),
        (
            "ckeychain_connect_for_lock", type(of: CKeychainLinux.ckeychain_connect_for_lock),
            type(of: KeychainSystem.ckeychain_connect_for_lock)
        ),
        (
            "ckeychain_peer_user", type(of: CKeychainLinux.ckeychain_peer_user),
            type(of: KeychainSystem.ckeychain_peer_user)
        ),
        (
            "ckeychain_await_sender", type(of: CKeychainLinux.ckeychain_await_sender),
            type(of: KeychainSystem.ckeychain_await_sender)
        ),
        (
            "ckeychain_start_thread", type(of: CKeychainLinux.ckeychain_start_thread),
            type(of: KeychainSystem.ckeychain_start_thread)
        ),
        (
            "ckeychain_open_event", type(of: CKeychainLinux.ckeychain_open_event),
            type(of: KeychainSystem.ckeychain_open_event)
        ),
        (
            "ckeychain_set_event", type(of: CKeychainLinux.ckeychain_set_event),
            type(of: KeychainSystem.ckeychain_set_event)
        ),
        (
            "ckeychain_clear_event", type(of: CKeychainLinux.ckeychain_clear_event),
            type(of: KeychainSystem.ckeychain_clear_event)
        ),
        (
            "ckeychain_begin_sync", type(of: CKeychainLinux.ckeychain_begin_sync),
            type(of: KeychainSystem.ckeychain_begin_sync)
        ),
        (
            "ckeychain_sync_all", type(of: CKeychainLinux.ckeychain_sync_all),
            type(of: KeychainSystem.ckeychain_sync_all)
        ),
        (
            "ckeychain_punch", type(of: CKeychainLinux.ckeychain_punch),
            type(of: KeychainSystem.ckeychain_punch)
        ),
        (
            "ckeychain_file_system_type", type(of: CKeychainLinux.ckeychain_file_system_type),
            type(of: KeychainSystem.ckeychain_file_system_type)
        ),
        (
            "ckeychain_limit_lock_waits", type(of: CKeychainLinux.ckeychain_limit_lock_waits),
            type(of: KeychainSystem.ckeychain_limit_lock_waits)
        ),
        (
            "ckeychain_await_lock", type(of: CKeychainLinux.ckeychain_await_lock),
            type(of: KeychainSystem.ckeychain_await_lock)
        ),
        (
            "ckeychain_try_lock", type(of: CKeychainLinux.ckeychain_try_lock),
            type(of: KeychainSystem.ckeychain_try_lock)
        ),
        (
            "ckeychain_await_shared_lock", type(of: CKeychainLinux.ckeychain_await_shared_lock),
            type(of: KeychainSystem.ckeychain_await_shared_lock)
        ),
        (
            "ckeychain_share_lock", type(of: CKeychainLinux.ckeychain_share_lock),
            type(of: KeychainSystem.ckeychain_share_lock)
        ),
        (
            "ckeychain_unlock", type(of: CKeychainLinux.ckeychain_unlock),
            type(of: KeychainSystem.ckeychain_unlock)
        ),
        (
            "ckeychain_get_attribute", type(of: CKeychainLinux.ckeychain_get_attribute),
            type(of: KeychainSystem.ckeychain_get_attribute)
        ),
        (
            "ckeychain_list_attributes", type(of: CKeychainLinux.ckeychain_list_attributes),
            type(of: KeychainSystem.ckeychain_list_attributes)
        ),
        (
            "ckeychain_set_attribute", type(of: CKeychainLinux.ckeychain_set_attribute),
            type(of: KeychainSystem.ckeychain_set_attribute)
        ),
        (
            "ckeychain_remove_attribute", type(of: CKeychainLinux.ckeychain_remove_attribute),
            type(of: KeychainSystem.ckeychain_remove_attribute)
        ),
        (
            "ckeychain_memory_file", type(of: CKeychainLinux.ckeychain_memory_file),
            type(of: KeychainSystem.ckeychain_memory_file)
        ),
        (
            "ckeychain_rename_to_free_name", type(of: CKeychainLinux.ckeychain_rename_to_free_name),
            type(of: KeychainSystem.ckeychain_rename_to_free_name)
        ),
        (
            "ckeychain_hold_signals", type(of: CKeychainLinux.ckeychain_hold_signals),
            type(of: KeychainSystem.ckeychain_hold_signals)
        ),
        (
            "ckeychain_add_close_from", type(of: CKeychainLinux.ckeychain_add_close_from),
            type(of: KeychainSystem.ckeychain_add_close_from)
        ),
    ]

    @Test("Each function of C that is declared has the types of its header", arguments: pairs.map(\.name))
    func declarations(name: String) throws {
        let (_, header, declared) = try #require(Self.pairs.first { $0.name == name })
        #expect(ObjectIdentifier(header) == ObjectIdentifier(declared))
    }

    @Test("None that is declared is left out here")
    func all() throws {
        let source = try String(contentsOf: Repository.file("Sources/KeychainSystem/LinuxCalls.swift"), encoding: .utf8)
        #expect(source.matches(of: /func (ckeychain_\w+)/).map { String($0.1) } == Self.pairs.map(\.name))
    }
}
