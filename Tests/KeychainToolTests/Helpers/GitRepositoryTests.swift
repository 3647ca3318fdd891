import Foundation
import KeychainTestSupport
import Testing

/// Real git, and a repository behind a server that asks for a password.
@Suite struct GitRepositoryTests {
    @Test("git clones and fetches with the password that it was given once, and nobody is asked again")
    func clones() throws {
        try withRepository { (tool, server) throws in
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git one").status == 0)
            #expect(try server.questions() == 2)  // user name and password
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git two && git -C two fetch -q").status == 0)
            #expect(try server.questions() == 2)
            #expect(try tool.run("find", "--json").objects.count == 1)
        }
    }

    @Test("A refused password is erased, the person is asked, and the new one takes its place")
    func changes() throws {
        try withRepository { (tool, server) throws in
            _ = try tool.shell(
                "printf 'protocol=http\\nhost=\(server.host)\\nusername=ada\\npassword=old\\n' | git credential approve"
            )
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git one").status != 0)
            #expect(try server.questions() == 0)
            #expect(try tool.run("find", "--json").objects.isEmpty)
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git one").status == 0)
            #expect(try tool.run("get", "internet").text == "secret")
        }
    }

    @Test("With the keychain locked git stops, says why, and asks nobody")
    func locked() throws {
        try withRepository { (tool, server) throws in
            defer { tool.dropKeys() }
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git one").status == 0)
            try tool.setPasscode()
            try tool.run("lock", "--now")
            let asked = try server.questions()
            let outcome = try tool.shell("cd && git clone -q \(server.url)/r.git two")
            #expect(outcome.status != 0)
            #expect(outcome.errors.contains("the keychain is locked"))
            #expect(try server.questions() == asked)
            try tool.unlock()
            #expect(try tool.shell("cd && git clone -q \(server.url)/r.git two").status == 0)
            #expect(try server.questions() == asked)
        }
    }

    @Test("With credential.useHttpPath each repository has a password of its own")
    func paths() throws {
        try withRepository { (tool, server) throws in
            #expect(
                try tool.shell("cd && git -c credential.useHttpPath=true clone -q \(server.url)/r.git one").status == 0)
            let item = try #require(try tool.run("find", "--json").objects.first?["attributes"] as? [String: Any])
            #expect(item["path"] as? String == "r.git")
        }
    }
}

/// Runs `body` with git set up, and a repository that wants `ada` and `secret`, which git's question is answered with.
private func withRepository(_ body: (Tool, AuthenticatedServer) throws -> Void) throws {
    try withHelpers { (plain) throws in
        let files = plain.home.appendingPathComponent("www")
        let server = try AuthenticatedServer(
            files, accepting: ["Basic " + Data("ada:secret".utf8).base64EncodedString()])
        defer { server.stop() }
        var tool = plain
        tool.variables["GIT_CONFIG_NOSYSTEM"] = "1"
        tool.variables["GIT_ASKPASS"] = server.asker.path
        let prepared = try tool.shell(
            """
            set -e; cd "$HOME"
            git config --global credential.helper keychain
            git config --global user.email a@b; git config --global user.name a; git config --global init.defaultBranch m
            git init -q work; git -C work commit -q --allow-empty -m first
            git clone -q --bare work www/r.git; git -C www/r.git update-server-info
            """)
        try #require(prepared.status == 0, "\(prepared.errors)")
        try body(tool, server)
    }
}
