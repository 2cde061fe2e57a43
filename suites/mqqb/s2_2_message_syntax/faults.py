"""Faults that break rules of MS-MQQB 2.2 Message Syntax."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.fields import change_number_in_field, limit_to_sender_role
from harness.faults.parts import fault
from harness.faults.primitives import send_wrong_bytes, set_fields
from harness.faults.registry import add
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session


def _reverse_byte_order(start: int, end: int) -> Callable[[bytes], bytes]:
    return lambda data: data[:start] + data[start:end][::-1] + data[end:]


add(
    "receiver-session-ack-sequence-number-big-endian",
    "MQQB-2.2-D01",
    "The receiver's SessionAck has AckSequenceNumber in big-endian order.",
    send_wrong_bytes(SessionAckPacket, _reverse_byte_order(20, 22)),
)


add(
    "acceptor-connection-parameters-ack-timeout-big-endian",
    "MQQB-2.2-D01",
    "The acceptor's ConnectionParameters has AckTimeout in big-endian order.",
    limit_to_sender_role("acceptor", send_wrong_bytes(ConnectionParametersPacket, _reverse_byte_order(24, 28))),
)


def _reverse_integer_bytes(value: int, size: int) -> int:
    return int.from_bytes(value.to_bytes(size, "little"), "big")


@fault("acceptor-window-size-of-response-in-big-endian-order", breaks="MQQB-2.2-D01", blind=True)
class AcceptorWindowSizeOfResponseInBigEndianOrder(SessionOpening):
    """The acceptor sends WindowSize of a ConnectionParameters response in big-endian order."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        packet = super().build_parameters_response(session, request)
        return set_fields(packet, {"ConnectionParametersHeader.WindowSize": lambda old: _reverse_integer_bytes(old, 2)})


def reverse_u32_bytes(value: int) -> int:
    """Return a u32 with its bytes in reverse order."""
    return int.from_bytes(value.to_bytes(4, "big"), "little")


add(
    "acceptor-session-ack-flags-big-endian",
    "MQQB-2.2-D01",
    "The acceptor sends RecoverableMsgAckFlags of a SessionAck in big-endian order.",
    change_number_in_field(SessionAckPacket, "SessionHeader.RecoverableMsgAckFlags", reverse_u32_bytes),
)
