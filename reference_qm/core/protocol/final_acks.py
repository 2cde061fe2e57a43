"""Final acknowledgments, both sides. Spec: MS-MQQB 2.2.5, 3.1.5.7, 3.1.5.8.2, 3.1.7.2.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reference_qm.codec import FinalAckBody, FormatError, MessageClass, UserMessagePacket
from reference_qm.core.protocol.destinations import open_outgoing
from reference_qm.core.protocol.durability import gone, is_awaited
from reference_qm.core.protocol.transactional import leave_window
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition
from reference_qm.model.states import SessionState

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import Session
    from reference_qm.surface.clock import Now


# -- the sender of transactional messages ---------------------------------------------------------------------------


def receive_final_ack(qm: QueueManager, session: Session, packet: UserMessagePacket, now: Now) -> None:
    """End the story of a message that was refused, or left its queue. Spec: MS-MQQB 3.1.5.7.

    The message is deleted also when nobody asked for journaling: a message that was refused would else be sent for
    ever. One that is not known any more was acknowledged before.
    """
    properties = packet.MessagePropertiesHeader
    try:
        body = FinalAckBody.parse(properties.MessageBody)
    except FormatError as error:
        qm.procedures.refuse_malformed(qm, session, error, now)
        return
    if body.SourceGUID != qm.adm.Identifier:
        return
    for queue in qm.adm.OutgoingQueues.values():
        sender = queue.session
        position = sender.AwaitingFinalACKTable.pop(body.MessageID, None)
        if position is None:
            position = sender.OutgoingMessageTable.find(body.SourceGUID, body.MessageID)
            if position is None or not position.TxSequenceNumber:
                continue
            leave_window(sender, position)
            sender.OutgoingMessageTable.remove(position)
            qm.procedures.leave_sequence(qm, sender, position)
        qm.procedures.journal_final(qm, position, properties.MessageClass)
        qm.procedures.note_transfer(qm, sender)
        qm.procedures.dispatch_messages(qm, sender, now)
        return


def journal_final(qm: QueueManager, position: OutgoingMessagePosition, message_class: int) -> None:
    """Put a message into the journal or among the dead letters, as it asks for. Spec: MS-MQQB 3.1.5.7."""
    received = message_class == MessageClass.MQMSG_CLASS_ACK_RECEIVE
    journal = qm.procedures.journal_delivered if received else qm.procedures.journal_failed
    journal(qm, position.MessagePosition)


# -- the receiver of transactional messages -------------------------------------------------------------------------


def position_deleted(qm: QueueManager, position: MessagePosition, reason: MessageClass) -> None:
    """Note that a message left its queue, if anybody wants to know. Spec: MS-MQDMPR 3.1.7.2.1, MS-MQQB 3.1.7.2."""
    qm.procedures.journal_received(qm, position, reason)
    if is_awaited(position, reason):
        qm.removed.append((position, reason))


def acknowledge_removed(qm: QueueManager, now: Now) -> None:
    """Send the acknowledgments of the messages that left their queues. Spec: MS-MQQB 3.1.7.2."""
    while qm.removed:
        position, reason = qm.removed.pop(0)
        qm.procedures.acknowledge_receive(qm, position.MessageReference, reason, now)
        qm.procedures.acknowledge_final(qm, position, reason, now)
        qm.disk.save(gone([position]))


def acknowledge_final(qm: QueueManager, position: MessagePosition, reason: MessageClass, now: Now) -> None:
    """Send the FinalAck of a message that left its queue, if it has one. Spec: MS-MQQB 3.1.7.2.2.

    Only transactional messages have one (2.2.5), although 3.1.7.2.2 says any that wants journaling.
    """
    if position.order_queue is None:
        return
    message = position.MessageReference
    body = FinalAckBody(
        message.TransactionalMessageSequenceIdentifier,
        message.TransactionSequenceNumber,
        message.TransactionPreviousSequenceNumber,
        message.Identifier.QueueManagerGuid,
        message.Identifier.Ordinal,
    )
    qm.procedures.send_transactional_ack(qm, position.order_queue, reason, body, now)


def refuse_transactional(
    qm: QueueManager, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
) -> None:
    """Send the negative FinalAck of a message that no queue takes. Spec: MS-MQQB 3.1.5.8.2, 3.1.7.17."""
    header, user = packet.TransactionHeader, packet.UserHeader
    assert header is not None
    body = FinalAckBody(
        header.TxSequenceID,
        header.TxSequenceNumber,
        header.PreviousTxSequenceNumber,
        user.SourceQueueManager,
        user.MessageID,
    )
    name = qm.procedures.name_order_queue(qm, session, user.SourceQueueManager)
    qm.procedures.send_transactional_ack(qm, name, message_class, body, now)


def keep_final_acks(qm: QueueManager, session: Session, now: Now) -> None:
    """Keep what an accepted session that closed had to deliver: FinalAcks are recoverable. Spec: MS-MQQB 2.2.5."""
    if not session.initiator:
        for position in session.OutgoingMessageTable:
            leave_window(session, position)
            session.OutgoingMessageTable.remove(position)
            if position.recoverable:
                qm.procedures.requeue(qm, position, now)


def requeue(qm: QueueManager, position: OutgoingMessagePosition, now: Now) -> None:
    """Put a message whose session is gone into the outgoing queue of its destination. Spec: MS-MQQB 3.1.7.17."""
    message = position.MessagePosition.MessageReference
    queue = open_outgoing(qm, message.DestinationQueueFormatName, now)
    session = queue.session
    again = MessagePosition(message, queue, key=position.MessagePosition.key)
    outgoing = OutgoingMessagePosition(again, position.UserMessage)
    session.OutgoingMessageTable.add(outgoing)
    qm.procedures.add_to_dispatch_collection(qm, session, outgoing)
    if session.SessionState is SessionState.CLOSED:
        qm.sessions[session.number] = session
        if session in qm.closed_sessions:
            qm.closed_sessions.remove(session)
        qm.procedures.await_reconnect(qm, session, now)
    qm.procedures.dispatch_messages(qm, session, now)
