"""Ports for SUTs that are about to listen: free now, and given to no other."""

from __future__ import annotations

import os
import socket
import threading

RPC_PORT = 2103
RPC_STEP = 11
"""The default port of qmcomm, and how far the next to try is from one in use (MS-MQQP 3.1.4.8)."""
READ_AFTER = 2
"""From the port of qmcomm to that of qm2qm, by default 2105."""
_STEPS = 2_000
"""Up to the ports that the system gives to anybody."""

_GIVEN: set[int] = set()
_GIVING = threading.Lock()


def free_port(address: str, kind: socket.SocketKind) -> int:
    """Return a port that nothing listens on and that was given to no other SUT, which may be about to listen."""
    while True:
        with _GIVING:
            port = _bound(address, kind, 0)
            if port is not None and port not in _GIVEN:
                _GIVEN.add(port)
                return port


def free_rpc_port(address: str) -> int:
    """Return a port for qmcomm that one for qm2qm follows: both are where steps of 11 lead from the default ports.

    Spec: MS-MQQP 3.1.4.8. Other processes begin to look elsewhere, so that two seldom want the same.
    """
    for turn in range(_STEPS):
        port = RPC_PORT + RPC_STEP * ((os.getpid() + turn) % _STEPS)
        both = {port, port + READ_AFTER}
        with _GIVING:
            if not both & _GIVEN and all(_bound(address, socket.SOCK_STREAM, one) for one in both):
                _GIVEN.update(both)
                return port
    return free_port(address, socket.SOCK_STREAM)


def _bound(address: str, kind: socket.SocketKind, port: int) -> int | None:
    """Bind a port, 0 for any, and return it; None when it is in use."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, kind) as probe:
        try:
            probe.bind((address, port))
        except OSError:
            if port == 0:
                raise
            return None
        return int(probe.getsockname()[1])
