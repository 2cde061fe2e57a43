"""Faults that break rules of MS-MQQB 3.1.5.8.9 Sending a Trace Message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import omit_step, replace_method_during
from harness.faults.registry import add
from harness.faults.reports import FOREIGN_QUEUE_NAME, change_report_element, change_reports
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

add(
    "receiver-report-of-received-message-not-sent",
    (
        "MQQB-3.1.5.8.9-01",
        "MQQB-3.1.5.8.9-02",
        "MQQB-3.1.5.8.9-08",
        "MQQB-3.1.5.8.9-11",
        "MQQB-3.1.5.8-11",
    ),
    "The receiver sends no report on a traced message.",
    omit_step(MessageTracing.trace_received_message),
)


@fault("receiver-report-of-recoverable-message-not-sent", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"))
class ReceiverReportOfRecoverableMessageNotSent(MessageTracing):
    """The receiver sends no report on a traced recoverable message."""

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().trace_received_message(message, now)


@fault("receiver-report-of-transactional-message-not-sent", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"), blind=True)
class ReceiverReportOfTransactionalMessageNotSent(MessageTracing):
    """The receiver sends no report on a traced transactional message."""

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received_message(message, now)


@fault("receiver-report-sent-only-for-first-traced-message-of-queue", breaks="MQQB-3.1.5.8.9-01", blind=True)
class ReceiverReportSentOnlyForFirstTracedMessageOfQueue(MessageTracing):
    """The receiver sends only one report to each queue, for the first traced message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.reported: set[Any] = set()

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.TracingQueueIdentifier not in self.reported:
            super().trace_received_message(message, now)
        if message.TracingRequested:
            self.reported.add(message.TracingQueueIdentifier)


_REPORT_ELEMENT_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Any], ...] = (
    (
        "receiver-report-class-normal",
        ("MQQB-3.1.5.8.9-03", "MQDMPR-3.1.1.12-D06"),
        "Class",
        MessageClass.MQMSG_CLASS_NORMAL,
    ),
    (
        "receiver-report-destination-wrong",
        ("MQQB-3.1.5.8.9-04", "MQDMPR-3.1.7.1.31-D07"),
        "DestinationQueueFormatName",
        FOREIGN_QUEUE_NAME,
    ),
    ("receiver-report-recoverable", "MQQB-3.1.5.8.9-05", "DeliveryGuarantee", DeliveryGuarantee.RECOVERABLE),
    ("receiver-report-label-wrong", "MQQB-3.1.5.8.9-06", "Label", lambda old: f"0{old}"),
    ("receiver-report-body-wrong", "MQQB-3.1.5.8.9-07", "Body", lambda old: old[2:]),
)


for _name, _rule, _element, _value in _REPORT_ELEMENT_FAULTS:
    _says = f"The receiver's report on a received message has a wrong {_element}."
    add(_name, _rule, _says, change_report_element(MessageTracing.trace_received_message, _element, _value))


def _send_report_with_class_of_message(
    original: Callable[..., None], qm: QM, message: Message, now: Now
) -> Callable[[QM, Message, Now], None]:
    def send_report(qm: QM, report: Message, now: Now) -> None:
        transactional = message.TransactionIdentifier is not None
        original(qm, replace(report, Class=0) if transactional else report, now)

    return send_report


add(
    "receiver-report-of-transactional-message-of-class-normal",
    "MQQB-3.1.5.8.9-03",
    "The receiver sends the report on a transactional message as a message of class NORMAL.",
    replace_method_during(
        MessageTracing.trace_received_message, OwnMessageSending.send, _send_report_with_class_of_message
    ),
    blind=True,
)


@fault("receiver-reports-all-messages-to-queue-of-first-traced-message", breaks="MQQB-3.1.5.8.9-04", blind=True)
class ReceiverReportsAllMessagesToQueueOfFirstTracedMessage(MessageTracing):
    """The receiver sends the report on each received message to the queue that the first traced message named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Message | None = None

    def trace_received_message(self, message: Message, now: Now) -> None:
        if message.TracingRequested:
            self.first = self.first or message
            message = replace(message, TracingQueueIdentifier=self.first.TracingQueueIdentifier)
        super().trace_received_message(message, now)


def _send_report_with_copied_delivery(original: Any, _: QM, traced: Message, *__: Any) -> Any:
    def send_with_copied_delivery(qm: QM, report: Message, now: Now) -> None:
        original(qm, replace(report, DeliveryGuarantee=traced.DeliveryGuarantee), now)

    return send_with_copied_delivery


add(
    "receiver-report-of-recoverable-message-recoverable",
    "MQQB-3.1.5.8.9-05",
    "The receiver's report on a recoverable message is recoverable instead of express.",
    replace_method_during(MessageTracing.send_report, OwnMessageSending.send, _send_report_with_copied_delivery),
    blind=True,
)


@fault("receiver-report-label-date-from-monotonic-clock", breaks="MQQB-3.1.5.8.9-06")
class ReceiverReportLabelDateFromMonotonicClock(MessageTracing):
    """The receiver puts a date that it computes from the monotonic clock into the label of its report."""

    def build_report_label(self, message: Message, now: Now) -> str:
        return super().build_report_label(message, replace(now, utc_s=now.monotonic_ms // 1000))


@fault("receiver-report-label-has-hop-count-in-decimal-digits", breaks="MQQB-3.1.5.8.9-06")
class ReceiverReportLabelHasHopCountInDecimalDigits(MessageTracing):
    """The receiver puts the hop count in decimal digits into the label of its report."""

    def build_report_label(self, message: Message, now: Now) -> str:
        label = super().build_report_label(message, now)
        return label.replace(f":{message.HopCount:02X} ", f":{message.HopCount:02} ", 1)


@fault("receiver-report-body-names-target-of-first-message", breaks="MQQB-3.1.5.8.9-07", blind=True)
class ReceiverReportBodyNamesTargetOfFirstMessage(MessageTracing):
    """The receiver puts the target queue of the first traced message into the body of each report on a
    received message.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Message | None = None

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        if next_hop is None:
            self.first = self.first or message
            name = self.first.DestinationQueueFormatName
            message = replace(message, DestinationQueueFormatName=name)
        return super().build_report_body(message, next_hop)


@fault("receiver-report-body-message-id-of-16-bits", breaks="MQQB-3.1.5.8.9-07", blind=True)
class ReceiverReportBodyMessageIdOf16Bits(MessageTracing):
    """The receiver puts only the lower 16 bits of the MessageID into the body of the report on a received message."""

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        identifier = message.Identifier
        if next_hop is None:
            message = replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))
        return super().build_report_body(message, next_hop)


def _redirect_unknown_report_queue(qm: QueueManager, report: Message) -> Message:
    if qm.next_hops.get_destination_info(report.DestinationQueueFormatName) is None:
        return replace(report, DestinationQueueFormatName=FOREIGN_QUEUE_NAME)
    return report


add(
    "receiver-report-to-unknown-queue-redirected",
    "MQQB-3.1.5.8.9-11",
    "The receiver sends a report for an unknown queue to a different queue instead of discarding the report.",
    change_reports(MessageTracing.trace_received_message, _redirect_unknown_report_queue),
)


@fault("receiver-no-reports-after-report-that-could-not-be-sent", breaks="MQQB-3.1.5.8.9-11", blind=True)
class ReceiverNoReportsAfterReportThatCouldNotBeSent(MessageTracing):
    """After a report whose queue cannot be opened, the receiver sends no further report."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.failed = False

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        before = self.qm.adm.MessageIdOrdinal
        if not self.failed:
            super().send_report(message, next_hop, now)
        self.failed = self.failed or self.qm.adm.MessageIdOrdinal == before


@fault("receiver-report-contains-only-low-16-bits-of-message-id", breaks="MQQB-3.1.5.8.9-07", blind=True)
class ReceiverReportContainsOnlyLow16BitsOfMessageId(MessageTracing):
    """The report on a received message contains only the low 16 bits of MessageID."""

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        body = super().build_report_body(message, next_hop)
        ordinal = message.Identifier.Ordinal
        return body if next_hop is not None else body.replace(f"{ordinal:08X}", f"{ordinal & 0xFFFF:08X}", 1)
