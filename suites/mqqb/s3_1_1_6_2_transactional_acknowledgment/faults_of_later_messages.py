"""Faults that break rules of MS-MQQB 3.1.1.6.2 for a later message, sequence or acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import Install, add
from reference_qm.codec import FinalAckBody, MessageClass, OrderAckBody, UserMessagePacket
from reference_qm.core.store.messages import deserialize_message
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import NO_INCOMING_SEQUENCE, RecoverableReceipt, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

UnchangedStepFunction = Callable[..., Any]


def acknowledge_forwarded_messages(acknowledge: Callable[[Any, Session, UserMessagePacket, int, Now], None]) -> Install:
    """Return an installer of a fault that acknowledges a forwarded transactional message. ``acknowledge`` is also
    called with the number of transactional messages forwarded so far.
    """

    def run(
        self: Any,
        original: UnchangedStepFunction,
        session: Session,
        packet: UserMessagePacket,
        receipt: RecoverableReceipt,
        now: Now,
    ) -> None:
        original(session, packet, receipt, now)
        if packet.TransactionHeader is not None:
            counts = self.__dict__.setdefault("forwarded", {})
            source = packet.UserHeader.SourceQueueManager
            count = counts[source] = counts.get(source, 0) + 1
            acknowledge(self, session, packet, count, now)

    return change_step(MessageRouting.route_message, run)


def _send_order_ack(self: Any, session: Session, packet: UserMessagePacket, now: Now) -> None:
    header = packet.TransactionHeader
    assert header is not None
    name = self.qm.order_acks.build_order_queue_name(session, packet.UserHeader.SourceQueueManager)
    body = OrderAckBody(header.TxSequenceID, header.TxSequenceNumber, header.TxSequenceNumber - 1)
    self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ORDER_ACK, body, now)


def _send_order_ack_of_second_message(
    self: Any, session: Session, packet: UserMessagePacket, count: int, now: Now
) -> None:
    if count == 2:
        _send_order_ack(self, session, packet, now)


def _send_order_ack_behind_gap(self: Any, session: Session, packet: UserMessagePacket, count: int, now: Now) -> None:
    header = packet.TransactionHeader
    if header is not None and header.PreviousTxSequenceNumber != header.TxSequenceNumber - 1:
        _send_order_ack(self, session, packet, now)


def send_final_ack_of_forwarded_message(
    self: Any, session: Session, packet: UserMessagePacket, count: int, now: Now
) -> None:
    """Send a FinalAck for a forwarded transactional message."""
    header, user = packet.TransactionHeader, packet.UserHeader
    assert header is not None
    body = FinalAckBody(
        header.TxSequenceID,
        header.TxSequenceNumber,
        header.PreviousTxSequenceNumber,
        user.SourceQueueManager,
        user.MessageID,
    )
    name = self.qm.order_acks.build_order_queue_name(session, user.SourceQueueManager)
    self.qm.order_acks.send_transactional_ack(name, MessageClass.MQMSG_CLASS_ACK_RECEIVE, body, now)


def acknowledge_arrival_of_forwarded_message(
    self: Any, session: Session, packet: UserMessagePacket, count: int, now: Now
) -> None:
    """Send an acknowledgment that a forwarded message has arrived."""
    message = deserialize_message(packet, packet.UserHeader.QueueManagerAddress, now.utc_s)
    self.qm.admin_acks.send(message, MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE, now)


@fault("router-message-behind-gap-not-forwarded", breaks="MQQB-3.1.1.6.2-02", blind=True)
class RouterMessageBehindGapNotForwarded(MessageRouting):
    """A queue manager between source and destination does not forward a message that follows a gap in its sequence."""

    def is_message_routable(self, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        if header is None:
            return super().is_message_routable(packet)
        last = self.__dict__.setdefault("last_numbers", {})
        number = last.get(header.TxSequenceID, header.TxSequenceNumber - 1)
        if header.TxSequenceNumber > number + 1:
            return False
        last[header.TxSequenceID] = max(number, header.TxSequenceNumber)
        return super().is_message_routable(packet)


@fault("router-repeated-sequence-number-not-forwarded", breaks="MQQB-3.1.1.6.2-02", blind=True)
class RouterRepeatedSequenceNumberNotForwarded(MessageRouting):
    """A queue manager between source and destination does not forward a TxSequenceNumber of a sequence twice."""

    def is_message_routable(self, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        if header is not None:
            seen = self.__dict__.setdefault("seen_numbers", set())
            if (header.TxSequenceID, header.TxSequenceNumber) in seen:
                return False
            seen.add((header.TxSequenceID, header.TxSequenceNumber))
        return super().is_message_routable(packet)


@fault("router-previous-number-set-to-last-forwarded", breaks="MQQB-3.1.1.6.2-02", blind=True)
class RouterPreviousNumberSetToLastForwarded(MessageRouting):
    """A queue manager between source and destination sets PreviousTxSequenceNumber to the number that it forwarded
    last.
    """

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        if counted is None or counted.TransactionHeader is None:
            return counted
        header = counted.TransactionHeader
        last = self.__dict__.setdefault("forwarded_numbers", {})
        previous = last.get(header.TxSequenceID, header.PreviousTxSequenceNumber)
        last[header.TxSequenceID] = header.TxSequenceNumber
        return replace(counted, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))


def _is_order_ack_timer_running(self: Any, session: Session) -> bool:
    return bool(self.qm.timers.is_running(TimerKey(TimerName.ORDER_ACK_SEND, session.number)))


@fault("receiver-order-ack-delay-counted-from-session-start", breaks="MQQB-3.1.1.6.2-04", blind=True)
class ReceiverOrderAckDelayCountedFromSessionStart(OrderAcks):
    """The receiver does not record the time of its OrderAcks, so that later OrderAcks are not delayed."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        before = session.LastOrderAckSendTime
        super().on_order_ack_send_timer(session, now)
        session.LastOrderAckSendTime = before


@fault("receiver-sends-later-order-acks-of-session-without-timer", breaks="MQQB-3.1.1.6.2-04", blind=True)
class ReceiverSendsLaterOrderAcksOfSessionWithoutTimer(OrderAcks):
    """After its first OrderAck on a session, the receiver sends OrderAcks without the Order Ack Send Timer."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        super().start_order_ack_timer(session, now)
        if session.number in self.__dict__.setdefault("acknowledged", set()):
            self.qm.session_timers.start(session, TimerName.ORDER_ACK_SEND, 1, now)

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__.setdefault("acknowledged", set()).add(session.number)
        super().on_order_ack_send_timer(session, now)


@fault("receiver-delays-order-ack-only-for-second-message-of-session", breaks="MQQB-3.1.1.6.2-05", blind=True)
class ReceiverDelaysOrderAckOnlyForSecondMessageOfSession(OrderAcks):
    """Only the second message on the session delays the OrderAck; later messages do not delay it."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        counts = self.__dict__.setdefault("delays", {})
        counts[session.number] = counts.get(session.number, 0) + 1 if _is_order_ack_timer_running(self, session) else 0
        if counts[session.number] <= 1:
            super().start_order_ack_timer(session, now)


@fault("receiver-message-of-other-sequence-does-not-delay-order-ack", breaks="MQQB-3.1.1.6.2-05", blind=True)
class ReceiverMessageOfOtherSequenceDoesNotDelayOrderAck(OrderAcks):
    """A message of another sequence does not delay the OrderAck."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        begun = self.__dict__.setdefault("begun", {})
        arrived = session.IncomingTxSequenceID
        if not _is_order_ack_timer_running(self, session):
            begun.pop(session.number, None)
        elif arrived != NO_INCOMING_SEQUENCE:
            begun.setdefault(session.number, arrived)
        if begun.get(session.number, arrived) == arrived:
            super().start_order_ack_timer(session, now)


@fault("receiver-delays-only-first-order-ack-for-further-messages", breaks="MQQB-3.1.1.6.2-05", blind=True)
class ReceiverDelaysOnlyFirstOrderAckForFurtherMessages(OrderAcks):
    """After the first OrderAck of a session, further messages do not delay the next OrderAck."""

    def start_order_ack_timer(self, session: Session, now: Now) -> None:
        if session.number not in self.__dict__.setdefault("sent", set()) or not _is_order_ack_timer_running(
            self, session
        ):
            super().start_order_ack_timer(session, now)

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        self.__dict__.setdefault("sent", set()).add(session.number)
        super().on_order_ack_send_timer(session, now)


@fault(
    "receiver-order-ack-of-second-sequence-not-sent",
    breaks=("MQQB-3.1.1.6.2-07", "MQQB-3.1.5.8.6-04", "MQMQ-2.2.18.1.6-01"),
    blind=True,
)
class ReceiverOrderAckOfSecondSequenceNotSent(OrderAcks):
    """When the Order Ack Send Timer expires, the receiver sends only the OrderAck of the first sequence that is due."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        session.order_acks_due = dict(list(session.order_acks_due.items())[:1])
        super().on_order_ack_send_timer(session, now)


@fault("receiver-sends-no-order-ack-at-second-expiry-of-send-timer", breaks="MQQB-3.1.1.6.2-07", blind=True)
class ReceiverSendsNoOrderAckAtSecondExpiryOfSendTimer(OrderAcks):
    """When the Order Ack Send Timer of a session expires a second time, the receiver sends no OrderAck."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        counts = self.__dict__.setdefault("expiries", {})
        counts[session.number] = counts.get(session.number, 0) + 1
        if counts[session.number] == 2:
            session.order_acks_due = {}
        super().on_order_ack_send_timer(session, now)


@fault("receiver-no-order-ack-after-rejected-message", breaks="MQQB-3.1.1.6.2-07", blind=True)
class ReceiverNoOrderAckAfterRejectedMessage(OrderAcks):
    """When the Order Ack Send Timer expires after a rejected message, the receiver sends no OrderAck."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        session.order_acks_due = {one: None for one in session.order_acks_due if not one.RejectCount}
        super().on_order_ack_send_timer(session, now)


for _name, _rule, _says, _acknowledge in (
    (
        "router-order-ack-of-second-message-sent",
        "MQQB-3.1.1.6.2-01",
        "A queue manager between source and destination sends an OrderAck for the second message of a source.",
        _send_order_ack_of_second_message,
    ),
    (
        "router-order-ack-of-message-behind-gap-sent",
        "MQQB-3.1.1.6.2-01",
        "A queue manager between source and destination sends an OrderAck for a forwarded message behind a gap.",
        _send_order_ack_behind_gap,
    ),
):
    add(_name, _rule, _says, acknowledge_forwarded_messages(_acknowledge), blind=True)
