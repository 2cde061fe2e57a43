"""Messages on their way through this queue manager. Spec: MS-MQQB 3.1.5.8.2, 3.1.5.8.5, 3.1.5.8.7, 3.1.5.8.8.

A routed packet goes on as it came, but for its hop count and without the SessionHeader, which was for this session.
Its TransactionHeader is that of its source: the sequence, its order acknowledgments and the sending again are between
source and destination; between the hops it is a recoverable message.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reference_qm.codec import BaseHeader, MessageClass, UserHeader, UserMessagePacket
from reference_qm.core.protocol.destinations import OUTGOING_QUEUES_LIMIT, open_outgoing
from reference_qm.core.protocol.durability import history_entry
from reference_qm.core.protocol.messages import DIRECT, deserialize_message
from reference_qm.core.protocol.receiving import Saving
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, OutgoingQueue

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.model.adm import RecoverableReceipt, Session
    from reference_qm.surface.clock import Now

HIGHEST_HOP_COUNT = 0x1D
"""Of UserHeader.Flags.RC. Spec: MS-MQMQ 2.2.19.2."""

_RC = UserHeader.flags(RC=0x1F)
_SH = BaseHeader.flags(SH=1)


def route_message(
    qm: QueueManager, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
) -> None:
    """Take a message for another queue manager over, and send it on. Spec: MS-MQQB 3.1.5.8.

    Any queue manager does: that it is no routing server shows in the directory, where nobody is sent to it. One that
    expired is dealt with where it is sent (3.1.7.1.2).
    """
    if not qm.procedures.is_routable(qm, packet):
        receipt.done, receipt.acknowledge = True, False
        return
    entry = None if packet.UserHeader.TH else qm.procedures.find_duplicate(qm, packet)
    if entry is not None:
        qm.procedures.disregard_duplicate(qm, session, entry, receipt, now)
        return
    entry = qm.procedures.remember_message(qm, packet, now)
    counted = qm.procedures.count_hop(qm, packet)
    if counted is None:
        receipt.done = True
        qm.disk.save(history_entry(entry))
        qm.procedures.refuse_message(qm, session, packet, MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED, now)
        return
    onward = replace(
        counted,
        BaseHeader=replace(counted.BaseHeader, Flags=counted.BaseHeader.Flags & ~_SH),
        SessionHeader=None,
    )
    message = deserialize_message(onward, onward.UserHeader.QueueManagerAddress, now.utc_s)
    position = MessagePosition(message, open_outgoing(qm, message.DestinationQueueFormatName, now))
    if onward.UserHeader.DM:
        qm.procedures.save_message(qm, Saving(position, entry, [(session, receipt)], routed=onward), onward)
    else:
        qm.disk.save(history_entry(entry))
        qm.procedures.send_on(qm, position, onward, now)


def is_routable(qm: QueueManager, packet: UserMessagePacket) -> bool:
    """Can a message be saved here and sent on? Spec: MS-MQQB 3.1.5.8.2 (first step), MS-MQMQ 2.2.19.2.

    One that cannot is disregarded and not acknowledged: its sender keeps it. A direct name has no QueueManagerAddress;
    with one, a stranger could make this queue manager connect to anywhere.
    """
    user, queues = packet.UserHeader, qm.adm.OutgoingQueues
    waiting = sum(len(queue.session.OutgoingMessageTable) for queue in queues.values()) + len(qm.savings)
    if waiting >= qm.config.max_outgoing_messages or user.DestinationQueue is None or user.DQ == DIRECT:
        return False
    return len(queues) < OUTGOING_QUEUES_LIMIT or _destination(packet) in queues


def _destination(packet: UserMessagePacket) -> str:
    """Give the key of the outgoing queue of a message."""
    return deserialize_message(packet, packet.UserHeader.QueueManagerAddress, 0).DestinationQueueFormatName.lower()


def count_hop(qm: QueueManager, packet: UserMessagePacket) -> UserMessagePacket | None:
    """Count this queue manager; None when there were too many. Spec: MS-MQQB 3.1.5.8.2, MS-MQMQ 2.2.19.2 (RC).

    RC has five bits, but its valid range ends at 0x1D: that is what the count may not exceed.
    """
    user = packet.UserHeader
    if user.RC >= HIGHEST_HOP_COUNT:
        return None
    return replace(packet, UserHeader=replace(user, Flags=user.Flags & ~_RC | UserHeader.flags(RC=user.RC + 1)))


def send_on(qm: QueueManager, position: MessagePosition, packet: UserMessagePacket, now: Now) -> None:
    """Put a routed message into the session of its outgoing queue. Spec: MS-MQQB 3.1.5.8.5, 3.1.5.8.8."""
    queue = position.QueueReference
    assert isinstance(queue, OutgoingQueue)
    position.awaits_disk = False
    qm.procedures.put_outgoing(qm, queue.session, OutgoingMessagePosition(position, packet), now)
    qm.procedures.trace_received(qm, position.MessageReference, now)
    if packet.UserHeader.TH:
        qm.procedures.note_transfer(qm, queue.session)
