"""A person at a terminal, with polkit's agent for terminals, who wants the first passcode of their keychain.

    consent.py USER PASSWORD STATUS PASSCODE

PASSWORD is what the person types when the agent asks for theirs. Fails unless it was asked for, and the command ends with
STATUS.
"""

import os
import pty
import select
import sys
import termios
import time

user, password, expected, passcode = sys.argv[1:]
# polkit knows an agent by the process that it asks for: the command has the number of the shell that has started it. The agent
# closes its output when polkit knows it.
script = f"""
printf '%s\\n%s\\n' '{passcode}' '{passcode}' >words
bash -c 'cat < <(exec pkttyagent --notify-fd 1 --process $$); exec keychainctl passcode set <words'
echo "ended with $?."
pkill -u {user} pkttyagent; rm words
"""
child, terminal = pty.fork()
if child == 0:
    # "-c" would take the terminal away.
    os.execvp("su", ["su", "-l", user, "--session-command", script])
shown, seen, asked, end = "", 0, 0, time.monotonic() + 240
while "ended with" not in shown or not shown.rstrip().endswith("."):
    if time.monotonic() > end:
        sys.exit(f"it does not end: {shown}")
    if not select.select([terminal], [], [], 1)[0]:
        continue
    try:
        shown += os.read(terminal, 4096).decode(errors="replace")
    except OSError:
        break
    if shown[seen:].rstrip().endswith("Password:"):
        # What is typed while the terminal still shows it is thrown away.
        while termios.tcgetattr(terminal)[3] & termios.ECHO and time.monotonic() < end:
            time.sleep(0.05)
        seen, asked = len(shown), asked + 1
        os.write(terminal, f"{password}\n".encode())
print(shown)
if asked == 0:
    sys.exit("nobody was asked")
if f"ended with {expected}." not in shown:
    sys.exit(f"it should end with {expected}")
