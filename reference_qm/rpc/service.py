"""Defines an RPC service: a set of interfaces, and the state that all associations with its clients share."""

from __future__ import annotations

from collections.abc import Iterable

from reference_qm.rpc.authentication import NO_SECURITY, ServerSecurity
from reference_qm.rpc.groups import AssociationGroups
from reference_qm.rpc.interfaces.method import Interface
from reference_qm.rpc.limits import AssociationLimits
from reference_qm.rpc.syntaxes import NDR64, SyntaxId
from reference_qm.surface.entropy import Entropy


class RpcService:
    """An RPC service: a set of interfaces, and the state that all associations with its clients share.

    ``preferred``: the transfer syntax that is accepted if a client proposes it (MS-RPCE 3.3.3.1.3). ``entropy``:
    the source of association group identifiers and context handles; a client must not be able to guess them.
    ``security``: the authentication of clients. ``strict``: whether values outside the ranges of the IDL are
    refused.
    """

    def __init__(
        self,
        interfaces: Iterable[Interface],
        entropy: Entropy,
        limits: AssociationLimits | None = None,
        preferred: SyntaxId = NDR64,
        security: ServerSecurity = NO_SECURITY,
        *,
        strict: bool = True,
    ) -> None:
        self.interfaces = tuple(interfaces)
        self.groups = AssociationGroups(entropy)
        self.limits = limits or AssociationLimits()
        self.preferred = preferred
        self.security = security
        self.strict = strict
