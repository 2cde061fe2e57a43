"""Faults that break rules of MS-MQQB 3.1.7.1.7 Sending Trace Message."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import omit_step
from harness.faults.registry import add
from harness.faults.reports import FOREIGN_QUEUE_NAME, change_report_element
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.model.adm import Message, Session
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

add(
    "sender-report-of-sent-message-not-sent",
    ("MQQB-3.1.7.1.7-01", "MQQB-3.1.7.1.7-02"),
    "The sender sends no report on a traced message that it sends.",
    omit_step(MessageTracing.trace_sent_message),
)
_REPORT_ELEMENT_FAULTS: tuple[tuple[str, str, str, Any], ...] = (
    ("sender-report-class-normal", "MQQB-3.1.7.1.7-03", "Class", MessageClass.MQMSG_CLASS_NORMAL),
    ("sender-report-destination-wrong", "MQQB-3.1.7.1.7-03", "DestinationQueueFormatName", FOREIGN_QUEUE_NAME),
    ("sender-report-recoverable", "MQQB-3.1.7.1.7-03", "DeliveryGuarantee", DeliveryGuarantee.RECOVERABLE),
    ("sender-report-label-wrong", "MQQB-3.1.7.1.7-04", "Label", lambda old: f"0{old}"),
    ("sender-report-body-wrong", "MQQB-3.1.7.1.7-05", "Body", lambda old: old[2:]),
)
for _name, _rule, _element, _value in _REPORT_ELEMENT_FAULTS:
    _says = f"The sender's report on a sent message has a wrong {_element}."
    add(_name, _rule, _says, change_report_element(MessageTracing.trace_sent_message, _element, _value))


@fault("sender-report-names-next-hop-by-host-name", breaks="MQQB-3.1.7.1.7-05")
class SenderReportNamesNextHopByHostName(MessageTracing):
    """The sender puts the host name of the next hop, instead of its address, into its report."""

    def trace_sent_message(self, session: Session, message: Message, now: Now) -> None:
        if message.TracingRequested:
            self.send_report(message, session.RemoteQMHostName, now)
