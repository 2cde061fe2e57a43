"""Faults that break rules of MS-MQQB 3.1.5.8.9 Sending a Trace Message for a later report or another message."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-report-of-second-traced-message-missing", breaks="MQQB-3.1.5.8.9-02", blind=True)
class ReceiverReportOfSecondTracedMessageMissing(Tracing):
    """The receiver creates no message for the report on the second traced message."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TracingRequested:
            self.__dict__["traced"] = self.__dict__.get("traced", 0) + 1
        if self.__dict__.get("traced") != 2:
            super().trace_received(message, now)


@fault("receiver-report-of-transactional-traced-message-missing", breaks="MQQB-3.1.5.8.9-02", blind=True)
class ReceiverReportOfTransactionalTracedMessageMissing(Tracing):
    """The receiver creates no message for the report on a transactional message."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TransactionIdentifier is None:
            super().trace_received(message, now)


@fault("receiver-report-queue-of-first-report-kept", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverReportQueueOfFirstReportKept(Tracing):
    """The receiver opens only the report queue of the first traced message, and sends each later report to it."""

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        first = self.__dict__.setdefault("first_queue", message.TracingQueueIdentifier)
        super().send_report(replace(message, TracingQueueIdentifier=first), next_hop, now)


@fault("receiver-report-queue-not-opened-for-recoverable-message", breaks="MQQB-3.1.5.8.9-08", blind=True)
class ReceiverReportQueueNotOpenedForRecoverableMessage(Tracing):
    """The receiver does not open the report queue for a report on a recoverable message."""

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        if message.DeliveryGuarantee.name != "RECOVERABLE" or message.TransactionIdentifier is not None:
            super().send_report(message, next_hop, now)
