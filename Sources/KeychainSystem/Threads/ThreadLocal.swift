internal import Glibc

/// An object for each thread, which the thread does not keep alive.
package struct ThreadLocal<Object: AnyObject>: Sendable {
    private let key: pthread_key_t

    /// For a constant of the program: the key is never given back, and a process has a thousand.
    package init() {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key, nil)
        precondition(failure == 0, "a process has a thousand keys")
        self.key = key
    }

    package var value: Object? {
        get { pthread_getspecific(key).map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() } }
        nonmutating set {
            let pointer = newValue.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
            pthread_setspecific(key, pointer)
        }
    }
}
