"""``HOST:PORT`` as a person writes it."""

from __future__ import annotations

from harness.errors import UsageError
from reference_qm.surface.inputs import Endpoint

HIGHEST_PORT = 0xFFFF


def endpoint_of(what: str, text: str, lowest: int = 1) -> Endpoint:
    """Return an endpoint; the UsageError names the error in ``what``. ``lowest``: 0 if a free port may be selected."""
    host, _, port = text.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()):
        raise UsageError(f"{what}: it must be HOST:PORT")
    if not lowest <= int(port) <= HIGHEST_PORT:
        raise UsageError(f"{what}: the port is {port}; it must be {lowest} to {HIGHEST_PORT}")
    return Endpoint(host.removeprefix("[").removesuffix("]"), int(port))
