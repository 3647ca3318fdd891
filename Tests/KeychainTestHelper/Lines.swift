import Foundation

/// Prints a line at once: a buffer would be copied into every forked child, and whoever reads takes each line for a promise.
func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

func complain(_ error: any Error) { FileHandle.standardError.write(Data("helper: \(error)\n".utf8)) }
