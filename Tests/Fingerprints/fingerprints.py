"""A fingerprint reader, and a person at it, for tests of what uses one.

It runs the real fprintd with the virtual reader of libfprint, on a bus of its own, beside a stand-in for polkit:

    fingerprints.py DIRECTORY running|on-demand|without-reader|missing

The directory, which is empty, gets the bus's socket, the reader's and what fprintd keeps. The word says how fprintd is
found: it runs; it is started by whoever asks for it; it has no reader; there is none.

The first line on standard output is the bus's address. Orders come on standard input, one a line; each is answered with
a line, once it is carried out.

    enrol FINGER PRINT       the person enrols a finger; PRINT is what the reader sees of it
    delete FINGER            ... and deletes it
    touch PRINT              ... touches the reader, as soon as somebody waits for that. What comes next comes after the
                             next finger is waited for
    retry general|short|centre|remove       ... does so, and the reader cannot see well enough
    break                    the reader fails when somebody next waits for a finger
    unplug                   it is unplugged
    scan-type press|swipe    what kind of reader it is; at first one for swiping
    claim, release           another program uses it
    allow ACTION...          what polkit allows, and nothing else. At first it allows everything
    fake STATUS              another program says, to each connection and to all, that the reader has STATUS, and that
                             fprintd has ended
    kill                     fprintd is killed
    stop                     everything ends. So it does when standard input ends
"""

import ctypes
import os
import signal
import socket
import subprocess
import sys

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

BUS = "org.freedesktop.DBus"
FPRINT = "net.reactivated.Fprint"
MANAGER_PATH = "/net/reactivated/Fprint/Manager"
DEVICE = "net.reactivated.Fprint.Device"
ACTIONS = [f"net.reactivated.fprint.device.{each}" for each in ("verify", "enroll", "setusername")]
DRIVER = "virtual_device_storage"
RETRIES = {"general": 0, "short": 1, "centre": 2, "remove": 3}
ERROR_GENERAL = 0

# A virtual reader gives up when nothing happens for half a second. A real one waits.
PATIENCE_MILLISECONDS = 100

# Everybody may own and send everything: what the system's bus forbids is not what is relied on.
BUS_CONFIGURATION = """
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
    "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <listen>unix:path={directory}/bus</listen>
  <auth>EXTERNAL</auth>
  <servicedir>{directory}/services</servicedir>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
"""


def end_with_parent():
    """Has the kernel kill this process when the one that started it is gone."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def take_precedence():
    """A virtual reader gives up if it hears nothing for half a second, which on a busy machine is soon over."""
    try:
        os.nice(-10)
    except PermissionError:
        pass  # Then it has to do without: only who may do so gets it.


def fprintd_program():
    for folder in ("/usr/libexec", "/usr/lib/fprintd"):
        if os.path.exists(f"{folder}/fprintd"):
            return f"{folder}/fprintd"
    sys.exit("fprintd is not installed")


class Authority(dbus.service.Object):
    """The part of polkit that fprintd asks."""

    NAME = "org.freedesktop.PolicyKit1"

    def __init__(self, connection, allowed_file):
        super().__init__(connection, "/org/freedesktop/PolicyKit1/Authority")
        self.allowed_file = allowed_file

    @dbus.service.method(f"{NAME}.Authority", in_signature="(sa{sv})sa{ss}us", out_signature="(bba{ss})")
    def CheckAuthorization(self, subject, action, details, flags, cancellation):
        with open(self.allowed_file, encoding="utf-8") as file:
            is_allowed = action in file.read().split()
        return (is_allowed, False, dbus.Dictionary(signature="ss"))

    @classmethod
    def start(cls, address, allowed_file):
        """Serves in a process of its own: fprintd waits for it while others wait for fprintd."""
        is_ready, tell = os.pipe()
        process = os.fork()
        if process == 0:
            end_with_parent()
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            connection = dbus.bus.BusConnection(address)
            name = dbus.service.BusName(cls.NAME, connection)
            cls(connection, allowed_file)
            os.write(tell, name.get_name().encode())
            GLib.MainLoop().run()
        os.read(is_ready, 1)
        return process


class Reader:
    """The virtual reader's own socket, which is there while the reader is claimed."""

    def __init__(self, path):
        self.path = path

    def send(self, command):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(30)
            connection.connect(self.path)
            connection.sendall(command.encode())
            # It closes the connection once it has the command.
            connection.recv(1)

    def poke(self):
        """Says that nothing happens, so that it goes on waiting."""
        try:
            self.send("FINGER 0")
        except (ConnectionError, FileNotFoundError):
            pass  # Nobody claims it any more.


class Person:
    """Does what was ordered as soon as the reader waits for a finger."""

    def __init__(self, connection, reader):
        self.bus = connection
        self.reader = reader
        self.is_waited_for = False
        self.plans = []
        connection.add_signal_receiver(self.selected, "VerifyFingerSelected", DEVICE, sender_keyword="sender")
        connection.add_signal_receiver(self.status, "VerifyStatus", DEVICE, sender_keyword="sender")
        GLib.timeout_add(PATIENCE_MILLISECONDS, self.idle)

    def plan(self, command):
        self.plans.append(command)
        self.act()

    def act(self):
        if self.is_waited_for and self.plans:
            self.is_waited_for = False
            self.reader.send(self.plans.pop(0))

    def selected(self, finger, sender):
        self.hear(True, sender)

    def status(self, result, is_done, sender):
        self.hear(not is_done, sender)

    def hear(self, is_waited_for, sender):
        # Not what the other program makes up.
        if self.bus.name_has_owner(FPRINT) and sender == self.bus.get_name_owner(FPRINT):
            self.is_waited_for = is_waited_for
            self.act()

    def idle(self):
        if self.is_waited_for:
            self.reader.poke()
        return True


class Machine:
    def __init__(self, directory, mode):
        self.directory = directory
        self.fprintd = None
        self.allowed_file = f"{directory}/allowed"
        self.allow(*ACTIONS)
        os.makedirs(f"{directory}/services")
        if mode == "on-demand":
            with open(f"{directory}/services/{FPRINT}.service", "w", encoding="utf-8") as file:
                file.write(f"[D-BUS Service]\nName={FPRINT}\nExec={fprintd_program()} --no-timeout\n")
        environment = self.environment(has_reader=mode != "without-reader")
        self.address = self.start_bus(environment)
        self.authority = Authority.start(self.address, self.allowed_file)
        self.bus = dbus.bus.BusConnection(self.address)
        self.bus.set_exit_on_disconnect(False)
        self.stranger = dbus.bus.BusConnection(self.address)
        self.stranger.set_exit_on_disconnect(False)
        self.reader = Reader(f"{directory}/reader")
        self.person = Person(self.bus, self.reader)
        if mode in ("running", "without-reader"):
            self.start_fprintd(environment)

    def environment(self, has_reader):
        driver = DRIVER if has_reader else "none"
        return {
            **os.environ,
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.directory}/bus",
            "STATE_DIRECTORY": f"{self.directory}/state",
            "FP_VIRTUAL_DEVICE_STORAGE": f"{self.directory}/reader",
            # The same under the names that older and newer releases look at.
            "FP_DRIVERS_WHITELIST": driver,
            "FP_DRIVERS_ALLOWLIST": driver,
        }

    def start_bus(self, environment):
        configuration = f"{self.directory}/bus.conf"
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(BUS_CONFIGURATION.format(directory=self.directory).lstrip())
        self.daemon = subprocess.Popen(
            ["/usr/bin/dbus-daemon", "--nofork", "--print-address=1", f"--config-file={configuration}"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=end_with_parent)
        return self.daemon.stdout.readline().decode().strip()

    def start_fprintd(self, environment):
        loop = GLib.MainLoop()
        watch = self.bus.watch_name_owner(FPRINT, lambda owner: owner and loop.quit())
        self.fprintd = subprocess.Popen(
            [fprintd_program(), "--no-timeout"], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)
        loop.run()
        watch.cancel()

    # Asking fprintd. It may ask the stand-in for polkit and the person first, so nothing here blocks.

    def call(self, path, interface, member, *arguments, connection=None):
        loop = GLib.MainLoop()
        answers = []

        def end(*values):
            answers.extend(values)
            loop.quit()

        proxy = (connection or self.bus).get_object(FPRINT, path, introspect=False)
        proxy.get_dbus_method(member, interface)(*arguments, reply_handler=end, error_handler=end, timeout=30)
        loop.run()
        if answers and isinstance(answers[0], Exception):
            raise answers[0]
        return answers

    def device(self):
        return self.call(MANAGER_PATH, f"{FPRINT}.Manager", "GetDefaultDevice")[0]

    def ask(self, member, *arguments, connection=None):
        return self.call(self.device(), DEVICE, member, *arguments, connection=connection)

    # What a test orders.

    def enrol(self, finger, seen):
        self.ask("Claim", "")
        self.reader.send("SET_ENROLL_STAGES 1")
        loop = GLib.MainLoop()
        results = []

        def status(result, is_done):
            results.append(result)
            if is_done:
                loop.quit()
            else:
                self.reader.send(f"SCAN {seen}")

        match = self.bus.add_signal_receiver(status, "EnrollStatus", DEVICE)
        self.ask("EnrollStart", finger)
        self.reader.send(f"SCAN {seen}")
        loop.run()
        match.remove()
        self.ask("EnrollStop")
        self.ask("Release")
        if results[-1] != "enroll-completed":
            raise RuntimeError(f"{finger} was not enrolled: {results}")

    def delete(self, finger):
        self.ask("Claim", "")
        self.ask("DeleteEnrolledFinger", finger)
        self.ask("Release")

    def touch(self, seen):
        self.person.plan(f"SCAN {seen}")

    def retry(self, kind):
        self.person.plan(f"RETRY {RETRIES[kind]}")

    def break_reader(self):
        self.person.plan(f"ERROR {ERROR_GENERAL}")

    def unplug(self):
        self.person.plan("UNPLUG")

    def scan_type(self, kind):
        self.ask("Claim", "")
        self.reader.send(f"SET_SCAN_TYPE {kind}")
        self.ask("Release")

    def claim(self):
        self.ask("Claim", "", connection=self.stranger)

    def release(self):
        self.ask("Release", connection=self.stranger)

    def allow(self, *actions):
        with open(f"{self.allowed_file}.new", "w", encoding="utf-8") as file:
            file.write("\n".join(actions))
        os.rename(f"{self.allowed_file}.new", self.allowed_file)

    def fake(self, status):
        path = self.device()
        names = [each for each in self.stranger.list_names() if each.startswith(":")]
        for name in [None, *names]:
            self.send(name, path, DEVICE, "VerifyStatus", "sb", status, True)
            self.send(name, "/org/freedesktop/DBus", BUS, "NameOwnerChanged", "sss", FPRINT, self.owner(), "")
        # Once this is answered the bus has passed on what was sent before.
        self.stranger.list_names()

    def owner(self):
        return self.bus.get_name_owner(FPRINT)

    def send(self, name, path, interface, member, signature, *values):
        """Sends a signal from the other program."""
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.append(*values, signature=signature)
        if name:
            message.set_destination(name)
        self.stranger.send_message(message)

    def kill(self):
        self.fprintd.kill()
        self.fprintd.wait()

    def stop(self):
        """Ends everything that was started; what the bus started ends with it."""
        if self.fprintd:
            self.kill()
        os.kill(self.authority, signal.SIGKILL)
        os.waitpid(self.authority, 0)
        self.daemon.kill()
        self.daemon.wait()


class Orders:
    """Standard input and output."""

    NAMES = {"break": "break_reader", "scan-type": "scan_type"}

    def __init__(self, machine, loop):
        self.machine = machine
        self.loop = loop

    def begin(self):
        GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, self.read)

    def read(self, *_):
        line = sys.stdin.readline().split()
        if not line or line == ["stop"]:
            self.loop.quit()
            return False
        order, *arguments = line
        try:
            getattr(self.machine, self.NAMES.get(order, order))(*arguments)
            self.answer("done")
        except Exception as error:  # The test is told, whatever it is.
            self.answer(f"failed: {error!r}".replace("\n", " "))
        return True

    @staticmethod
    def answer(text):
        print(text, flush=True)


def main():
    take_precedence()
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    machine = Machine(sys.argv[1], sys.argv[2])
    loop = GLib.MainLoop()
    orders = Orders(machine, loop)
    orders.begin()
    orders.answer(machine.address)
    loop.run()
    machine.stop()
    orders.answer("done")


main()
