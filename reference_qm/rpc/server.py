"""Implements the server's side of DCE/RPC, without I/O: the server makes an association for each connection. Spec:
MS-RPCE 3.3.3.3; C706 9.3.
"""

from __future__ import annotations

from reference_qm.rpc.association import Association
from reference_qm.rpc.service import RpcService
from reference_qm.surface.clock import Now


class RpcServer(RpcService):
    """A service that accepts connections."""

    def accept(self, remote_host: str, sec_addr: str, now: Now) -> Association:
        """Accept a new connection from ``remote_host`` to the port ``sec_addr`` (both text)."""
        return Association(self, remote_host, sec_addr, now)
