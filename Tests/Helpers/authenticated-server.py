#!/usr/bin/env python3
"""Serves the files of a directory over HTTP on a port of this machine, to those alone who authenticate.

  authenticated-server.py DIRECTORY ACCEPTED

ACCEPTED is a file with the values of the Authorization header that are let in, one a line: it is read for each request. The
port is the first line of the output; after it comes a line for each request, with its status and path. Ends with its input.
"""
import http.server, os, pathlib, sys, threading

directory, accepted = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *arguments):
        super().__init__(*arguments, directory=directory)

    def do_GET(self):
        if self.headers.get("Authorization") in pathlib.Path(accepted).read_text().splitlines():
            return super().do_GET()
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="test"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, code="-", size="-"):
        print(int(code), self.path, flush=True)

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
os._exit(0)
