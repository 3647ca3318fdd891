"""A stand-in for systemd-logind, for tests of what listens to it.

It is started with the address of a bus and takes the name org.freedesktop.login1 there. Orders come on standard input,
one a line; each is answered with a line on standard output, once it is carried out:

    session ID UID [CLASS]   a session begins
    own ID                   the session that callers belong to; without this order they belong to none
    lock ID, unlock ID       ask the session for it, as "loginctl lock-session" does
    screen ID true|false     the desktop says whether its screen is locked
    leave ID                 the person leaves while a process stays; logind sends no signal of that
    remove ID                the session ends
    sleep true|false         the system is about to sleep, or awake again
    shutdown true|false      the system is about to shut down, or does not after all
    inhibitors [COUNT]       how many there are, now or as soon as there are that many
    fake ID                  another program sends everything that would lock the session, to all and to each caller
"""

import os
import select
import sys

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = "org.freedesktop.login1"
MANAGER_PATH = "/org/freedesktop/login1"
MANAGER_INTERFACE = "org.freedesktop.login1.Manager"
SESSION = "org.freedesktop.login1.Session"
PROPERTIES = "org.freedesktop.DBus.Properties"
BUS = "org.freedesktop.DBus"


def send(connection, path, interface, member, signature="", *arguments, to=None):
    """Sends a signal, to everybody or to one connection."""
    message = dbus.lowlevel.SignalMessage(path, interface, member)
    message.append(*arguments, signature=signature)
    if to:
        message.set_destination(to)
    connection.send_message(message)


class Session(dbus.service.Object):
    def __init__(self, connection, identifier, user, kind):
        self.identifier = identifier
        self.user = user
        self.path = f"{MANAGER_PATH}/session/{identifier}"
        self.properties = {"Class": kind, "State": "active", "LockedHint": False}
        super().__init__(connection, self.path)

    @dbus.service.method(PROPERTIES, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        return self.properties[name]


class Manager(dbus.service.Object):
    def __init__(self, connection, address):
        super().__init__(connection, MANAGER_PATH)
        self.bus = connection
        self.stranger = dbus.bus.BusConnection(address)
        self.sessions = {}
        self.own_session = None
        self.inhibitors = []
        self.callers = set()

    # What it is asked over the bus.

    @dbus.service.method(MANAGER_INTERFACE, in_signature="s", out_signature="o", sender_keyword="sender")
    def GetSession(self, identifier, sender=None):
        self.callers.add(sender)
        if not identifier and self.own_session is None:
            raise dbus.DBusException("the caller has no session", name=f"{MANAGER}.NoSessionForPID")
        session = self.sessions.get(identifier or self.own_session)
        if session is None:
            raise dbus.DBusException(f"no session {identifier}", name=f"{MANAGER}.NoSuchSession")
        return session.path

    @dbus.service.method(MANAGER_INTERFACE, out_signature="a(susso)")
    def ListSessions(self):
        return [(each.identifier, each.user, "somebody", "seat0", each.path) for each in self.sessions.values()]

    @dbus.service.method(MANAGER_INTERFACE, in_signature="ssss", out_signature="h")
    def Inhibit(self, what, who, why, mode):
        if (what, mode) != ("sleep", "delay"):
            raise dbus.DBusException(f"inhibits {what} in mode {mode}", name=f"{BUS}.Error.InvalidArgs")
        ours, theirs = os.pipe()
        self.inhibitors.append(ours)
        answer = dbus.types.UnixFd(theirs)
        os.close(theirs)
        return answer

    # What a test orders.

    def session(self, identifier, user, kind="user"):
        session = Session(self.bus, identifier, dbus.UInt32(user), kind)
        self.sessions[identifier] = session
        send(self.bus, MANAGER_PATH, MANAGER_INTERFACE, "SessionNew", "so", identifier, session.path)

    def own(self, identifier):
        self.own_session = identifier

    def lock(self, identifier):
        send(self.bus, self.sessions[identifier].path, SESSION, "Lock")

    def unlock(self, identifier):
        send(self.bus, self.sessions[identifier].path, SESSION, "Unlock")

    def screen(self, identifier, flag):
        session = self.sessions[identifier]
        session.properties["LockedHint"] = flag == "true"
        changed = dbus.Dictionary({"LockedHint": flag == "true"}, signature="sv")
        send(self.bus, session.path, PROPERTIES, "PropertiesChanged", "sa{sv}as", SESSION, changed, [])

    def leave(self, identifier):
        self.sessions[identifier].properties["State"] = "closing"

    def remove(self, identifier):
        session = self.sessions.pop(identifier)
        session.remove_from_connection()
        send(self.bus, MANAGER_PATH, MANAGER_INTERFACE, "SessionRemoved", "so", identifier, session.path)

    def sleep(self, flag):
        send(self.bus, MANAGER_PATH, MANAGER_INTERFACE, "PrepareForSleep", "b", flag == "true")

    def shutdown(self, flag):
        send(self.bus, MANAGER_PATH, MANAGER_INTERFACE, "PrepareForShutdown", "b", flag == "true")

    def open_inhibitors(self):
        """Counts those whose other end nobody has closed."""
        poll = select.poll()
        for ours in self.inhibitors:
            poll.register(ours, 0)
        for ours, _ in poll.poll(0):
            os.close(ours)
            self.inhibitors.remove(ours)
        return len(self.inhibitors)

    def fake(self, identifier):
        path = self.sessions[identifier].path
        for caller in [None, *self.callers]:
            send(self.stranger, path, SESSION, "Lock", to=caller)
            send(self.stranger, MANAGER_PATH, MANAGER_INTERFACE, "PrepareForSleep", "b", True, to=caller)
            send(self.stranger, MANAGER_PATH, MANAGER_INTERFACE, "PrepareForShutdown", "b", True, to=caller)
            send(self.stranger, MANAGER_PATH, MANAGER_INTERFACE, "SessionRemoved", "so", identifier, path, to=caller)
            send(self.stranger, "/org/freedesktop/DBus", BUS, "NameOwnerChanged", "sss", MANAGER, ":1.1", "", to=caller)
        # Once this is answered the bus has passed on what was sent before.
        self.stranger.call_blocking(BUS, "/org/freedesktop/DBus", BUS, "GetId", "", ())


class Orders:
    """Standard input and output."""

    def __init__(self, manager, loop):
        self.manager = manager
        self.loop = loop
        GLib.io_add_watch(0, GLib.IO_IN | GLib.IO_HUP, self.read)

    def read(self, *_):
        line = sys.stdin.readline().split()
        if not line:
            self.loop.quit()
            return False
        order, *arguments = line
        if order == "inhibitors":
            self.count(*arguments)
        else:
            getattr(self.manager, order)(*arguments)
            self.manager.bus.flush()
            self.answer("done")
        return True

    def count(self, wanted=None):
        def check():
            count = self.manager.open_inhibitors()
            if wanted is not None and count != int(wanted):
                return True
            self.answer(count)
            return False

        if check():
            GLib.timeout_add(5, check)

    @staticmethod
    def answer(text):
        print(text, flush=True)


def main():
    dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
    address = sys.argv[1]
    connection = dbus.bus.BusConnection(address)
    manager = Manager(connection, address)
    # Kept, because it is given up when nobody has it any more.
    name = dbus.service.BusName(MANAGER, connection)
    loop = GLib.MainLoop()
    orders = Orders(manager, loop)
    orders.answer(name.get_name())
    loop.run()


main()
