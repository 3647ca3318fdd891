import KeychainTestSupport
import Testing

@Suite("Parts of names") struct NamePartTests {
    @Test(
        "A part is found whatever its capitals, and whichever way an accent is written",
        arguments: [
            ("STRASSE", "Die Straße"), ("straße", "STRASSE"), ("οδος", "ΟΔΟΣ"), ("ΟΔΟΣ", "οδος"),
            ("file", "\u{fb01}le"),
            ("caf\u{e9}", "Cafe\u{301}"), ("CAFE\u{301}", "caf\u{e9}"), ("👨", "family 👨‍👩‍👧"), ("ada", "Ada"),
        ])
    func found(part: String, name: String) throws {
        try withTool { (tool) throws in
            try tool.run("add", "generic", "--service", "s", "--account", "a", "--label", name)
            #expect(try tool.run("find", part).status == 0)
            #expect(try tool.run("find", part + "x").status == 44)
        }
    }

    @Test(
        "A time that comes twice is the later one, and a day without midnight begins later",
        arguments: [
            ("EST5EDT4,M3.2.0,M11.1.0", "2027-11-07 01:30", "2027-11-07T06:30:00"),
            ("EST5EDT4,M3.2.0,M11.1.0", "2027-11-07 00:30", "2027-11-07T04:30:00"),
            ("EST5EDT4,M3.2.0,M11.1.0", "2027-12-07 01:30", "2027-12-07T06:30:00"),
            ("AST-2ADT,M3.5.0/0,M10.5.0/0", "2027-03-28", "2027-03-27T22:00:00"),
            ("UTC0", "2027-03-28", "2027-03-28T00:00:00"),
        ])
    func times(zone: String, text: String, time: String) throws {
        try withTool { (tool) throws in
            var tool = tool
            tool.variables["TZ"] = zone
            try tool.run("add", "generic", "--service", "s", "--account", "a", "--expires", text)
            let expires = try #require(try tool.run("find", "--json").objects.first?["expires"] as? String)
            #expect(expires.hasPrefix(time))
        }
    }
}
