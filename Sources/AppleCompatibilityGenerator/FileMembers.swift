/// Members with the signatures of Foundation's own that a client's code calls, each of which leads to the library.
///
/// A declaration of the client's module wins over the same one of another module, so they repeat each signature exactly;
/// `__shared` belongs to it. They are disfavoured for the sake of targets that see them by `@testable import` and do not
/// list the plugin: without that, both declarations would be as good there, and the call ambiguous. They are nonisolated
/// for the sake of targets that isolate to the main actor what says nothing else.
enum FileMembers {
    static let text = """

        nonisolated extension Data {
            @_disfavoredOverload
            init(contentsOf url: __shared URL, options: Data.ReadingOptions = []) throws {
                self = try FoundationFiles.data(contentsOf: url, options: options)
            }
            @_disfavoredOverload
            func write(to url: URL, options: Data.WritingOptions = []) throws {
                try FoundationFiles.write(self, to: url, options: options)
            }
        }

        nonisolated extension String {
            @_disfavoredOverload
            init(contentsOf url: __shared URL, encoding enc: Encoding) throws {
                self = try FoundationFiles.string(contentsOf: url, encoding: enc)
            }
            @_disfavoredOverload
            init(contentsOfFile path: __shared String, encoding enc: Encoding) throws {
                self = try FoundationFiles.string(contentsOfFile: path, encoding: enc)
            }
            @_disfavoredOverload
            init(contentsOf url: __shared URL, usedEncoding: inout Encoding) throws {
                self = try FoundationFiles.string(contentsOf: url, usedEncoding: &usedEncoding)
            }
            @_disfavoredOverload
            init(contentsOfFile path: __shared String, usedEncoding: inout Encoding) throws {
                self = try FoundationFiles.string(contentsOfFile: path, usedEncoding: &usedEncoding)
            }
            @_disfavoredOverload
            init(contentsOf url: __shared URL) throws {
                var encoding = Encoding.utf8
                self = try FoundationFiles.string(contentsOf: url, usedEncoding: &encoding)
            }
            @_disfavoredOverload
            init(contentsOfFile path: __shared String) throws {
                var encoding = Encoding.utf8
                self = try FoundationFiles.string(contentsOfFile: path, usedEncoding: &encoding)
            }
        }

        nonisolated extension StringProtocol {
            @_disfavoredOverload
            func write(to url: URL, atomically useAuxiliaryFile: Bool, encoding enc: String.Encoding) throws {
                try FoundationFiles.write(self, to: url, atomically: useAuxiliaryFile, encoding: enc)
            }
            @_disfavoredOverload
            func write<T: StringProtocol>(
                toFile path: T, atomically useAuxiliaryFile: Bool, encoding enc: String.Encoding
            ) throws {
                try FoundationFiles.write(self, toFile: path, atomically: useAuxiliaryFile, encoding: enc)
            }
        }

        nonisolated extension FileManager {
            @_disfavoredOverload
            func contents(atPath path: String) -> Data? {
                FoundationFiles.contents(self, atPath: path)
            }
            @_disfavoredOverload
            @discardableResult
            func createFile(
                atPath path: String, contents data: Data?, attributes attr: [FileAttributeKey: Any]? = nil
            ) -> Bool {
                FoundationFiles.createFile(self, atPath: path, contents: data, attributes: attr)
            }
            @_disfavoredOverload
            func attributesOfItem(atPath path: String) throws -> [FileAttributeKey: Any] {
                try FoundationFiles.attributesOfItem(self, atPath: path)
            }
            @_disfavoredOverload
            func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {
                try FoundationFiles.setAttributes(self, attributes, ofItemAtPath: path)
            }
            @_disfavoredOverload
            func createDirectory(
                at url: URL, withIntermediateDirectories createIntermediates: Bool,
                attributes: [FileAttributeKey: Any]? = nil
            ) throws {
                try FoundationFiles.createDirectory(
                    self, at: url, withIntermediateDirectories: createIntermediates, attributes: attributes)
            }
            @_disfavoredOverload
            func createDirectory(
                atPath path: String, withIntermediateDirectories createIntermediates: Bool,
                attributes: [FileAttributeKey: Any]? = nil
            ) throws {
                try FoundationFiles.createDirectory(
                    self, atPath: path, withIntermediateDirectories: createIntermediates, attributes: attributes)
            }
        }

        nonisolated extension URL {
            @_disfavoredOverload
            func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues {
                try FoundationFiles.resourceValues(forKeys: keys, of: self)
            }
        }

        nonisolated extension NSURL {
            @_disfavoredOverload
            func setResourceValue(_ value: Any?, forKey key: URLResourceKey) throws {
                try FoundationFiles.setResourceValue(value, forKey: key, of: self)
            }
            @_disfavoredOverload
            func setResourceValues(_ keyedValues: [URLResourceKey: Any]) throws {
                try FoundationFiles.setResourceValues(keyedValues, of: self)
            }
            @_disfavoredOverload
            func getResourceValue(_ value: inout AnyObject?, forKey key: URLResourceKey) throws {
                try FoundationFiles.getResourceValue(&value, forKey: key, of: self)
            }
            @_disfavoredOverload
            func resourceValues(forKeys keys: [URLResourceKey]) throws -> [URLResourceKey: Any] {
                try FoundationFiles.resourceValues(forKeys: keys, of: self)
            }
        }

        nonisolated extension NSData {
            @_disfavoredOverload
            convenience init(contentsOf url: URL, options readOptionsMask: NSData.ReadingOptions = []) throws {
                self.init(data: try FoundationFiles.data(contentsOf: url, options: readOptionsMask))
            }
            @_disfavoredOverload
            convenience init(contentsOfFile path: String, options readOptionsMask: NSData.ReadingOptions = []) throws {
                self.init(data: try FoundationFiles.data(contentsOfFile: path, options: readOptionsMask))
            }
            @_disfavoredOverload
            convenience init?(contentsOf url: URL) {
                guard let data = try? FoundationFiles.data(contentsOf: url, options: []) else { return nil }
                self.init(data: data)
            }
            @_disfavoredOverload
            convenience init?(contentsOfFile path: String) {
                guard let data = try? FoundationFiles.data(contentsOfFile: path, options: []) else { return nil }
                self.init(data: data)
            }
            @_disfavoredOverload
            func write(to url: URL, options writeOptionsMask: NSData.WritingOptions = []) throws {
                try FoundationFiles.write(self, to: url, options: writeOptionsMask)
            }
            @_disfavoredOverload
            func write(toFile path: String, options writeOptionsMask: NSData.WritingOptions = []) throws {
                try FoundationFiles.write(self, toFile: path, options: writeOptionsMask)
            }
            @_disfavoredOverload
            @discardableResult
            func write(to url: URL, atomically: Bool) -> Bool {
                (try? FoundationFiles.write(self, to: url, options: atomically ? .atomic : [])) != nil
            }
            @_disfavoredOverload
            @discardableResult
            func write(toFile path: String, atomically useAuxiliaryFile: Bool) -> Bool {
                (try? FoundationFiles.write(self, toFile: path, options: useAuxiliaryFile ? .atomic : [])) != nil
            }
        }

        """
}
