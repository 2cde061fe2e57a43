"""Parse endpoints that a user writes as ``HOST:PORT``."""

from __future__ import annotations

from harness.errors import UsageError
from reference_qm.surface.inputs import Endpoint

HIGHEST_PORT = 0xFFFF


def parse_endpoint(what: str, text: str, lowest: int = 1) -> Endpoint:
    """Return the endpoint that a text names. For an invalid text, raise UsageError with a message that begins with
    ``what``. ``lowest`` is the lowest permitted port; if it is 0, port 0 is permitted, which requests a free port.
    """
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise UsageError(f"{what}: the address must be HOST:PORT")
    if not lowest <= int(port) <= HIGHEST_PORT:
        raise UsageError(f"{what}: the port is {port}; the port must be {lowest} to {HIGHEST_PORT}")
    return Endpoint(host.removeprefix("[").removesuffix("]"), int(port))
