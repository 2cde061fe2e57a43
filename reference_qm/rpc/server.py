"""The server's side of DCE/RPC without I/O: associations are made here. Spec: MS-RPCE 3.3.3.3; C706 9.3."""

from __future__ import annotations

from collections.abc import Iterable

from reference_qm.rpc.association import Association
from reference_qm.rpc.authentication import NO_SECURITY, ServerSecurity
from reference_qm.rpc.groups import Groups
from reference_qm.rpc.interfaces.method import Interface
from reference_qm.rpc.limits import Limits
from reference_qm.rpc.syntaxes import NDR64, SyntaxId
from reference_qm.surface.clock import Now
from reference_qm.surface.entropy import Entropy


class RpcServer:
    """The state that the associations of one set of interfaces share.

    ``preferred``: the transfer syntax that is accepted when a client proposes it (MS-RPCE 3.3.3.1.3). ``entropy``
    gives association group identifiers and context handles, which a client must not be able to guess.
    ``security``: what clients are authenticated with. ``strict``: hold values to the ranges that the IDL gives them.
    """

    def __init__(
        self,
        interfaces: Iterable[Interface],
        entropy: Entropy,
        limits: Limits | None = None,
        preferred: SyntaxId = NDR64,
        security: ServerSecurity = NO_SECURITY,
        *,
        strict: bool = True,
    ) -> None:
        self.interfaces = tuple(interfaces)
        self.groups = Groups(entropy)
        self.limits = limits or Limits()
        self.preferred = preferred
        self.security = security
        self.strict = strict

    def accept(self, remote_host: str, sec_addr: str, now: Now) -> Association:
        """Take a new connection from ``remote_host`` to the port ``sec_addr`` (both text)."""
        return Association(self, remote_host, sec_addr, now)
