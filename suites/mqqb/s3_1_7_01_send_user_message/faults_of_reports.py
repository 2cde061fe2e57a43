"""Faults of MS-MQQB 3.1.7.1.7 Sending Trace Message: reports on later messages, and on messages of some
delivery modes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.message import Message
from reference_qm.model.states import DeliveryGuarantee


def _omit_trace_report(when: Callable[[Any, Any, Any], bool]) -> Install:
    def run(self: Any, original: Any, session: Any, message: Any, now: Any) -> None:
        reported = self.__dict__.setdefault("reported", [])
        if message.TracingRequested and when(reported, session, message):
            return
        if message.TracingRequested:
            reported.append(message)
        original(session, message, now)

    return change_step(MessageTracing.trace_sent_message, run)


def _change_trace_report(change: Callable[[Any, Any, Message], Message]) -> Install:
    """Return an installer of a fault that changes reports. ``change`` gets the part, the earlier and the new report."""

    def run(self: Any, original: Any, message: Message, now: Any) -> None:
        if message.Class is MessageClass.MQMSG_CLASS_REPORT:
            last = self.__dict__.setdefault("reports", [])
            new = change(self, last, message)
            last.append(message)
            message = new
        original(message, now)

    return change_step(OwnMessageSending.send, run)


def _repeat_attribute_of_last_report(attribute: str) -> Callable[[Any, Any, Message], Message]:
    return lambda self, last, report: replace(report, **{attribute: getattr(last[-1], attribute)}) if last else report


def _report_next_hop_of_first_session(self: Any, original: Any, session: Any, message: Any, now: Any) -> None:
    first = self.__dict__.setdefault("address", session.RemoteQMAddress)
    if not message.TracingRequested or not self.qm.config.report_messages:
        return
    self.send_report(message, first, now)


def _reuse_identifier_of_first_report(self: Any, original: Any, message: Message, now: Any) -> None:
    before = self.qm.adm.MessageIdOrdinal
    original(message, now)
    reports = self.__dict__.setdefault("count", [])
    if message.Class is MessageClass.MQMSG_CLASS_REPORT:
        reports.append(message)
        if len(reports) > 1:
            self.qm.adm.MessageIdOrdinal = before


_FAULTS: tuple[tuple[str, str | tuple[str, ...], str, Install], ...] = (
    (
        "sender-second-report-omitted",
        "MQQB-3.1.7.1.7-01",
        "The sender sends a report only for the first traced message.",
        _omit_trace_report(lambda reported, session, message: bool(reported)),
    ),
    (
        "sender-report-of-recoverable-message-omitted",
        ("MQQB-3.1.7.1.7-01", "MQQB-3.1.7.1-11"),
        "The sender sends no report for a traced message that is recoverable.",
        _omit_trace_report(lambda reported, session, message: bool(message.DeliveryGuarantee)),
    ),
    (
        "sender-report-of-transactional-message-omitted",
        ("MQQB-3.1.7.1.7-01", "MQQB-3.1.7.1-11"),
        "The sender sends no report for a traced message that is transactional.",
        _omit_trace_report(lambda reported, session, message: message.TransactionIdentifier is not None),
    ),
    (
        "sender-reports-share-identifier",
        "MQQB-3.1.7.1.7-02",
        "The sender gives the message after the second report the identifier of that report.",
        change_step(OwnMessageSending.send, _reuse_identifier_of_first_report),
    ),
    *(
        (
            f"sender-second-report-repeats-{label}",
            rule,
            f"The sender repeats {attribute} of the previous report in each later report.",
            _change_trace_report(_repeat_attribute_of_last_report(attribute)),
        )
        for label, attribute, rule in (
            ("label", "Label", "MQQB-3.1.7.1.7-04"),
            ("body", "Body", "MQQB-3.1.7.1.7-05"),
        )
    ),
    (
        "sender-second-report-recoverable",
        "MQQB-3.1.7.1.7-03",
        "The sender sends the second report and each later report as a recoverable message.",
        _change_trace_report(
            lambda self, last, report: (
                replace(report, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE) if last else report
            )
        ),
    ),
    (
        "sender-report-with-first-next-hop",
        "MQQB-3.1.7.1.7-05",
        "The sender names the address of its first session as the next hop in each report.",
        change_step(MessageTracing.trace_sent_message, _report_next_hop_of_first_session),
    ),
)
for _name, _breaks, _says, _install in _FAULTS:
    add(_name, _breaks, _says, _install, blind=True)
