"""Faults that break rules of MS-MQQB 3.1.1.7.3 Session with Transactional Messages Sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.primitives import set_fields
from harness.faults.registry import Install, add
from reference_qm.codec import UserHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault(
    "sender-final-ack-not-counted",
    breaks=(
        "MQQB-3.1.1.7.3-D01",
        "MQMQ-2.2.20.4-06",
        "MQMQ-2.2.20.4-D02",
        "MQQB-3.1.3.2-07",
        "MQQB-3.1.6.4-05",
    ),
)
class SenderFinalAckNotCounted(MessageReceiving):
    """The sender does not count a FinalAck among the messages that it received."""

    def count_message_received_on_session(self, session: Session, packet: UserMessagePacket) -> None:
        if not is_final_ack(packet):
            super().count_message_received_on_session(session, packet)


@fault("sender-final-ack-counted-as-express", breaks="MQQB-3.1.1.7.3-D01")
class SenderFinalAckCountedAsExpress(MessageReceiving):
    """The sender counts a FinalAck as an express message."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if is_final_ack(packet):
            packet = set_fields(packet, {"UserHeader.Flags": lambda old: old & ~UserHeader.flags(DM=3)})
        super().receive_user_message(session, packet, now)


def _omit_final_ack_from_count(when: Callable[[Any, Any, Any], bool]) -> Install:
    def run(self: Any, original: Any, session: Any, packet: Any) -> None:
        if not is_final_ack(packet) or not when(self, session, packet):
            original(session, packet)

    return change_step(MessageReceiving.count_message_received_on_session, run)


def _is_later_packet_of_session(self: Any, session: Any, packet: Any) -> bool:
    seen = self.__dict__.setdefault("seen", set())
    known = session.number in seen
    seen.add(session.number)
    return known


for _name, _says, _install in (
    (
        "sender-second-final-ack-not-counted",
        "The sender does not count the second and later FinalAcks on a session.",
        _omit_final_ack_from_count(_is_later_packet_of_session),
    ),
    (
        "sender-positive-final-ack-not-counted",
        "The sender does not count a FinalAck of class ACK_RECEIVE.",
        _omit_final_ack_from_count(lambda self, session, packet: packet.MessagePropertiesHeader.MessageClass == 0x4000),
    ),
    (
        "sender-final-ack-after-order-ack-not-counted",
        "The sender does not count a FinalAck on a session on which it received a message before.",
        _omit_final_ack_from_count(lambda self, session, packet: session.MessageReceivedCount > 0),
    ),
):
    add(_name, "MQQB-3.1.1.7.3-D01", _says, _install, blind=True)
