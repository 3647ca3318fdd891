import Library
import Security
import Testing

@Test func statusIsKnown() { #expect(Library.status == errSecSuccess) }
