"""Listens where somebody else should, and says how many bytes it is told: listen.py PATH"""
import os, signal, socket, sys

heard = 0
signal.signal(signal.SIGTERM, lambda *_: (print(heard, flush=True), os._exit(0)))
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listener.listen(8)
while True:
    stream, _ = listener.accept()
    heard += len(stream.recv(1 << 16))
    stream.close()
