"""Faults of MS-MQQB 3.1.7.1.7 Sending Trace Message."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import skip
from harness.faults.registry import add
from harness.faults.reports import ELSEWHERE, reported_with
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

add(
    "report-sent-missing",
    ("MQQB-3.1.7.1.7-01", "MQQB-3.1.7.1.7-02"),
    "What was sent is not reported.",
    skip(Tracing.trace_sent),
)
_ELEMENTS: tuple[tuple[str, str, str, Any], ...] = (
    ("report-sent-class", "MQQB-3.1.7.1.7-03", "Class", MessageClass.MQMSG_CLASS_NORMAL),
    ("report-sent-queue", "MQQB-3.1.7.1.7-03", "DestinationQueueFormatName", ELSEWHERE),
    ("report-sent-delivery", "MQQB-3.1.7.1.7-03", "DeliveryGuarantee", DeliveryGuarantee.RECOVERABLE),
    ("report-sent-label", "MQQB-3.1.7.1.7-04", "Label", lambda old: f"0{old}"),
    ("report-sent-body", "MQQB-3.1.7.1.7-05", "Body", lambda old: old[2:]),
)
for _name, _rule, _element, _value in _ELEMENTS:
    _says = f"A report of what was sent has another {_element}."
    add(_name, _rule, _says, reported_with(Tracing.trace_sent, _element, _value))


@fault("report-sent-host-name", breaks="MQQB-3.1.7.1.7-05")
class NextHopByName(Tracing):
    """The next hop in a report of what was sent is the name of the host."""

    def trace_sent(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested:
            self.send_report(message, session.RemoteQMHostName, now)
