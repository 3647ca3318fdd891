import ArgumentParser

/// What the property wrappers of a command hold, by the names of the properties.
func parsedValues(of command: Any, under name: String = "") -> [String: String] {
    var values: [String: String] = [:]
    for child in Mirror(reflecting: command).children {
        guard let label = child.label else { continue }
        let path = name + "/" + label
        guard let parsed = Mirror(reflecting: child.value).descendant("_parsedValue", "value") else {
            values[path] = "not read"
            continue
        }
        if parsed is any ParsableArguments {
            values.merge(parsedValues(of: parsed, under: path)) { $1 }
        } else {
            values[path] = "\(parsed)"
        }
    }
    return values
}
