"""Faults of MS-MQQB 3.1.5.8.9 Sending a Trace Message: report queues that are not opened, and reports that are not new
messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message, Queue
from reference_qm.surface.clock import Now


def copy_message_elements_into_report(*elements: str) -> Install:
    """Return an installer of a fault that copies elements of a traced message into the report on its arrival."""

    def make_copying_send(original: Any, qm: QueueManager, message: Message, now: Now) -> Any:
        copied: dict[str, Any] = {element: getattr(message, element) for element in elements}
        return lambda qm, report, now: original(qm, replace(report, **copied), now)

    return replace_method_during(MessageTracing.trace_received_message, OwnMessageSending.send, make_copying_send)


add(
    "receiver-report-has-correlation-and-tag-of-traced-message",
    "MQQB-3.1.5.8.9-02",
    "The receiver copies CorrelationIdentifier and ApplicationTag of the received message into the report.",
    copy_message_elements_into_report("CorrelationIdentifier", "AppSpecific"),
    blind=True,
)


@fault("receiver-second-report-has-message-id-of-first", breaks="MQQB-3.1.5.8.9-02", blind=True)
class ReceiverSecondReportHasMessageIdOfFirst(OwnMessageSending):
    """The receiver gives each later report the ordinal of the first report."""

    def send(self, message: Message, now: Now) -> None:
        if message.Class is not MessageClass.MQMSG_CLASS_REPORT:
            super().send(message, now)
            return
        last = self.qm.adm.MessageIdOrdinal
        self.qm.adm.MessageIdOrdinal = self.__dict__.setdefault("before_first", last)
        super().send(message, now)
        self.qm.adm.MessageIdOrdinal = max(last, self.qm.adm.MessageIdOrdinal)


@fault("receiver-known-report-queue-not-opened-again", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverKnownReportQueueNotOpenedAgain(OwnMessageSending):
    """The receiver does not open the report queue if an outgoing queue for it exists."""

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        known = message.DestinationQueueFormatName.lower() in self.qm.adm.OutgoingQueues
        if known and message.Class is MessageClass.MQMSG_CLASS_REPORT:
            return None
        return super()._open_queue(message, now)


@fault("receiver-report-queue-opened-exclusively", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverReportQueueOpenedExclusively(OwnMessageSending):
    """The receiver does not open a report queue that an application has open."""

    def _open_queue(self, message: Message, now: Now) -> Queue | None:
        queue = super()._open_queue(message, now)
        used = queue is not None and queue.Active and message.Class is MessageClass.MQMSG_CLASS_REPORT
        return None if used else queue
