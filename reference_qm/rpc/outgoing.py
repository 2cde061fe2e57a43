"""Defines the outputs of the client's side of DCE/RPC: the results of its association and calls. Spec: C706 9.3,
12.6.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_qm.rpc.interfaces.method import Interface, Method


class OutgoingCall:
    """A call that the server has not answered yet.

    ``arguments``: the [in] parameters by name. ``call_id`` is 0 until the call is sent: without PFC_CONC_MPX, each
    call waits for the answer to the previous call (MS-RPCE 3.3.1.5.8). ``stub``: the received part of the answer.
    """

    __slots__ = ("arguments", "call_id", "cancelled", "interface", "method", "opnum", "stub")

    def __init__(self, interface: Interface, opnum: int, arguments: Mapping[str, Any]) -> None:
        self.interface = interface
        self.opnum = opnum
        self.method: Method = interface.methods[opnum]
        self.arguments = arguments
        self.call_id = 0
        self.cancelled = False
        self.stub = bytearray()


@dataclass(frozen=True, slots=True)
class SendPdusToServer:
    """The output that contains complete PDUs to send on the connection."""

    data: bytes


@dataclass(frozen=True, slots=True)
class AssociationBound:
    """The server accepted the association and at least one interface, so calls may begin."""


@dataclass(frozen=True, slots=True)
class CallReturned:
    """A call succeeded. ``results`` contains its [out] parameters and ``Return``, by name."""

    call: OutgoingCall
    results: dict[str, Any]


@dataclass(frozen=True, slots=True)
class CallFailed:
    """A call failed. ``status``: the status of the fault, u32, or None if the server sent no fault."""

    call: OutgoingCall
    error: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class AssociationEnded:
    """The association ended, and the connection must be closed. The failures of the pending calls precede this
    output.
    """

    reason: str


ClientOutput = SendPdusToServer | AssociationBound | CallReturned | CallFailed | AssociationEnded
