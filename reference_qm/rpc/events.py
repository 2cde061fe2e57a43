"""Defines the outputs of the RPC runtime: events for the dispatcher of calls, and effects for the connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference_qm.rpc.association import Association
    from reference_qm.rpc.calls import Call
    from reference_qm.rpc.groups import ContextHandle


@dataclass(frozen=True, slots=True)
class CallReceived:
    """A call was received. The dispatcher carries it out, and answers it by ``call.respond`` or ``call.fault``, at
    once or later.
    """

    call: Call


@dataclass(frozen=True, slots=True)
class CallCancelled:
    """The client cancelled the call, which still needs an answer. Spec: C706 12.6.4.6."""

    call: Call


@dataclass(frozen=True, slots=True)
class CallOrphaned:
    """The client abandoned the call, so an answer would be lost. Spec: C706 12.6.4.8; MS-RPCE 3.3.3.7.1."""

    call: Call


@dataclass(frozen=True, slots=True)
class HandleRundown:
    """The last association of a client ended, and the client had not closed this context handle. Spec: MS-RPCE
    3.3.3.7.1; C706 5.1.6.
    """

    handle: ContextHandle


@dataclass(frozen=True, slots=True)
class SendBytes:
    """Send bytes on the connection of an association."""

    association: Association
    data: bytes


@dataclass(frozen=True, slots=True)
class CloseAssociation:
    """Close the connection after all bytes are sent. ``reason`` is one line that names the section."""

    association: Association
    reason: str


RpcEvent = CallReceived | CallCancelled | CallOrphaned | HandleRundown
RpcEffect = SendBytes | CloseAssociation
RpcOutput = RpcEvent | RpcEffect
