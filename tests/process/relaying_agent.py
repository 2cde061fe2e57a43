"""An agent that is a relay: what comes on standard input goes to a control channel at an address, answers come back.

Usage: relaying_agent.py HOST:PORT [REQUESTS]. After so many requests it ends the program that carries it, as a network
does that goes away. It needs nothing but the standard library, so that ``ssh`` carries it anywhere.
"""

import os
import signal
import socket
import sys
import threading


def main() -> None:
    host, _, port = sys.argv[1].rpartition(":")
    with socket.create_connection((host, int(port))) as control:
        threading.Thread(target=take_requests, args=(control,), daemon=True).start()
        while data := control.recv(65_536):
            write(data)


def take_requests(control: socket.socket) -> None:
    """Pass requests on; their end is the end of the conversation."""
    left = int(sys.argv[2]) if len(sys.argv) > 2 else None
    while data := os.read(0, 65_536):
        control.sendall(data)
        if left is not None and (left := left - data.count(b"\n")) <= 0:
            os.kill(os.getppid(), signal.SIGKILL)
    control.shutdown(socket.SHUT_WR)


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
