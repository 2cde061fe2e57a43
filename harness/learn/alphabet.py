"""Define the inputs for learning the state machine of a session. The inputs are packets of each kind, in the
variants that lead to different transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from harness.peer.conversation import RawConversation
from harness.peer.handshake import build_parameters_request, establish_request
from harness.peer.peer import Peer
from harness.wire.base import BaseHeader
from harness.wire.internal import InternalHeader, UnknownInternal

FOREIGN_GUID = UUID("6d71636f-6e66-4f72-8d00-00000000f0f0")
"""An identifier that belongs to no queue manager."""
UNKNOWN_PACKET_TYPE = 9
"""A value of InternalHeader.Flags.PT that MS-MQQB 2.2.1 does not define."""
INVALID_PACKET_BYTES = b"\x11" + bytes(15)
"""A sequence of 16 bytes that does not form a packet, because the version is wrong and the signature is missing."""

BuildPacket = Callable[[Peer, RawConversation], Any]
"""The type of functions that build the packet of an input, given the packets that were already sent on the
connection.
"""


def _build_session_ack(ahead: int = 0, messages: int = 0, recoverable: int = 0) -> BuildPacket:
    """Return a function that builds a SessionAck. Each argument is the error of one count in the packet: it is added to
    the correct value.
    """

    def build_ack(_: Peer, conversation: RawConversation) -> Any:
        sent = sum(frame.kind == "UserMessage" for frame in conversation.sent)
        counts: dict[str, Any] = {
            "UserMsgSequenceNumber": (sent + messages) & 0xFFFF,
            "RecoverableMsgSeqNumber": (sent + recoverable) & 0xFFFF,
        }
        return conversation.build_session_ack(AckSequenceNumber=ahead, **counts)

    return build_ack


def _build_packet_of_unknown_type(_: Peer, __: RawConversation) -> Any:
    return BaseHeader() / InternalHeader(PT=UNKNOWN_PACKET_TYPE) / UnknownInternal(Data=bytes(12))


PACKET_BUILDER_BY_INPUT: Mapping[str, BuildPacket] = MappingProxyType(
    {
        "EstablishConnection": lambda peer, _: establish_request(peer),
        "EstablishConnection for another": lambda peer, _: establish_request(peer, ServerGuid=FOREIGN_GUID),
        "ConnectionParameters": lambda _, __: build_parameters_request(),
        "recoverable message": lambda peer, _: peer.recoverable_message(),
        "SessionAck": _build_session_ack(),
        "early SessionAck": _build_session_ack(ahead=1),
        "SessionAck with a greater count": _build_session_ack(messages=1),
        "SessionAck with a smaller count": _build_session_ack(messages=-1),
        "SessionAck with a wrong recoverable count": _build_session_ack(recoverable=1),
        "unknown internal packet": _build_packet_of_unknown_type,
        "no packet": lambda _, __: INVALID_PACKET_BYTES,
    }
)
"""The inputs by name. An input builds a packet.

No input is an express or a transactional message, because a system acknowledges such messages only later, together with
other packets.
"""
INPUTS_THAT_SYSTEM_ACKNOWLEDGES_LATER = ("recoverable message",)
"""The inputs that a system acknowledges, on an open session, only after a delay."""
CONNECTION_LOSS_INPUT = "loss of the connection"
"""The input that closes the connection. Later inputs of the same sequence (word) are not sent."""
INPUT_ALPHABET = (*PACKET_BUILDER_BY_INPUT, CONNECTION_LOSS_INPUT)
