"""Programs of the system, which do as on any file system."""

import os
import sqlite3

from checks import CACHED, GUARDED, check
from world import CLASSES, Failure, require, same


@check("trees are copied, compared and moved", *CLASSES)
def trees(world, name):
    world.run("cp", "-a", "/usr/share/perl5/Dpkg", f"mount/{name}/copied")
    world.run("diff", "-r", "/usr/share/perl5/Dpkg", f"mount/{name}/copied")
    world.run("rsync", "-a", "/usr/share/perl5/Dpkg/", f"mount/{name}/synced/")
    found = world.run("rsync", "-aci", "--dry-run", "/usr/share/perl5/Dpkg/", f"mount/{name}/synced/").stdout
    # This user cannot give files to root.
    same([line for line in found.splitlines() if line[1:3] != "d." and "c" in line[:3]], [])
    world.run("rsync", "-a", "--delete", f"mount/{name}/synced/", "home/back/")
    world.run("diff", "-r", "/usr/share/perl5/Dpkg", "home/back")
    world.run("rsync", "-a", "--checksum", "--inplace", "home/back/", f"mount/{name}/synced/")
    world.run("diff", "-r", "/usr/share/perl5/Dpkg", f"mount/{name}/synced")
    world.run("tar", "cf", f"mount/{name}/tar", "-C", f"mount/{name}", "copied")
    world.run("tar", "df", f"mount/{name}/tar", "-C", f"mount/{name}")
    world.run("mv", f"mount/{name}/copied", f"mount/{name}/moved")
    world.run("rm", "-r", f"mount/{name}/moved", f"mount/{name}/synced", f"mount/{name}/tar")


@check("git commits, clones and checks", *CLASSES)
def git(world, name):
    world.run("sh", "-ec", """
        export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
        git init -q -b main origin && cd origin
        for n in $(seq 200); do echo "$n" > "$n"; done
        git add . && git commit -qm first && git rm -q 7 && git commit -qm second && git gc -q
        cd .. && git clone -q origin clone && git -C clone fsck --full --strict
        [ -z "$(git -C clone status --porcelain)" ] && [ "$(git -C clone rev-list --count HEAD)" = 2 ]
        rm -rf origin clone""", cwd=world.mount / name)


@check("editors save: over the file, beside it, with a backup", *CLASSES)
def editors(world, name):
    world.run("sh", "-ec", """
        printf 'one\\ntwo\\n' > text
        sed -i s/one/three/ text
        perl -pi.bak -e s/two/four/ text
        [ "$(cat text)" = "$(printf 'three\\nfour')" ] && [ "$(cat text.bak)" = "$(printf 'three\\ntwo')" ]
        cp --backup text.bak text && [ -e text~ ]
        for way in yes no auto; do
            printf 'one\\ntwo\\n' > text
            vim.tiny -es -u NONE -i NONE "+set backupskip= backup backupcopy=$way" '+%s/one/five/' +wq text
            [ "$(cat text)" = "$(printf 'five\\ntwo')" ] && [ "$(cat text~)" = "$(printf 'one\\ntwo')" ]
        done""", cwd=world.mount / name)
    same(world.child(lambda: os.getxattr(world.mount / name / "text", "user.keychain.class")).decode(), CLASSES[name])


@check("files with holes are copied with them", *CLASSES)
def sparse(world, name):
    world.run("sh", "-ec", """
        printf begin > ../../home/sparse && truncate -s 8M ../../home/sparse && printf end >> ../../home/sparse
        cp --sparse=always ../../home/sparse there && cmp ../../home/sparse there
        [ "$(stat -c %b there)" -lt 200 ]
        cp there again && cp --sparse=always there ../../home/back.sparse
        cmp there again && cmp there ../../home/back.sparse
        [ "$(stat -c %b ../../home/back.sparse)" -lt 200 ]
        rm there again""", cwd=world.mount / name)


@check("SQLite in rollback mode", *CLASSES)
def rollback(world, name):
    def work():
        for mode in ("delete", "truncate", "persist"):
            base = sqlite3.connect(world.mount / name / f"{mode}.db", isolation_level=None)
            same(base.execute(f"pragma journal_mode={mode}").fetchone(), (mode,))
            base.execute("create table t(a)")
            base.executemany("insert into t values(?)", [(os.urandom(200),) for _ in range(20)])
            other = sqlite3.connect(world.mount / name / f"{mode}.db", isolation_level=None, timeout=0)
            base.execute("begin exclusive")
            try:
                other.execute("insert into t values(1)")
                raise Failure("a second writer is not kept out")
            except sqlite3.OperationalError as error:
                require("locked" in str(error), error)
            base.execute("rollback")
            other.execute("insert into t values(1)")
            same(base.execute("select count(*) from t").fetchone(), (21,))
            same(base.execute("pragma integrity_check").fetchone(), ("ok",))
    world.child(work)


@check("SQLite with a write-ahead log: works where mappings may be shared, and is refused cleanly elsewhere", *CLASSES)
def wal(world, name):
    def work():
        path = world.mount / name / "wal.db"
        base = sqlite3.connect(path, isolation_level=None)
        if name in GUARDED:
            base.execute("create table t(a)")
            try:
                base.execute("pragma journal_mode=wal")
                base.execute("insert into t values(1)")
                raise Failure("a write-ahead log works without shared mappings")
            except sqlite3.OperationalError:
                pass
            base.close()
            base = sqlite3.connect(path, isolation_level=None)
            base.execute("pragma locking_mode=exclusive")
        same(base.execute("pragma journal_mode=wal").fetchone(), ("wal",))
        base.execute("create table if not exists t(a)")
        base.executemany("insert into t values(?)", [(one,) for one in range(50)])
        same(base.execute("select count(*) from t").fetchone(), (50,))
        same(base.execute("pragma integrity_check").fetchone(), ("ok",))
    world.child(work)


def cargo(world, name):
    # Of guarded classes it has the sources alone: it maps what it makes, and shares the mapping.
    place, made = world.mount / name / "crate", world.mount / (name if name in CACHED else "C") / f"built-of-{name}"
    def make():
        (place / "src").mkdir(parents=True)
        (place / "Cargo.toml").write_text('[package]\nname = "tried"\nversion = "1.0.0"\nedition = "2021"\n')
        (place / "src/lib.rs").write_text("pub fn count() -> u32 { 41 }\n")
        (place / "src/main.rs").write_text('fn main() { println!("{}", tried::count() + 1) }\n')
    def build(*words):
        return world.run("cargo", *words, "--offline", cwd=place, environment={"CARGO_TARGET_DIR": str(made)})
    world.child(make)
    same(build("run").stdout, "42\n")
    require("Compiling" not in build("build").stderr, "it builds what is there")
    world.child(lambda: (place / "src/lib.rs").write_text("pub fn count() -> u32 { 42 }\n"))
    same(build("run").stdout, "43\n")
    if name in GUARDED:
        result = world.run("cargo", "build", "--offline", check=False, cwd=place)
        require(result.returncode != 0 and "No such device" in result.stderr, "the page of documents is too hard on the mount")


BUILDS = [(f"cargo builds ({name})", cargo, name) for name in CLASSES]
