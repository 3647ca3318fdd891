/// Runs a closure and nothing else, since Linux has no autorelease pools.
///
/// Every object goes with its last reference.
///
/// - Parameter body: The closure to run.
/// - Returns: The result of the closure.
public func autoreleasepool<Result: ~Copyable, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}
