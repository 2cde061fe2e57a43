"""Find free ports for SUTs that will listen. No port is assigned to two SUTs, not even by two processes of this
machine.
"""

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
_PORT_STEP_PER_PROCESS = 61
"""The distance between the ports at which two processes with consecutive ids begin their search."""

_RESERVATION_SOCKET_BY_PORT: dict[int, socket.socket] = {}
"""For each assigned port, the local socket that reserves it. The name of this socket contains the number of the port.
Linux lets only one process of a network namespace bind a name, and releases the name when the process ends.
"""
_PORT_LOCK = threading.Lock()


def free_port(address: str, kind: socket.SocketKind) -> int:
    """Return a port on which no program listens, and which is not reserved for a SUT that will listen later. The port
    stays reserved until this process ends. Raise HarnessError if no port is free.
    """
    for turn in range(_MAX_PORTS):
        port = _FIRST_PORT + (_PORT_STEP_PER_PROCESS * os.getpid() + turn) % _MAX_PORTS
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
        reserved: dict[int, socket.socket] = {}
        for port in ports:
            reservation = None if port in _RESERVATION_SOCKET_BY_PORT else _bind_reservation(port)
            if reservation is not None:
                reserved[port] = reservation
            if reservation is None or not _is_port_free(address, kind, port):
                for each in reserved.values():
                    each.close()
                return False
        _RESERVATION_SOCKET_BY_PORT.update(reserved)
        return True


def _bind_reservation(port: int) -> socket.socket | None:
    """Return the local socket that reserves a port, or None if another process has reserved this port."""
    reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        reservation.bind(f"\0mqconform-port-{port}")
    except OSError as error:
        reservation.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return reservation


def _is_port_free(address: str, kind: socket.SocketKind, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as probe:
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True
