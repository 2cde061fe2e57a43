"""Find free ports for SUTs that will listen. No port is assigned to two SUTs."""

from __future__ import annotations

import errno
import os
import socket
import threading

from harness.errors import HarnessError

RPC_PORT = 2103
RPC_PORT_STEP = 11
"""The default port of qmcomm, and the increment from a port that is in use to the next port to try (MS-MQQP
3.1.4.8).
"""
READ_PORT_OFFSET = 2
"""The port of qm2qm (by default 2105) minus the port of qmcomm."""
_PORT_STEPS = 2_000
_FIRST_PORT = RPC_PORT + (_PORT_STEPS + 1) * RPC_PORT_STEP
_MAX_PORTS = 8_000
"""The number of ports to search. All of these ports are below the ephemeral ports, which the operating system may
assign to any program.
"""
_PORTS_APART = 61
"""The distance between the ports at which two processes with consecutive ids begin their search."""

_GIVEN_PORTS: set[int] = set()
_PORT_LOCK = threading.Lock()


def free_port(address: str, kind: socket.SocketKind) -> int:
    """Return a port on which no program listens. The port was not assigned to another SUT, which possibly does not
    listen yet. Raise HarnessError if no port is free.
    """
    for turn in range(_MAX_PORTS):
        port = _FIRST_PORT + (_PORTS_APART * os.getpid() + turn) % _MAX_PORTS
        if _reserve_ports(address, kind, port):
            return port
    raise HarnessError(
        f"no port from {_FIRST_PORT} to {_FIRST_PORT + _MAX_PORTS - 1} is free on {address}: give ports in the SUT file"
    )


def find_free_rpc_port(address: str) -> int:
    """Return a free port for qmcomm for which the corresponding port for qm2qm is also free. The search adds
    multiples of 11 to the default port (MS-MQQP 3.1.4.8). Each process begins the search at a different port, so
    that two processes rarely try the same port.
    """
    for turn in range(_PORT_STEPS):
        port = RPC_PORT + RPC_PORT_STEP * ((os.getpid() + turn) % _PORT_STEPS)
        if _reserve_ports(address, socket.SOCK_STREAM, port, port + READ_PORT_OFFSET):
            return port
    return free_port(address, socket.SOCK_STREAM)


def _reserve_ports(address: str, kind: socket.SocketKind, *ports: int) -> bool:
    """Reserve all given ports, and return True. If one of them is in use or already reserved, reserve none and
    return False.
    """
    with _PORT_LOCK:
        if not _GIVEN_PORTS.isdisjoint(ports) or not all(_is_free(address, kind, port) for port in ports):
            return False
        _GIVEN_PORTS.update(ports)
        return True


def _is_free(address: str, kind: socket.SocketKind, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as probe:
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True
