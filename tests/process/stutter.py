"""Runs a program and stops it repeatedly, as an overloaded host does.

``stutter.py STOPPED EVERY COMMAND ...``: as soon as the program listens on a port, it is stopped for STOPPED seconds of
every EVERY seconds.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

LISTENS = "0A"
LOOK_S = 0.1


def listens(pid: int) -> bool:
    """Return whether a process listens on a TCP port."""
    try:
        sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir()}
        rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    except OSError:
        return False
    return any(row[3] == LISTENS and f"socket:[{row[9]}]" in sockets for row in rows)


def main() -> int:
    stopped_s, every_s, command = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    process = subprocess.Popen(command)
    while process.poll() is None and not over.wait(LOOK_S) and not listens(process.pid):
        pass
    while process.poll() is None and not over.is_set():
        if not over.wait(every_s - stopped_s) and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            over.wait(stopped_s)
            process.send_signal(signal.SIGCONT)
    if process.poll() is None:
        process.terminate()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main())
