"""Faults of MS-MQQB 3.1.5.8.2: history entries with wrong identifiers, and recoverable messages that are handled like
express messages.
"""

from __future__ import annotations

from typing import Any

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import replace_method_during, set_fields
from harness.faults.registry import add
from reference_qm.codec import PrivateQueueFormatNameId, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.message_history import MessageHistory
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

HIGHEST_U32_BIT = 0x80000000


@fault("receiver-history-entries-all-have-source-of-first-message", breaks="MQQB-3.1.5.8.2-06", blind=True)
class ReceiverHistoryEntriesAllHaveSourceOfFirstMessage(MessageHistory):
    """The receiver's history entry of a message has the source of the first message that the receiver got."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        first = self.__dict__.setdefault("first_source", packet.UserHeader.SourceQueueManager)
        return super().remember_message(set_fields(packet, {"UserHeader.SourceQueueManager": first}), now)


@fault("receiver-history-entry-without-highest-bit-of-message-id", breaks="MQQB-3.1.5.8.2-06", blind=True)
class ReceiverHistoryEntryWithoutHighestBitOfMessageId(MessageHistory):
    """The receiver's history entry of a message has MessageID without its highest bit."""

    def remember_message(self, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
        low = packet.UserHeader.MessageID & ~HIGHEST_U32_BIT
        return super().remember_message(set_fields(packet, {"UserHeader.MessageID": low}), now)


def _make_history_recorder_with_session_guid(
    original: Any, qm: QueueManager, session: Session, packet: UserMessagePacket, *_: Any
) -> Any:
    changes = {"UserHeader.SourceQueueManager": session.RemoteQMGuid}
    return lambda qm, packet, now: original(qm, set_fields(packet, changes), now)


add(
    "receiver-history-entry-has-guid-of-session",
    "MQQB-3.1.5.8.2-06",
    "The receiver's history entry of a message has RemoteQMGuid of the session as the source of the message.",
    replace_method_during(
        MessageReceiving.put_received_message_into_queue,
        MessageHistory.remember_message,
        _make_history_recorder_with_session_guid,
    ),
    blind=True,
)


class RecoverableAckFlagOmissionFault(MessageReceiving):
    """Does not acknowledge those recoverable messages as stored that a subclass selects."""

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        """Return whether a message is not acknowledged as stored."""
        return False

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if self.is_acknowledgment_omitted(session, packet):
            receipt.must_be_acknowledged = False
        super().put_received_message_into_queue(session, packet, receipt, now)


@fault("receiver-recoverable-message-to-private-name-not-flagged", breaks="MQQB-3.1.5.8.2-48", blind=True)
class ReceiverRecoverableMessageToPrivateNameNotFlagged(RecoverableAckFlagOmissionFault):
    """The receiver sets no bit of RecoverableMsgAckFlags for a message to a private format name."""

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return isinstance(packet.UserHeader.DestinationQueue, PrivateQueueFormatNameId)


@fault("receiver-transactional-message-not-flagged", breaks="MQQB-3.1.5.8.2-48", blind=True)
class ReceiverTransactionalMessageNotFlagged(RecoverableAckFlagOmissionFault):
    """The receiver sets no bit of RecoverableMsgAckFlags for a transactional message."""

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return packet.TransactionHeader is not None


@fault("receiver-recoverable-ack-flags-empty-while-session-is-open", breaks="MQQB-3.1.5.8.2-48", blind=True)
class ReceiverRecoverableAckFlagsEmptyWhileSessionIsOpen(RecoverableAckFlagOmissionFault):
    """The receiver sets no bit of RecoverableMsgAckFlags while another session is open."""

    def is_acknowledgment_omitted(self, session: Session, packet: UserMessagePacket) -> bool:
        return bool(list_open_sessions(self.qm, session))
