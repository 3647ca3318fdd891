"""A stand-in for polkit, on a bus of its own, for tests of what asks it:

    polkit.py DIRECTORY [missing]

The directory, which is empty, gets the bus's socket. The first line on standard output is the bus's address. Orders come on
standard input, one a line; each is answered with a line. Everything ends when standard input ends.

    answer WORD      what is answered from now on: yes, no, dismissed, nobody (there is no agent), refuse, never
    question         the last one: action, process, its start, its user, flags
    left             answers once the connection that asked the last question is closed
"""

import ctypes
import os
import signal
import subprocess
import sys

import dbus
import dbus.bus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.PolicyKit1"

# Everybody may own and send everything: what the system's bus forbids is not what is relied on.
CONFIGURATION = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""

ANSWERS = {
    "yes": (True, False, {}),
    "no": (False, False, {}),
    "dismissed": (False, True, {"polkit.dismissed": "true"}),
    "nobody": (False, True, {}),
}


class Refusal(dbus.DBusException):
    _dbus_error_name = f"{NAME}.Error.NotAuthorized"


class Authority(dbus.service.Object):
    def __init__(self, connection):
        super().__init__(connection, "/org/freedesktop/PolicyKit1/Authority")
        self.word, self.question, self.asker = "yes", "none", None

    @dbus.service.method(
        f"{NAME}.Authority", in_signature="(sa{sv})sa{ss}us", out_signature="(bba{ss})", sender_keyword="sender",
        async_callbacks=("answer", "fail"))
    def CheckAuthorization(self, subject, action, details, flags, cancellation, sender, answer, fail):
        kind, values = subject
        self.asker = sender
        self.question = " ".join(map(str, (
            action, kind, values["pid"], values["start-time"], values["uid"], flags, len(details), f"'{cancellation}'")))
        if self.word == "refuse":
            fail(Refusal("only trusted callers may ask"))
        elif self.word != "never":
            is_authorized, is_challenge, told = ANSWERS[self.word]
            answer((is_authorized, is_challenge, dbus.Dictionary(told, signature="ss")))


class Machine:
    def __init__(self, directory, is_missing):
        with open(f"{directory}/bus.conf", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(directory=directory).lstrip())
        self.daemon = subprocess.Popen(
            ["/usr/bin/dbus-daemon", "--nofork", "--print-address=1", f"--config-file={directory}/bus.conf"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)
        self.address = self.daemon.stdout.readline().decode().strip()
        self.bus = dbus.bus.BusConnection(self.address)
        self.authority = Authority(self.bus)
        # Kept, because it is given up when nobody has it any more.
        self.name = None if is_missing else dbus.service.BusName(NAME, self.bus)
        self.loop = GLib.MainLoop()
        self.say(self.address)
        GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, self.read)

    def read(self, *_):
        line = sys.stdin.readline().split()
        if not line:
            self.loop.quit()
            return False
        if line[0] == "answer":
            self.authority.word = line[1]
            self.say("done")
        elif line[0] == "question":
            self.say(self.authority.question)
        elif line[0] == "left":
            GLib.timeout_add(5, self.look)
        return True

    def look(self):
        if self.bus.name_has_owner(self.authority.asker):
            return True
        self.say("done")
        return False

    @staticmethod
    def say(text):
        print(text, flush=True)


def end_with_parent():
    """Has the kernel kill this process when the one that started it is gone."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
machine = Machine(sys.argv[1], sys.argv[2:] == ["missing"])
machine.loop.run()
machine.daemon.kill()
machine.daemon.wait()
