"""Faults of MS-MQQB 3.1.5.8.9 Sending a Trace Message: later reports, and reports on messages of some kinds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, MessageIdentifier, UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingQueue, Queue
from reference_qm.model.states import DeliveryGuarantee, SessionState
from reference_qm.surface.clock import Now

REPORT_MESSAGE_CLASS = MessageClass.MQMSG_CLASS_REPORT


def change_report_on_received_message(change: Callable[[Message, Message], Message]) -> Install:
    """Return an installer of a fault that changes the report on a received message. ``change`` is called with the
    report and the traced message.
    """

    def make_changing_send(original: Any, _: QM, message: Message, next_hop: str | None, __: Now) -> Any:
        def send_changed(qm: QM, report: Message, now: Now) -> None:
            original(qm, report if next_hop is not None else change(report, message), now)

        return send_changed

    return replace_method_during(MessageTracing.send_report, OwnMessageSending.send, make_changing_send)


add(
    "receiver-report-with-content-of-traced-message",
    "MQQB-3.1.5.8.9-02",
    "The receiver makes the report from the traced message: the report has its application tag and extension.",
    change_report_on_received_message(
        lambda report, message: replace(report, AppSpecific=message.AppSpecific, Extension=message.Extension)
    ),
    blind=True,
)
add(
    "receiver-report-on-acknowledgment-with-its-class",
    "MQQB-3.1.5.8.9-03",
    "The report on a traced acknowledgment has the class of the acknowledgment.",
    change_report_on_received_message(
        lambda report, message: replace(
            report, Class=message.Class if message.Class != MessageClass.MQMSG_CLASS_NORMAL else report.Class
        )
    ),
    blind=True,
)
add(
    "receiver-report-to-administration-queue",
    "MQQB-3.1.5.8.9-04",
    "The receiver sends the report to the administration queue of the traced message, if the message names one.",
    change_report_on_received_message(
        lambda report, message: replace(
            report,
            DestinationQueueFormatName=message.AdministrationQueueFormatName or report.DestinationQueueFormatName,
        )
    ),
    blind=True,
)


def _make_report_recoverable(report: Message, recoverable: bool) -> Message:
    return replace(report, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE) if recoverable else report


add(
    "receiver-report-on-transactional-message-recoverable",
    "MQQB-3.1.5.8.9-05",
    "The report on a transactional message is recoverable.",
    change_report_on_received_message(
        lambda report, message: _make_report_recoverable(report, message.TransactionIdentifier is not None)
    ),
    blind=True,
)
add(
    "receiver-report-on-journaled-message-recoverable",
    "MQQB-3.1.5.8.9-05",
    "The report on a message that requests negative journaling is recoverable.",
    change_report_on_received_message(
        lambda report, message: _make_report_recoverable(report, message.NegativeJournalingRequested)
    ),
    blind=True,
)


@fault("receiver-sends-each-report-with-identifier-of-first-report", breaks="MQQB-3.1.5.8.9-02", blind=True)
class ReceiverSendsEachReportWithIdentifierOfFirstReport(MessageSending):
    """The receiver sends each report with the MessageIdentifier of its first report."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: MessageIdentifier | None = None

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        message = position.MessageReference
        if message.Class == REPORT_MESSAGE_CLASS:
            self.first = self.first or message.Identifier
            position.MessageReference = replace(message, Identifier=self.first)
        return super().construct_user_message(position)


@fault("receiver-second-and-later-reports-have-class-normal", breaks="MQQB-3.1.5.8.9-03", blind=True)
class ReceiverSecondAndLaterReportsHaveClassNormal(OwnMessageSending):
    """The receiver's second and later reports have the class MQMSG_CLASS_NORMAL."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def send(self, message: Message, now: Now) -> None:
        if message.Class == REPORT_MESSAGE_CLASS:
            self.count += 1
            if self.count > 1:
                message = replace(message, Class=MessageClass.MQMSG_CLASS_NORMAL)
        super().send(message, now)


@fault("receiver-sends-each-report-to-queue-of-first-traced-message", breaks="MQQB-3.1.5.8.9-04", blind=True)
class ReceiverSendsEachReportToQueueOfFirstTracedMessage(OwnMessageSending):
    """The receiver sends each report to the queue that the first traced message names."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def send(self, message: Message, now: Now) -> None:
        if message.Class == REPORT_MESSAGE_CLASS:
            self.first = self.first or message.DestinationQueueFormatName
            message = replace(message, DestinationQueueFormatName=self.first)
        super().send(message, now)


class _ReportQueueOpeningFault(OwnMessageSending):
    """A base class of faults in the opening of report queues."""

    def may_open_report_queue(self, message: Message) -> bool:
        """Return whether the queue of a report may be opened."""
        raise NotImplementedError

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        if message.Class == REPORT_MESSAGE_CLASS and not self.may_open_report_queue(message):
            return None
        return super()._open_queue(message, now)


@fault("receiver-second-report-queue-not-opened", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverSecondReportQueueNotOpened(_ReportQueueOpeningFault):
    """The receiver opens only the queue of its first report, and no other report queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: str | None = None

    def may_open_report_queue(self, message: Message) -> bool:
        self.first = self.first or message.DestinationQueueFormatName
        return message.DestinationQueueFormatName == self.first


@fault("receiver-report-queue-of-earlier-failure-not-opened", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverReportQueueOfEarlierFailureNotOpened(_ReportQueueOpeningFault):
    """After the receiver could not open a report queue, it opens no report queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.failed: set[UUID] = set()

    def may_open_report_queue(self, message: Message) -> bool:
        return not self.failed

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        queue = super()._open_queue(message, now)
        if queue is None and message.Class == REPORT_MESSAGE_CLASS:
            self.failed.add(message.Identifier.QueueManagerGuid)
        return queue


@fault("receiver-report-without-open-session-discarded", breaks="MQQB-3.1.5.8.9-11", blind=True)
class ReceiverReportWithoutOpenSessionDiscarded(OwnMessageSending):
    """The receiver discards a report if the session of the report queue is closed after an earlier report."""

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        known = self.qm.adm.OutgoingQueues.get(message.DestinationQueueFormatName.lower())
        closed = known is not None and known.session.SessionState is not SessionState.OPEN
        used = closed and known is not None and known.session.MessageSentCount > 0
        return None if message.Class == REPORT_MESSAGE_CLASS and used else super()._open_queue(message, now)


@fault("receiver-puts-report-to-unknown-queue-into-dead-letter-queue", breaks="MQQB-3.1.5.8.9-11", blind=True)
class ReceiverPutsReportToUnknownQueueIntoDeadLetterQueue(OwnMessageSending):
    """The receiver puts a report whose queue it cannot open into its dead-letter queue."""

    def _open_queue(self, message: Message, now: Now) -> Queue | OutgoingQueue | None:
        queue = super()._open_queue(message, now)
        if queue is None and message.Class == REPORT_MESSAGE_CLASS:
            return self.qm.adm.SystemDeadletterQueue
        return queue
