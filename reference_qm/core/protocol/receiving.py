"""Receiving messages. Spec: MS-MQQB 3.1.5.8."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reference_qm.codec import (
    NULL_GUID,
    DirectQueueFormatName,
    MessageIdentifier,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
    UserMessagePacket,
)
from reference_qm.core.protocol.durability import history_entry, history_name, message_entry, transfer_entry
from reference_qm.core.protocol.messages import DIRECT, deserialize_message
from reference_qm.core.protocol.order_acks import is_final_ack, is_order_ack
from reference_qm.model.adm import Acceptance, MessageIDHistoryEntry, RecoverableReceipt, next_u16
from reference_qm.model.states import MessagePositionState, SessionState
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.effects import Persist

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import MessagePosition, Queue, Session
    from reference_qm.surface.clock import Now

UNSAVED_LIMIT = 0x7FFF
"""Recoverable messages of a session that may wait for the disk: half of what 16-bit numbers tell apart."""


@dataclass(slots=True)
class Saving:
    """A message that is being put on disk, and what may be acknowledged when it is there."""

    position: MessagePosition
    entry: MessageIDHistoryEntry
    claims: list[tuple[Session, RecoverableReceipt]] = field(default_factory=list)
    acceptance: Acceptance | None = None
    """Of a transactional message."""
    routed: UserMessagePacket | None = None
    """What goes on, of a message for another queue manager."""


def receive_user_message(qm: QueueManager, session: Session, packet: UserMessagePacket, now: Now) -> None:
    """Take a UserMessage Packet. Spec: MS-MQQB 3.1.5.8.

    Every packet is counted first, as MS-MQMQ 2.2.20.4 defines the counts: were duplicates and refused messages not,
    both sides' counts would differ for ever. The SessionHeader says nothing about the message, so it is processed
    whatever becomes of the message, and the message whatever becomes of the session (note <14>'s field text).
    """
    if len(session.receipts) >= UNSAVED_LIMIT:
        reason = f"{UNSAVED_LIMIT} messages wait for the disk: sequence numbers would repeat (MS-MQQB 3.1.5.8.7)"
        qm.procedures.close_session(qm, session, reason, now)
        return
    receipt = RecoverableReceipt()
    if packet.UserHeader.DM:
        session.receipts.append(receipt)
    qm.procedures.count_received(qm, session, packet)
    qm.procedures.note_activity(qm, session, packet, now)
    if packet.SessionHeader is not None:
        qm.procedures.process_session_header(qm, session, packet.SessionHeader, now)
    qm.procedures.take_message(qm, session, packet, receipt, now)
    if packet.UserHeader.DM and receipt.done:
        qm.procedures.await_consequences(qm, session, receipt, now)
    qm.procedures.flag_recoverable(qm, session, now)
    qm.procedures.acknowledge_full_window(qm, session, now)


def await_consequences(qm: QueueManager, session: Session, receipt: RecoverableReceipt, now: Now) -> None:
    """Acknowledge a message that is no more than what it caused when that is on disk. Spec: MS-MQQB 3.1.5.8.7.

    It may have been refused into the dead letters, or be a FinalAck that moved another one: lost with the process, that
    would never happen again, for nobody sends an acknowledged message again.
    """
    receipt.done = False

    def reached(at: Now) -> None:
        receipt.done = True
        qm.procedures.flag_recoverable(qm, session, at)

    def missed(error: str, at: Now) -> None:
        _close_unsaved(qm, session, receipt, error, at)

    qm.disk.when_saved(reached, missed, now)


def count_received(qm: QueueManager, session: Session, packet: UserMessagePacket) -> None:
    """Count a message in the session's sequences. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.7, MS-MQMQ 2.2.20.4."""
    session.MessageReceivedCount = next_u16(session.MessageReceivedCount)
    session.UnackedReceivedMsgCount = next_u16(session.UnackedReceivedMsgCount)
    if packet.UserHeader.DM:
        session.RecoverableMessageReceivedCount = next_u16(session.RecoverableMessageReceivedCount)


def note_activity(qm: QueueManager, session: Session, packet: UserMessagePacket, now: Now) -> None:
    """Note that the session is used and owes an acknowledgment. Spec: MS-MQQB 3.1.5.8.2."""
    if packet.UserHeader.DQ == DIRECT:
        session.DirectFormatSession = True
    if not qm.timers.is_running(TimerKey(TimerName.SESSION_ACK_SEND, session.number)):
        qm.procedures.start_timer(qm, session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)
    session.SessionActive = True


def take_message(
    qm: QueueManager, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
) -> None:
    """Put a message into its queue, unless it came before or cannot be accepted. Spec: MS-MQQB 3.1.5.8.

    A message that is disregarded is acknowledged all the same, or it would be sent again for ever. OrderAcks and
    FinalAcks are told by 3.1.5.1.1; they are counted as messages, as figure 14 has it.
    """
    if not qm.procedures.is_addressed_here(qm, packet):
        qm.procedures.route_message(qm, session, packet, receipt, now)
        return
    for is_one, take in (
        (is_order_ack, qm.procedures.receive_order_ack),
        (is_final_ack, qm.procedures.receive_final_ack),
    ):
        if is_one(packet):
            receipt.done = True
            take(qm, session, packet, now)
            return
    if packet.UserHeader.TH:
        qm.procedures.take_transactional(qm, session, packet, receipt, now)
        return
    entry = qm.procedures.find_duplicate(qm, packet)
    if entry is not None:
        qm.procedures.disregard_duplicate(qm, session, entry, receipt, now)
        return
    entry = qm.procedures.remember_message(qm, packet, now)
    queue = qm.procedures.find_destination(qm, packet)
    admitted = qm.procedures.admit(qm, session, packet, queue, now)
    if queue is None or admitted is None:
        receipt.done = True
        qm.disk.save(history_entry(entry))
        return
    message = deserialize_message(admitted, qm.adm.Identifier, now.utc_s)
    if not qm.procedures.has_room(qm, session, admitted, queue, message, now):
        receipt.done = session.SessionState is SessionState.OPEN
        if receipt.done:
            qm.disk.save(history_entry(entry))
        else:
            qm.adm.MessageIDHistoryTable.remove(entry)
        return
    position = qm.procedures.insert_message(qm, queue, message)
    if packet.UserHeader.DM:
        qm.procedures.save_message(qm, Saving(position, entry, [(session, receipt)]), admitted)
    else:
        qm.disk.save(history_entry(entry))
        qm.procedures.message_arrived(qm, position, now)


def message_arrived(qm: QueueManager, position: MessagePosition, now: Now) -> None:
    """Let a message be received that is in its queue, and on disk if need be. Spec: MS-MQQB 3.1.5.8 steps 8 to 10."""
    qm.procedures.message_available(qm, position)
    qm.procedures.trace_received(qm, position.MessageReference, now)
    qm.procedures.acknowledge_arrival(qm, position, now)


def find_duplicate(qm: QueueManager, packet: UserMessagePacket) -> MessageIDHistoryEntry | None:
    """Find the entry of a message that came before. Spec: MS-MQQB 3.1.5.8.1.

    The whole MessageIdentifier is compared: ordinals are unique only within a queue manager.
    """
    return qm.adm.MessageIDHistoryTable.find(packet.UserHeader.SourceQueueManager, packet.UserHeader.MessageID)


def disregard_duplicate(
    qm: QueueManager, session: Session, entry: MessageIDHistoryEntry, receipt: RecoverableReceipt, now: Now
) -> None:
    """Note a duplicate's time and discard it. Spec: MS-MQQB 3.1.5.8.1.

    It is acknowledged when the message that it repeats is on disk.
    """
    entry = replace(entry, TimeStamp=now.utc_s)
    qm.adm.MessageIDHistoryTable.insert(entry)
    for saving in qm.savings.values():
        if saving.entry.MessageIdentifier == entry.MessageIdentifier:
            saving.claims.append((session, receipt))
            return
    receipt.done = True
    qm.disk.save(history_entry(entry))


def remember_message(qm: QueueManager, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
    """Enter a message into the MessageIDHistoryTable. Spec: MS-MQQB 3.1.5.8.2."""
    header = packet.UserHeader
    entry = MessageIDHistoryEntry(MessageIdentifier(header.SourceQueueManager, header.MessageID), now.utc_s)
    evicted = qm.adm.MessageIDHistoryTable.insert(entry)
    if evicted is not None:
        qm.disk.save({history_name(evicted): None})
    if not qm.timers.is_running(TimerKey(TimerName.MESSAGE_ID_HISTORY_CLEANUP, 0)):
        qm.procedures.start_history_timer(qm, now)
    return entry


def is_addressed_here(qm: QueueManager, packet: UserMessagePacket) -> bool:
    """Is this the queue manager that a message is for? Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.5.

    A QueueManagerAddress of zeros, which all direct names have, means this queue manager: read otherwise, direct
    messages would be routed for ever.
    """
    return packet.UserHeader.QueueManagerAddress in (NULL_GUID, qm.adm.Identifier)


def find_destination(qm: QueueManager, packet: UserMessagePacket) -> Queue | None:
    """Find the local queue that a message is for; None when there is none. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.5."""
    header = packet.UserHeader
    if isinstance(header.DestinationQueue, DirectQueueFormatName):
        path = header.DestinationQueue.DirectFormatName.partition("\\")[2]
        return qm.adm.QueueCollection.get(path.lower())
    if isinstance(header.DestinationQueue, PrivateQueueFormatNameId):
        return qm.adm.QueueCollection.find_private(header.DestinationQueue.PrivateQueueIdentifier)
    if isinstance(header.DestinationQueue, PublicQueueFormatName):
        return qm.adm.QueueCollection.find_public(header.DestinationQueue.PublicQueueIdentifier)
    return None


def save_message(qm: QueueManager, saving: Saving, packet: UserMessagePacket) -> None:
    """Put a recoverable message on disk before it is acknowledged or received. Spec: MS-MQQB 3.1.5.8.7.

    Message and history entry go together: remembered without its message, it would be taken for a duplicate and lost.
    """
    token = qm.next_persist_token()
    qm.savings[token] = saving
    saving.position.key = token
    saving.position.awaits_disk = True
    change = message_entry(saving.position, packet.build(), saving.acceptance) | history_entry(saving.entry)
    if saving.acceptance is not None:
        change |= transfer_entry(saving.acceptance.transfer)
    qm.emit(Persist(token, change))


def on_persisted(qm: QueueManager, saving: Saving, now: Now) -> None:
    """Let a message be received and acknowledged that is on disk now. Spec: MS-MQQB 3.1.5.8.7, 3.1.5.8.8."""
    for session, receipt in saving.claims:
        receipt.done = True
        qm.procedures.flag_recoverable(qm, session, now)
    if saving.acceptance is not None:
        qm.procedures.confirm_saved(qm, saving.acceptance, [session for session, _ in saving.claims], now)
    elif saving.routed is not None:
        qm.procedures.send_on(qm, saving.position, saving.routed, now)
    elif saving.position.State is MessagePositionState.LOCKED:
        qm.procedures.message_arrived(qm, saving.position, now)


def on_persist_failed(qm: QueueManager, saving: Saving, error: str, now: Now) -> None:
    """Forget a message that cannot be saved and close, so that it is sent again. Spec: MS-MQQB 3.1.5.8.7."""
    saving.position.State = MessagePositionState.DELETED
    if saving.routed is None:
        saving.position.QueueReference.MessagePositionList.remove(saving.position)
    qm.adm.MessageIDHistoryTable.remove(saving.entry)
    if saving.acceptance is not None and saving.acceptance in saving.acceptance.transfer.unsaved:
        qm.procedures.withdraw_unsaved(qm, saving.acceptance.transfer)
    for session, receipt in saving.claims:
        _close_unsaved(qm, session, receipt, error, now)


def _close_unsaved(qm: QueueManager, session: Session, receipt: RecoverableReceipt, error: str, now: Now) -> None:
    if session.SessionState is SessionState.OPEN and receipt in session.receipts:
        qm.procedures.close_session(qm, session, f"a message could not be saved: {error} (MS-MQQB 3.1.5.8.7)", now)
