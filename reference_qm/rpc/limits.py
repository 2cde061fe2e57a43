"""Defines the limits that apply to each RPC client."""

from __future__ import annotations

from dataclasses import dataclass

MUST_RECV_FRAG_SIZE = 1432
"""The PDU size in bytes that every implementation can receive (C706 12.6.3.1)."""
MAX_REQUEST_STUB_BYTES = 4 * 1024 * 1024
"""The maximum number of stub bytes of one request (MS-RPCE 3.3.3.5.4)."""


@dataclass(frozen=True, slots=True)
class AssociationLimits:
    """The limits on the resources that a client can use in one association. ``handles`` limits the open context handles
    of one association group.

    ``fragment_bytes``: the maximum size of a PDU, received or sent. ``stub_bytes``: the maximum size of the stub
    data of all unfinished requests. ``response_timeout_ms``: the time in which a client must complete a bind, a PDU
    or a fragmented request. ``auth_legs``: the maximum number of tokens that a client sends in one authentication.
    ``token_bytes``: the maximum size of a token.
    """

    fragment_bytes: int = 5840
    contexts: int = 64
    pending_calls: int = 64
    stub_bytes: int = 2 * MAX_REQUEST_STUB_BYTES
    handles: int = 1024
    response_timeout_ms: int = 30_000
    auth_legs: int = 6
    token_bytes: int = 5_000
