"""Second faults of the answers to what is received, by an author who had read the rules and not the checks.

Spec: MS-MQQB 3.1.5.8.9, 3.1.7.2, 3.1.7.15, 3.1.7.17.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import changed, fault, replaced
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import (
    FinalAckBody,
    MessageClass,
    UserMessagePacket,
)
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import (
    Message,
    MessagePosition,
    Session,
)
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

_EXPRESS, _RECOVERABLE = DeliveryGuarantee.EXPRESS, DeliveryGuarantee.RECOVERABLE

# -- final acknowledgments --------------------------------------------------------------------------------------------


@fault("received-message-with-jn-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"))
class ReceivedMessageWithJnAloneHasNoFinalAck(FinalAcks):
    """A message with JN alone has a FinalAck only when it failed: its sender never learns that it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.NegativeJournalingRequested and not message.PositiveJournalingRequested
        if reason is not MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


@fault("failed-message-with-jp-alone-has-no-final-ack", breaks=("MQQB-2.2.5-D01", "MQQB-3.1.7.2.2-01"))
class FailedMessageWithJpAloneHasNoFinalAck(FinalAcks):
    """A message with JP alone has a FinalAck only when it was received."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        silent = message.PositiveJournalingRequested and not message.NegativeJournalingRequested
        if reason is MessageClass.MQMSG_CLASS_ACK_RECEIVE or not silent or message.FinalAckRequired:
            super().acknowledge_final(position, reason, now)


def _sent_final(change: Any) -> Any:
    def make(original: Any) -> Any:
        def send(qm: QM, name: str, message_class: MessageClass, body: Any, now: Now) -> None:
            original(qm, name, message_class, change(body) if isinstance(body, FinalAckBody) else body, now)

        return send

    return replaced(changed(OrderAcks.send_transactional_ack, make))


add(
    "final-ack-previous-one-less",
    ("MQQB-2.2.5.1-03", "MQQB-3.1.7.17-D05", "MQQB-3.1.7.17-D08"),
    "TxPreviousSequenceNumber of a FinalAck is its TxSequenceNumber less one, also where the sequence has a gap.",
    _sent_final(lambda body: replace(body, TxPreviousSequenceNumber=body.TxSequenceNumber - 1)),
)


@fault("final-ack-names-the-newest-sequence", breaks="MQQB-2.2.5.1-01")
class FinalAckNamesTheNewestSequence(FinalAcks):
    """The FinalAck of a message names the sequence that its sender has got to meanwhile."""

    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        if transfer is not None:
            position.MessageReference = replace(
                message, TransactionalMessageSequenceIdentifier=transfer.SequenceIdentifier
            )
        super().acknowledge_final(position, reason, now)


@fault("final-ack-names-the-session-partner", breaks="MQQB-3.1.7.17-D09")
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
)


# -- administration acknowledgments -----------------------------------------------------------------------------------


@fault("arrival-of-transactional-messages-not-acknowledged", breaks=("MQQB-3.1.5.8.10-02", "MQDMPR-3.1.1.12-D07"))
class ArrivalOfTransactionalMessagesNotAcknowledged(AdminAcks):
    """A transactional message that arrives is not acknowledged to its administration queue."""

    def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
        if position.MessageReference.TransactionIdentifier is None:
            super().acknowledge_arrival(position, now)


@fault("correlation-of-the-message-before", breaks="MQQB-3.1.7.15-18")
class CorrelationOfTheMessageBefore(AdminAcks):
    """The correlation of an acknowledgment is that of the acknowledgment before it, after the first one."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._before: bytes | None = None

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        before, self._before = self._before, ack.CorrelationIdentifier
        return replace(ack, CorrelationIdentifier=before or ack.CorrelationIdentifier)


def _built(change: Any) -> Any:
    def make(original: Any) -> Any:
        def build(qm: QM, message: Message, message_class: MessageClass, now: Now) -> Message:
            return change(original(qm, message, message_class, now), message)

        return build

    return replaced(changed(AdminAcks.build, make))


for name, rules, says, change in (
    (
        "acknowledgment-of-a-transactional-message-express",
        ("MQQB-3.1.7.2.1-01", "MQQB-3.1.7.15-24"),
        "The acknowledgment of a transactional message is express.",
        lambda ack, message: ack if message.TransactionIdentifier is None else replace(ack, DeliveryGuarantee=_EXPRESS),
    ),
    (
        "acknowledgment-with-a-body-cut",
        ("MQQB-3.1.7.15-28", "MQQB-3.1.7.15-29"),
        "A negative acknowledgment brings back the first 256 bytes of the body.",
        lambda ack, message: replace(ack, Body=ack.Body[:256]),
    ),
    (
        "acknowledgment-answers-where-its-message-does",
        ("MQQB-3.1.7.15-19", "MQQB-3.1.7.15-20"),
        "The response queue of an acknowledgment is that of its message, if that has one.",
        lambda ack, message: replace(
            ack, ResponseQueueFormatName=message.ResponseQueueFormatName or ack.ResponseQueueFormatName
        ),
    ),
    (
        "acknowledgment-has-the-time-of-its-message",
        ("MQQB-3.1.7.15-D02",),
        "An acknowledgment has the time to reach its queue that its message had.",
        lambda ack, message: replace(ack, TimeToReachQueue=message.TimeToReachQueue),
    ),
    (
        "acknowledgment-waits-as-long-as-its-message",
        ("MQQB-3.1.7.15-D03",),
        "An acknowledgment has the time to be received that its message had.",
        lambda ack, message: replace(ack, TimeToBeReceived=message.TimeToBeReceived),
    ),
    (
        "acknowledgment-journaled-as-its-message",
        ("MQQB-3.1.7.15-D04",),
        "An acknowledgment has JP if its message had it.",
        lambda ack, message: replace(ack, PositiveJournalingRequested=message.PositiveJournalingRequested),
    ),
    (
        "acknowledgment-a-dead-letter-as-its-message",
        ("MQQB-3.1.7.15-D05",),
        "An acknowledgment has JN if its message had it.",
        lambda ack, message: replace(ack, NegativeJournalingRequested=message.NegativeJournalingRequested),
    ),
    (
        "acknowledgment-asks-for-what-its-message-asked",
        ("MQQB-3.1.7.15-D01",),
        "An acknowledgment of a message that asked for several acknowledgments asks for them, too.",
        lambda ack, message: (
            replace(
                ack,
                AcknowledgementsRequested=message.AcknowledgementsRequested,
                AdministrationQueueFormatName=message.AdministrationQueueFormatName,
            )
            if message.AcknowledgementsRequested.bit_count() > 1
            else ack
        ),
    ),
):
    add(name, rules, says, _built(change))


def _once_for_each_queue(reason: MessageClass) -> type[FinalAcks]:
    class OnceForEachQueue(FinalAcks):
        def __init__(self, qm: QueueManager) -> None:
            super().__init__(qm)
            self._told: set[int] = set()

        def position_deleted(self, position: MessagePosition, cause: MessageClass, now: Now) -> None:
            queue = id(position.QueueReference)
            if cause is not reason or queue not in self._told:
                super().position_deleted(position, cause, now)
            if cause is reason:
                self._told.add(queue)

    return OnceForEachQueue


add(
    "deleted-queue-tells-of-its-first-message",
    "MQQB-3.1.7.2.1-D02",
    "Of the messages of a queue that is deleted only the first is acknowledged.",
    replaced(_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_DELETED)),
)
add(
    "purged-queue-tells-of-its-first-message",
    "MQQB-3.1.7.2.1-D03",
    "Of the messages of a queue that is purged only the first is acknowledged.",
    replaced(_once_for_each_queue(MessageClass.MQMSG_CLASS_NACK_Q_PURGED)),
)


@fault("express-message-that-nobody-received-not-acknowledged", breaks="MQQB-3.1.7.2.1-D04")
class ExpressMessageThatNobodyReceivedNotAcknowledged(AdminAcks):
    """An express message whose time to be received is over is not acknowledged."""

    def acknowledge_receive(self, message: Message, reason: MessageClass, now: Now) -> None:
        late = reason is MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
        if not late or message.DeliveryGuarantee is _RECOVERABLE:
            super().acknowledge_receive(message, reason, now)


# -- reports ----------------------------------------------------------------------------------------------------------


@fault("arrival-of-transactional-messages-not-reported", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"))
class ArrivalOfTransactionalMessagesNotReported(Tracing):
    """A traced message that is transactional is not reported when it arrives."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received(message, now)


@fault("hops-in-the-label-of-a-report-decimal", breaks="MQQB-3.1.5.8.9-06")
class HopsInTheLabelOfAReportDecimal(Tracing):
    """The label of a report has the hops in decimal digits."""

    def build_report_label(self, message: Message, now: Now) -> str:
        label = super().build_report_label(message, now)
        return label.replace(f":{message.HopCount:02X} ", f":{message.HopCount:02} ", 1)


def _as_recoverable_as_traced(original: Any, _: QM, traced: Message, *__: Any) -> Any:
    def send(qm: QM, report: Message, now: Now) -> None:
        original(qm, replace(report, DeliveryGuarantee=traced.DeliveryGuarantee), now)

    return send


add(
    "report-of-a-recoverable-message-recoverable",
    "MQQB-3.1.5.8.9-05",
    "The report of a recoverable message is recoverable.",
    during(Tracing.send_report, OwnMessages.send, _as_recoverable_as_traced),
)
