// The functions of CKeychainLinux that public modules need, declared and not imported. A module that imports a C module can
// be loaded only with its module map, and other packages that find our modules do not have it
// (docs/decisions/026-c-by-declared-symbols.md). The header says what each of them does; LinuxCallTests compares the types.

@_extern(c) package func ckeychain_erase(_ bytes: UnsafeMutableRawPointer?, _ count: Int)

@_extern(c) package func ckeychain_erase_traces(_ stack: Int)

@_extern(c) package func ckeychain_call_stack() -> Int

@_extern(c) package func ckeychain_cipher_stack() -> Int

@_extern(c) package func ckeychain_limit_cores()

@_extern(c) package func ckeychain_map_pages(
    _ count: Int, _ pages: UnsafeMutablePointer<UnsafeMutableRawPointer?>, _ isLocked: UnsafeMutablePointer<CInt>
) -> CInt

@_extern(c) package func ckeychain_map_secret_pages(
    _ count: Int, _ pages: UnsafeMutablePointer<UnsafeMutableRawPointer?>
) -> CInt

@_extern(c) package func ckeychain_random(_ bytes: UnsafeMutableRawPointer, _ count: Int) -> CInt

@_extern(c) package func ckeychain_is_secure_execution() -> CInt

@_extern(c) package func ckeychain_embedded_entitlements(_ count: UnsafeMutablePointer<Int>) -> UnsafeRawPointer?

@_extern(c) package func ckeychain_above_standard(_ descriptor: CInt) -> CInt

@_extern(c) package func ckeychain_connect(
    _ path: UnsafePointer<CChar>, _ milliseconds: CInt, _ descriptor: UnsafeMutablePointer<CInt>
) -> CInt

@_extern(c) package func ckeychain_connect_for_lock(
    _ path: UnsafePointer<CChar>, _ milliseconds: CInt, _ descriptor: UnsafeMutablePointer<CInt>
) -> CInt

@_extern(c) package func ckeychain_peer_user(_ socket: CInt, _ user: UnsafeMutablePointer<UInt32>) -> CInt

@_extern(c) package func ckeychain_await_sender(
    _ socket: CInt, _ milliseconds: CInt, _ pid: UnsafeMutablePointer<Int32>, _ user: UnsafeMutablePointer<UInt32>
) -> CInt

@_extern(c) package func ckeychain_start_thread(
    _ name: UnsafePointer<CChar>, _ stack: Int, _ keepsSignals: CInt,
    _ body: @convention(c) (UnsafeMutableRawPointer?) -> Void,
    _ context: UnsafeMutableRawPointer?
) -> CInt

@_extern(c) package func ckeychain_open_event(_ descriptor: UnsafeMutablePointer<CInt>) -> CInt

@_extern(c) package func ckeychain_set_event(_ descriptor: CInt)

@_extern(c) package func ckeychain_clear_event(_ descriptor: CInt)

@_extern(c) package func ckeychain_begin_sync(_ descriptor: CInt)

@_extern(c) package func ckeychain_sync_all(_ descriptor: CInt) -> CInt

@_extern(c) package func ckeychain_punch(_ descriptor: CInt, _ offset: Int64, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_file_system_type(_ descriptor: CInt, _ type: UnsafeMutablePointer<Int64>) -> CInt

@_extern(c) package func ckeychain_limit_lock_waits(_ milliseconds: CInt)
@_extern(c) package func ckeychain_await_lock(_ descriptor: CInt, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_try_lock(_ descriptor: CInt, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_await_shared_lock(_ descriptor: CInt, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_share_lock(_ descriptor: CInt, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_unlock(_ descriptor: CInt, _ count: Int64) -> CInt

@_extern(c) package func ckeychain_get_attribute(
    _ path: UnsafePointer<CChar>?, _ descriptor: CInt, _ name: UnsafePointer<CChar>, _ value: UnsafeMutableRawPointer?,
    _ capacity: Int, _ count: UnsafeMutablePointer<Int>
) -> CInt

@_extern(c) package func ckeychain_list_attributes(
    _ descriptor: CInt, _ names: UnsafeMutablePointer<CChar>?, _ capacity: Int, _ count: UnsafeMutablePointer<Int>
) -> CInt

@_extern(c) package func ckeychain_set_attribute(
    _ path: UnsafePointer<CChar>?, _ descriptor: CInt, _ name: UnsafePointer<CChar>, _ value: UnsafeRawPointer?,
    _ count: Int
) -> CInt

@_extern(c) package func ckeychain_remove_attribute(
    _ path: UnsafePointer<CChar>?, _ descriptor: CInt, _ name: UnsafePointer<CChar>
) -> CInt

@_extern(c) package func ckeychain_memory_file(
    _ name: UnsafePointer<CChar>, _ bytes: UnsafeRawPointer?, _ count: Int, _ mayChange: CInt,
    _ descriptor: UnsafeMutablePointer<CInt>
) -> CInt

@_extern(c) package func ckeychain_rename_to_free_name(
    _ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>
) -> CInt

@_extern(c) package func ckeychain_hold_signals(
    _ numbers: UnsafePointer<CInt>, _ count: Int, _ descriptor: UnsafeMutablePointer<CInt>
) -> CInt

@_extern(c) package func ckeychain_add_close_from(_ actions: UnsafeMutableRawPointer, _ lowest: CInt) -> CInt
