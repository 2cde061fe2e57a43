"""Faults of MS-MQQB 3.1.5.8.9 Sending a Trace Message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during, skip
from harness.faults.registry import add
from harness.faults.reports import ELSEWHERE, change_reports, reported_with
from reference_qm.codec import MessageClass
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

add(
    "report-received-missing",
    (
        "MQQB-3.1.5.8.9-01",
        "MQQB-3.1.5.8.9-02",
        "MQQB-3.1.5.8.9-08",
        "MQQB-3.1.5.8.9-11",
        "MQQB-3.1.5.8-11",
    ),
    "What was received is not reported.",
    skip(Tracing.trace_received),
)
_ELEMENTS: tuple[tuple[str, str | tuple[str, ...], str, Any], ...] = (
    ("report-received-class", ("MQQB-3.1.5.8.9-03", "MQDMPR-3.1.1.12-D06"), "Class", MessageClass.MQMSG_CLASS_NORMAL),
    ("report-received-queue", ("MQQB-3.1.5.8.9-04", "MQDMPR-3.1.7.1.31-D07"), "DestinationQueueFormatName", ELSEWHERE),
    ("report-received-delivery", "MQQB-3.1.5.8.9-05", "DeliveryGuarantee", DeliveryGuarantee.RECOVERABLE),
    ("report-received-label", "MQQB-3.1.5.8.9-06", "Label", lambda old: f"0{old}"),
    ("report-received-body", "MQQB-3.1.5.8.9-07", "Body", lambda old: old[2:]),
)
for _name, _rule, _element, _value in _ELEMENTS:
    _says = f"A report of what was received has another {_element}."
    add(_name, _rule, _says, reported_with(Tracing.trace_received, _element, _value))


@fault("report-unasked", breaks="MQQB-3.1.5.8.9-01")
class ReportedUnasked(Tracing):
    """Every message is reported."""

    def trace_received(self, message: Message, now: Now) -> None:
        super().trace_received(replace(message, TracingRequested=True), now)


def _elsewhere_if_unknown(qm: QueueManager, report: Message) -> Message:
    if qm.next_hops.get_destination_info(report.DestinationQueueFormatName) is None:
        return replace(report, DestinationQueueFormatName=ELSEWHERE)
    return report


add(
    "report-to-unknown-queue",
    "MQQB-3.1.5.8.9-11",
    "A report for a queue that cannot be opened goes elsewhere.",
    change_reports(Tracing.trace_received, _elsewhere_if_unknown),
)


@fault("report-of-express-alone", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"))
class ReportOfExpressAlone(Tracing):
    """Recoverable messages are not reported when they arrive."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS:
            super().trace_received(message, now)


@fault("report-of-another-day", breaks="MQQB-3.1.5.8.9-06")
class ReportOfAnotherDay(Tracing):
    """A report has the day that the monotonic clock gives."""

    def build_report_label(self, message: Message, now: Now) -> str:
        return super().build_report_label(message, replace(now, utc_s=now.monotonic_ms // 1000))


@fault("report-hops-in-decimal", breaks="MQQB-3.1.5.8.9-06")
class ReportHopsInDecimal(Tracing):
    """The hops in the label of a report are a decimal number."""

    def build_report_label(self, message: Message, now: Now) -> str:
        label = super().build_report_label(message, now)
        return label.replace(f":{message.HopCount:02X} ", f":{message.HopCount:02} ", 1)


@fault("arrival-of-transactional-messages-not-reported", breaks=("MQQB-3.1.5.8.9-01", "MQQB-3.1.5.8-11"), blind=True)
class ArrivalOfTransactionalMessagesNotReported(Tracing):
    """A traced message that is transactional is not reported when it arrives."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received(message, now)


@fault("hops-in-the-label-of-a-report-decimal", breaks="MQQB-3.1.5.8.9-06", blind=True)
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
    blind=True,
)
