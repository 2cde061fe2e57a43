"""Faults of MS-MQQB 3.1.5.8.9 Sending a Trace Message: in some kinds of messages and in later reports."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.own_message_sending import OwnMessageSending
from reference_qm.model.adm import Message
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

LARGE_BODY_BYTES = 0x1000
MESSAGE_CLASS_OF_REPORT = 1


class _ReportOmissionFault(MessageTracing):
    def is_report_omitted(self, message: Message) -> bool:
        raise NotImplementedError

    def trace_received_message(self, message: Message, now: Now) -> None:
        if not self.is_report_omitted(message):
            super().trace_received_message(message, now)


@fault("receiver-report-of-message-with-jn-omitted", breaks="MQQB-3.1.5.8.9-01")
class ReceiverReportOfMessageWithJnOmitted(_ReportOmissionFault):
    """The receiver sends no report on a traced message with JN."""

    def is_report_omitted(self, message: Message) -> bool:
        return message.NegativeJournalingRequested


@fault("receiver-report-of-large-message-omitted", breaks="MQQB-3.1.5.8.9-01")
class ReceiverReportOfLargeMessageOmitted(_ReportOmissionFault):
    """The receiver sends no report on a traced message with more than 4,096 bytes of body."""

    def is_report_omitted(self, message: Message) -> bool:
        return len(message.Body) > LARGE_BODY_BYTES


@fault("receiver-report-of-message-with-pa-omitted", breaks="MQQB-3.1.5.8.9-01")
class ReceiverReportOfMessageWithPaOmitted(_ReportOmissionFault):
    """The receiver sends no report on a traced message that requests acknowledgments."""

    def is_report_omitted(self, message: Message) -> bool:
        return bool(message.AcknowledgementsRequested)


@fault("receiver-report-of-acknowledgment-class-omitted", breaks="MQQB-3.1.5.8.9-01")
class ReceiverReportOfAcknowledgmentClassOmitted(_ReportOmissionFault):
    """The receiver sends no report on a traced message whose MessageClass is not MQMSG_CLASS_NORMAL."""

    def is_report_omitted(self, message: Message) -> bool:
        return message.Class != 0


class _ReportFault(OwnMessageSending):
    def change_report(self, message: Message) -> Message:
        raise NotImplementedError

    def send(self, message: Message, now: Now) -> None:
        super().send(self.change_report(message) if message.Class == MESSAGE_CLASS_OF_REPORT else message, now)


@fault("receiver-second-report-is-recoverable", breaks="MQQB-3.1.5.8.9-05")
class ReceiverSecondReportIsRecoverable(_ReportFault):
    """The receiver sends every report after the first as a recoverable message."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent = False

    def change_report(self, message: Message) -> Message:
        sent, self._sent = self._sent, True
        return replace(message, DeliveryGuarantee=DeliveryGuarantee.RECOVERABLE) if sent else message


@fault("receiver-report-has-body-of-first-report", breaks="MQQB-3.1.5.8.9-07")
class ReceiverReportHasBodyOfFirstReport(_ReportFault):
    """The receiver sends the body of the first report in each report."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._body = b""

    def change_report(self, message: Message) -> Message:
        self._body = self._body or message.Body
        return replace(message, Body=self._body)


@fault("receiver-sends-each-report-after-first-with-class-normal", breaks="MQQB-3.1.5.8.9-03")
class ReceiverSendsEachReportAfterFirstWithClassNormal(_ReportFault):
    """The receiver sends every report after the first with the class MQMSG_CLASS_NORMAL."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._sent = False

    def change_report(self, message: Message) -> Message:
        sent, self._sent = self._sent, True
        return replace(message, Class=type(message.Class)(0)) if sent else message


class _ReportLabelFault(MessageTracing):
    def change_message(self, message: Message) -> Message:
        raise NotImplementedError

    def build_report_label(self, message: Message, now: Now) -> str:
        return super().build_report_label(self.change_message(message), now)


@fault("receiver-report-label-message-id-of-16-bits", breaks="MQQB-3.1.5.8.9-06")
class ReceiverReportLabelMessageIdOf16Bits(_ReportLabelFault):
    """The receiver writes only the lower 16 bits of the MessageID into the label of a report."""

    def change_message(self, message: Message) -> Message:
        identifier = message.Identifier
        return replace(message, Identifier=MessageIdentifier(identifier.QueueManagerGuid, identifier.Ordinal & 0xFFFF))


@fault("receiver-report-label-hops-at-most-15", breaks="MQQB-3.1.5.8.9-06")
class ReceiverReportLabelHopsAtMost15(_ReportLabelFault):
    """The receiver writes at most 15 hops into the label of a report."""

    def change_message(self, message: Message) -> Message:
        return replace(message, HopCount=min(message.HopCount, 0xF))


@fault("receiver-report-label-has-own-identifier-for-routed-message", breaks="MQQB-3.1.5.8.9-06")
class ReceiverReportLabelHasOwnIdentifierForRoutedMessage(_ReportLabelFault):
    """The receiver writes its own Identifier into the label of a report on a message with hops."""

    def change_message(self, message: Message) -> Message:
        if not message.HopCount:
            return message
        return replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, message.Identifier.Ordinal))


@fault("receiver-report-body-without-target-of-transactional-message", breaks="MQQB-3.1.5.8.9-07")
class ReceiverReportBodyWithoutTargetOfTransactionalMessage(MessageTracing):
    """The receiver writes no target queue into the body of a report on a transactional message."""

    def build_report_body(self, message: Message, next_hop: str | None) -> str:
        if message.TransactionIdentifier is not None:
            message = replace(message, DestinationQueueFormatName="")
        return super().build_report_body(message, next_hop)


@fault("receiver-sends-each-report-to-queue-of-previous-report", breaks="MQQB-3.1.5.8.9-04")
class ReceiverSendsEachReportToQueueOfPreviousReport(_ReportFault):
    """The receiver sends each report to the report queue of the previous report."""

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self._last: str | None = None

    def change_report(self, message: Message) -> Message:
        last, self._last = self._last, message.DestinationQueueFormatName
        return message if last is None else replace(message, DestinationQueueFormatName=last)
