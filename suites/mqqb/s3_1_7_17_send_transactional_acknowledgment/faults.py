"""Faults of MS-MQQB 3.1.7.17 Send Transactional Acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.fields import field_is
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import during, packets, skip, skip_during, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, PrivateName, UserMessagePacket
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks, is_final_ack, is_order_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _is_acknowledgment(packet: UserMessagePacket) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


add(
    "final-ack-lost-with-its-session",
    "MQQB-3.1.7.17-11",
    "A FinalAck that the other side has not acknowledged is forgotten with the session.",
    skip(FinalAcks.keep_final_acks),
)
add(
    "final-ack-kept-for-a-later-session",
    "MQQB-3.1.7.17-11",
    "A FinalAck whose session was lost is not sent on another that is open.",
    skip_during(FinalAcks.requeue, Sending.dispatch_messages),
)


@fault("transactional-ack-identifier", breaks="MQQB-3.1.7.17-03")
class SameIdentifierForAll(OrderAcks):
    """All acknowledgments have one MessageID."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        ordinal = self.qm.adm.MessageIdOrdinal
        super().send_transactional_ack(name, message_class, body, now)
        self.qm.adm.MessageIdOrdinal = ordinal


add(
    "transactional-ack-class",
    "MQQB-3.1.7.17-04",
    "Every FinalAck is of class NACK_Q_DELETED.",
    field_is(
        UserMessagePacket,
        "MessagePropertiesHeader.MessageClass",
        int(MessageClass.MQMSG_CLASS_NACK_Q_DELETED),
        is_final_ack,
    ),
)
add(
    "transactional-ack-priority",
    "MQQB-3.1.7.17-05",
    "An acknowledgment has priority 3.",
    field_is(UserMessagePacket, "BaseHeader.PR", 3, _is_acknowledgment),
)
add(
    "transactional-ack-body",
    "MQQB-3.1.7.17-06",
    "An OrderAck has the number 0.",
    wrong_fields(
        UserMessagePacket,
        {"MessagePropertiesHeader.MessageBody": lambda body: body[:8] + bytes(4) + body[12:]},
        is_order_ack,
    ),
)
add(
    "transactional-ack-queue",
    "MQQB-3.1.7.17-07",
    "An acknowledgment is for order$.",
    wrong_fields(
        UserMessagePacket,
        {"UserHeader.DestinationQueue.DirectFormatName": lambda name: name.replace("order_queue$", "order$")},
        _is_acknowledgment,
    ),
)
add(
    "transactional-ack-dropped",
    "MQQB-3.1.7.17-11",
    "No acknowledgment is sent.",
    packets(UserMessagePacket, lambda packet: None, _is_acknowledgment),
)

# -- its body, rule by rule ----------------------------------------------------------------------------------------

Body = OrderAckBody | FinalAckBody
RECEIVED = MessageClass.MQMSG_CLASS_ACK_RECEIVE


def _of_order(message_class: MessageClass) -> bool:
    return message_class is MessageClass.MQMSG_CLASS_ORDER_ACK


def _of_message(message_class: MessageClass) -> bool:
    return message_class is RECEIVED


def _of_packet(message_class: MessageClass) -> bool:
    return not _of_order(message_class) and not _of_message(message_class)


def _with_body(when: Callable[[MessageClass], bool], change: Callable[[Any], Body]) -> Install:
    class WithBody(OrderAcks):
        def send_transactional_ack(self, name: str, message_class: MessageClass, body: Body, now: Now) -> None:
            super().send_transactional_ack(name, message_class, change(body) if when(message_class) else body, now)

    return replace_part(WithBody)


def _without_previous(body: FinalAckBody) -> FinalAckBody:
    return replace(body, TxPreviousSequenceNumber=0)


def _of_other_source(body: FinalAckBody) -> FinalAckBody:
    return replace(body, SourceGUID=UUID(int=body.SourceGUID.int ^ 1))


def _of_next_message(body: FinalAckBody) -> FinalAckBody:
    return replace(body, MessageID=body.MessageID + 1)


def _of_other_sequence(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceID=replace(body.TxSequenceID, TimeStamp=body.TxSequenceID.TimeStamp + 1))


def _of_first_number(body: OrderAckBody) -> OrderAckBody:
    return replace(body, TxSequenceNumber=1, TxPreviousSequenceNumber=0)


_BODIES: tuple[tuple[str, str, str, Callable[[MessageClass], bool], Callable[[Any], Body]], ...] = (
    (
        "order-ack-other-sequence",
        "MQQB-3.1.7.17-D03",
        "An OrderAck names another sequence.",
        _of_order,
        _of_other_sequence,
    ),
    ("order-ack-first-number", "MQQB-3.1.7.17-D04", "An OrderAck says 1 for ever.", _of_order, _of_first_number),
    ("received-without-previous", "MQQB-3.1.7.17-D05", "The previous number is 0.", _of_message, _without_previous),
    ("received-of-other-source", "MQQB-3.1.7.17-D06", "The source is another.", _of_message, _of_other_source),
    ("received-of-next-message", "MQQB-3.1.7.17-D07", "The MessageID is the next.", _of_message, _of_next_message),
    ("refused-without-previous", "MQQB-3.1.7.17-D08", "The previous number is 0.", _of_packet, _without_previous),
    ("refused-of-other-source", "MQQB-3.1.7.17-D09", "The source is another.", _of_packet, _of_other_source),
    ("refused-of-next-message", "MQQB-3.1.7.17-D10", "The MessageID is the next.", _of_packet, _of_next_message),
)
for _name, _rule, _says, _when, _change in _BODIES:
    add(f"transactional-ack-{_name}", _rule, _says, _with_body(_when, _change))

# -- its delivery and its queue ------------------------------------------------------------------------------------

add(
    "transactional-ack-express",
    "MQQB-3.1.7.17-D01",
    "A FinalAck is express.",
    field_is(UserMessagePacket, "UserHeader.DM", 0, is_final_ack),
)
add(
    "transactional-ack-says-encrypted",
    "MQQB-3.1.7.17-D02",
    "An acknowledgment says that its body is encrypted.",
    field_is(UserMessagePacket, "MessagePropertiesHeader.PrivacyLevel", 1, _is_acknowledgment),
)


@fault("transactional-ack-always-private", breaks="MQQB-3.1.7.17-D11")
class AlwaysPrivate(OrderAcks):
    """Every acknowledgment goes to a private name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return str(PrivateName(source, ORDER_QUEUE_NUMBER))


@fault("transactional-ack-always-direct", breaks="MQQB-3.1.7.17-D13")
class AlwaysDirect(OrderAcks):
    """Every acknowledgment goes to a direct name."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        return f"DIRECT=TCP:{session.RemoteQMAddress}\\PRIVATE$\\order_queue$"


@fault("transactional-ack-other-number", breaks=("MQQB-3.1.7.17-D13", "MQQB-3.1.7.17-07"))
class OtherNumber(OrderAcks):
    """A private name has the number of another queue."""

    def name_order_queue(self, session: Session, source: UUID) -> str:
        name = super().name_order_queue(session, source)
        return name if session.DirectFormatSession else str(PrivateName(source, ORDER_QUEUE_NUMBER + 1))


@fault("transactional-ack-on-open-session-only", breaks=("MQQB-3.1.7.17-11", "MQQB-3.1.7.2.2-01"))
class OnOpenSessionOnly(OrderAcks):
    """An acknowledgment is dropped when no session with the sender is open."""

    def send_transactional_ack(
        self, name: str, message_class: MessageClass, body: OrderAckBody | FinalAckBody, now: Now
    ) -> None:
        if self._queue_of_open_session(name) is not None:
            super().send_transactional_ack(name, message_class, body, now)


@fault("final-ack-names-the-session-partner", breaks="MQQB-3.1.7.17-D09", blind=True)
class FinalAckNamesTheSessionPartner(FinalAcks):
    """SourceGUID in the FinalAck of a refused message is the queue manager of the session, not its source."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        other = replace(packet.UserHeader, SourceQueueManager=session.RemoteQMGuid)
        super().refuse_transactional(session, replace(packet, UserHeader=other), message_class, now)


add(
    "acknowledgments-have-the-identifier-of-the-message-before",
    "MQQB-3.1.7.17-03",
    "An OrderAck or FinalAck has the identifier that the message sent before it had.",
    during(
        OrderAcks.send_transactional_ack,
        Numbering.assign_identifier,
        lambda original, *_: lambda qm: qm.adm.MessageIdOrdinal or original(qm),
    ),
    blind=True,
)
