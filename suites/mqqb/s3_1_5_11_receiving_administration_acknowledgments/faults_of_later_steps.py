"""Faults with which an administration acknowledgment skips later steps of its receipt. MS-MQQB 3.1.5.11."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.transfer.history import History
from reference_qm.core.transfer.tracing import Tracing
from reference_qm.model.adm import Message, MessageIDHistoryEntry, Queue
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.clock import Now


@fault("receiver-repeated-administration-ack-stored-twice", breaks="MQQB-3.1.5.11-01", blind=True)
class ReceiverRepeatedAdministrationAckStoredTwice(History):
    """The receiver stores a repeated administration acknowledgment a second time."""

    def find_duplicate(self, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
        normal = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_NORMAL
        return super().find_duplicate(packet) if normal else None


@fault("receiver-administration-ack-above-quota-stored", breaks="MQQB-3.1.5.11-01", blind=True)
class ReceiverAdministrationAckAboveQuotaStored(Quotas):
    """The receiver stores an administration acknowledgment in a queue whose quota it exceeds."""

    def check(self, queue: Queue, message: Message) -> EnqueueStatus:
        status = super().check(queue, message)
        own = message.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        if message.Class == MessageClass.MQMSG_CLASS_NORMAL or own:
            return status
        return EnqueueStatus.NO_ERROR


@fault("receiver-traced-administration-ack-not-reported", breaks="MQQB-3.1.5.11-01", blind=True)
class ReceiverTracedAdministrationAckNotReported(Tracing):
    """The receiver sends no report for an administration acknowledgment with BaseHeader.Flags.TR set."""

    def trace_received(self, message: Message, now: Now) -> None:
        if message.Class == MessageClass.MQMSG_CLASS_NORMAL:
            super().trace_received(message, now)
