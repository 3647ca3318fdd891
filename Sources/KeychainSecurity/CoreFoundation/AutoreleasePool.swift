/// Runs `body`: Linux has no autorelease pools, and objects go with their last reference.
public func autoreleasepool<Result: ~Copyable, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}
