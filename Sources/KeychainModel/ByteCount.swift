/// Sizes for people: "512 bytes", "64 KiB", "1.5 MiB".
package enum ByteCount {
    package static func text(_ count: some BinaryInteger) -> String {
        var size = Double(Int64(clamping: count))
        var unit = 0
        let units = ["bytes", "KiB", "MiB", "GiB", "TiB"]
        while size >= 1024, unit < units.count - 1 {
            size /= 1024
            unit += 1
        }
        let tenths = (size * 10).rounded() / 10
        let number = unit == 0 || tenths == tenths.rounded() ? String(Int64(tenths)) : String(tenths)
        return "\(number) \(units[unit])"
    }
}
