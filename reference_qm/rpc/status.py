"""Defines the status codes of faults and the reasons of refusals. Spec: C706 12.6.3.1, N; MS-RPCE 2.2.2.4, 2.2.2.5,
3.1.1.5.5.
"""

from __future__ import annotations

from enum import IntEnum


class FaultStatus(IntEnum):
    """The status codes that this runtime sends. A dispatcher may send any code outside NEVER_SENT_FAULT_STATUSES."""

    ACCESS_DENIED = 0x00000005
    """ERROR_ACCESS_DENIED: the stub exceeds 4 MiB (MS-RPCE 3.3.3.5.4), or the authentication is missing or failed."""
    RPC_S_PROTOCOL_ERROR = 0x000006C0
    """The client proposes a second security context for a connection (MS-RPCE 3.3.1.5.4)."""
    RPC_S_UNKNOWN_AUTHN_SERVICE = 0x000006D3
    RPC_X_BAD_STUB_DATA = 0x000006F7
    """The octet stream is invalid (MS-RPCE 3.1.3.5.2, 3.1.1.5.2)."""
    RPC_S_SEC_PKG_ERROR = 0x00000721
    """The signature of a PDU is wrong."""
    NCA_S_FAULT_CANCEL = 0x1C00000D
    NCA_S_FAULT_UNSPEC = 0x1C000012
    NCA_S_FAULT_CONTEXT_MISMATCH = 0x1C00001A
    NCA_S_OP_RNG_ERROR = 0x1C010002
    NCA_S_UNK_IF = 0x1C010003
    NCA_S_PROTO_ERROR = 0x1C01000B
    NCA_S_SERVER_TOO_BUSY = 0x1C010014


NEVER_SENT_FAULT_STATUSES = frozenset(
    {
        0x00000000,
        0x80000001,
        0x80000002,
        0x80000003,
        0xC0000005,
        0xC0000006,
        0xC000001D,
        0xC0000096,
        0xC00000AA,
        0xC00000FD,
        0xC0000194,
        0xC0000235,
        0xC0000409,
        0xC0000420,
    }
)
"""The status codes that a server never sends in a fault (MS-RPCE 3.3.3.5.1)."""


class ProposalResult(IntEnum):
    """The values of p_cont_def_result_t. Spec: C706 12.6.3.1; MS-RPCE 2.2.2.4."""

    ACCEPTANCE = 0
    USER_REJECTION = 1
    PROVIDER_REJECTION = 2
    NEGOTIATE_ACK = 3


class ProviderReason(IntEnum):
    """The values of p_provider_reason_t. Spec: C706 12.6.3.1."""

    NOT_SPECIFIED = 0
    ABSTRACT_SYNTAX_NOT_SUPPORTED = 1
    PROPOSED_TRANSFER_SYNTAXES_NOT_SUPPORTED = 2
    LOCAL_LIMIT_EXCEEDED = 3


class RejectReason(IntEnum):
    """The values of p_reject_reason_t. Spec: C706 12.6.3.1; MS-RPCE 2.2.2.5."""

    NOT_SPECIFIED = 0
    LOCAL_LIMIT_EXCEEDED = 2
    PROTOCOL_VERSION_NOT_SUPPORTED = 4
    AUTHENTICATION_TYPE_NOT_RECOGNIZED = 8
    INVALID_CHECKSUM = 9
    """The security provider failed (MS-RPCE 2.2.2.5)."""
