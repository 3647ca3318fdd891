/// A count with its noun: "1 item", "3 items".
package func counted(_ count: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
    count == 1 ? "1 \(one)" : "\(count) \(many ?? one + "s")"
}
