"""Faults that break rules of MS-MQQB 3.1.5.8.2 about history entries and hop counts of later messages."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_routing import HIGHEST_HOP_COUNT, MessageRouting
from reference_qm.model.adm import MessageIDHistoryEntry
from reference_qm.surface.clock import Now
from suites.mqmq.steps.kinds_of_messages import is_express, is_transactional


@fault("receiver-history-entry-of-transactional-message-has-own-guid", breaks="MQQB-3.1.5.8.2-06", blind=True)
class ReceiverHistoryEntryOfTransactionalMessageHasOwnGuid(MessageHistory):
    """The receiver's history entry of a transactional message has the GUID of the receiver."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        if is_transactional(packet):
            own = self.qm.adm.Identifier
            packet = replace(packet, UserHeader=replace(packet.UserHeader, SourceQueueManager=own))
        return super().remember_message(packet, now)


def _replace_entry_time_stamp(
    history: MessageHistory, entry: MessageIDHistoryEntry, time_s: int
) -> MessageIDHistoryEntry:
    changed = replace(entry, TimeStamp=time_s & 0xFFFFFFFF)
    history.qm.adm.MessageIDHistoryTable.insert(changed)
    return changed


@fault("receiver-history-time-stamp-of-recoverable-message-is-in-ms", breaks="MQQB-3.1.5.8.2-08", blind=True)
class ReceiverHistoryTimeStampOfRecoverableMessageIsInMs(MessageHistory):
    """TimeStamp of the receiver's history entry of a recoverable message is in milliseconds."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        entry = super().remember_message(packet, now)
        return entry if is_express(packet) else _replace_entry_time_stamp(self, entry, 1000 * now.utc_s)


@fault("receiver-history-entry-has-sent-time", breaks="MQQB-3.1.5.8.2-08", blind=True)
class ReceiverHistoryEntryHasSentTime(MessageHistory):
    """TimeStamp of the receiver's history entry is SentTime of the message."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        return _replace_entry_time_stamp(self, super().remember_message(packet, now), packet.UserHeader.SentTime)


@fault("router-hop-count-of-transactional-message-not-checked", breaks="MQQB-3.1.5.8.2-38", blind=True)
class RouterHopCountOfTransactionalMessageNotChecked(MessageRouting):
    """The receiver does not check the hop count of a transactional message for another queue manager."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is None and is_transactional(packet) else counted


@fault("router-hop-count-of-express-message-not-checked", breaks="MQQB-3.1.5.8.2-38", blind=True)
class RouterHopCountOfExpressMessageNotChecked(MessageRouting):
    """The receiver does not check the hop count of an express message for another queue manager."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        counted = super().increment_hop_count(packet)
        return packet if counted is None and is_express(packet) else counted


@fault("router-hop-count-checked-one-hop-early", breaks="MQQB-3.1.5.8.2-38", blind=True)
class RouterHopCountCheckedOneHopEarly(MessageRouting):
    """The receiver refuses a message for another queue manager one hop before its hop count exceeds the limit."""

    def increment_hop_count(self, packet: UserMessagePacket) -> UserMessagePacket | None:
        return None if packet.UserHeader.RC >= HIGHEST_HOP_COUNT - 1 else super().increment_hop_count(packet)
