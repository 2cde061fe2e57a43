"""Parse endpoints that a user writes as ``HOST:PORT``."""

from __future__ import annotations

from harness.errors import UsageError
from reference_qm.surface.inputs import Endpoint

HIGHEST_PORT = 0xFFFF


def parse_endpoint(what: str, text: str, lowest: int = 1) -> Endpoint:
    """Return the endpoint that a text names; raise UsageError, whose message begins with ``what``, for an invalid text.
    ``lowest``: the lowest permitted port; 0 permits port 0, which requests a free port.
    """
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise UsageError(f"{what}: the address must be HOST:PORT")
    if not lowest <= int(port) <= HIGHEST_PORT:
        raise UsageError(f"{what}: the port is {port}; the port must be {lowest} to {HIGHEST_PORT}")
    return Endpoint(host.removeprefix("[").removesuffix("]"), int(port))
