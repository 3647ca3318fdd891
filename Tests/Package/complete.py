"""Types a line and a tab into an interactive bash, and waits until it shows what the line is to become."""
import os, pty, select, sys, time

typed, expected = sys.argv[1:]
process, terminal = pty.fork()
if process == 0:
    os.environ.update(TERM="dumb", PS1="", HISTFILE="/dev/null")
    os.execvp("bash", ["bash", "-i"])
shown, end, sent = "", time.monotonic() + 90, False
while expected not in shown:
    if time.monotonic() > end:
        sys.exit(f"the shell shows: {shown}")
    if select.select([terminal], [], [], 0.5)[0]:
        shown += os.read(terminal, 4096).decode(errors="replace")
    elif shown and not sent:
        # It has shown its prompt, and waits.
        os.write(terminal, f"{typed}\t".encode())
        sent, shown = True, ""
os.write(terminal, b"\x03exit\n")
