/// How much of everything is measured at one size.
struct Plan {
    var lookUps: Int
    var adds: Int
    var hits: Int
    var batches: Int
    var unlocks: Int
}
