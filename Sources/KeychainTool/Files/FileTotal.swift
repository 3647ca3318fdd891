struct FileTotal {
    private(set) var fileCount = 0
    private(set) var byteCount: UInt64 = 0

    init() {}

    init(of walk: TreeWalk) {
        walk.visit { finding in
            if case .file(let file) = finding { add(file) }
        }
    }

    mutating func add(_ file: TreeWalk.FoundFile) {
        fileCount += 1
        byteCount += file.size
    }
}
