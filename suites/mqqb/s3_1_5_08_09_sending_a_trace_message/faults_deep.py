"""Faults of MS-MQQB 3.1.5.8.9 Sending a Trace Message that only special cases reveal: second occurrences, other causes,
boundary values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.part import QM
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-report-to-queue-of-first-traced-message", breaks="MQQB-3.1.5.8.9-04", blind=True)
class ReceiverReportToQueueOfFirstTracedMessage(Tracing):
    """The receiver sends the report on each received message to the queue that the first traced message named."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: Message | None = None

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TracingRequested:
            self.first = self.first or message
            message = replace(message, TracingQueueIdentifier=self.first.TracingQueueIdentifier)
        super().trace_received(message, now)


@fault("receiver-report-of-second-message-not-sent", breaks="MQQB-3.1.5.8.9-01", blind=True)
class ReceiverReportOfSecondMessageNotSent(Tracing):
    """The receiver sends only one report to each queue, for the first traced message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.reported: set[Any] = set()

    def trace_received(self, message: Message, now: Now) -> None:
        if message.TracingQueueIdentifier not in self.reported:
            super().trace_received(message, now)
        if message.TracingRequested:
            self.reported.add(message.TracingQueueIdentifier)


@fault("receiver-report-body-names-target-of-first-message", breaks="MQQB-3.1.5.8.9-07", blind=True)
class ReceiverReportBodyNamesTargetOfFirstMessage(Tracing):
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
class ReceiverReportBodyMessageIdOf16Bits(Tracing):
    """The receiver puts only the lower 16 bits of the MessageID into the body of the report on a received message."""

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        identifier = message.Identifier
        if next_hop is None:
            message = replace(message, Identifier=replace(identifier, Ordinal=identifier.Ordinal & 0xFFFF))
        return super().build_report_body(message, next_hop)


@fault("receiver-reports-end-after-report-that-cannot-be-sent", breaks="MQQB-3.1.5.8.9-11", blind=True)
class ReceiverReportsEndAfterReportThatCannotBeSent(Tracing):
    """After a report whose queue cannot be opened, the receiver sends no further report."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.failed = False

    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        before = self.qm.adm.MessageIdOrdinal
        if not self.failed:
            super().send_report(message, next_hop, now)
        self.failed = self.failed or self.qm.adm.MessageIdOrdinal == before


def _send_with_class_of_message(
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
    during(Tracing.trace_received, OwnMessages.send, _send_with_class_of_message),
    blind=True,
)
