"""An agent that is only a relay: it sends each line of standard input to a control channel, and prints the answers.

Usage: relaying_agent.py HOST:PORT [REQUESTS]. After REQUESTS requests it kills the program that started it, as if the
network broke. It needs only the standard library, so ``ssh`` can start it on any machine.
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
    """Forward requests to the control channel; end the conversation when the requests end."""
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
