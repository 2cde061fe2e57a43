"""Where a format name leads: a local queue, or an outgoing queue and its session.

Spec: MS-MQDMPR 3.1.7.1.5, MS-MQMQ 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from reference_qm.codec import (
    NULL_GUID,
    FormatError,
    FormatName,
    PrivateName,
    PrivateQueuePath,
    PublicName,
    PublicQueuePath,
    TxSequenceID,
    parse_format_name,
)
from reference_qm.core.protocol.durability import sequence_entry
from reference_qm.core.protocol.errors import CommandError
from reference_qm.core.queueing.names import find_by_format_name
from reference_qm.model.adm import OutgoingQueue, Queue, Session

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now

OUTGOING_QUEUES_LIMIT = 65_536
"""Outgoing queues beyond which a stranger's message opens no other."""
QueuePath = PrivateQueuePath | PublicQueuePath
_SENDABLE = r"DIRECT=TCP:address\private$\queue, DIRECT=OS:host\private$\queue, PRIVATE=guid\id or PUBLIC=guid"


def parse_name(text: str) -> FormatName:
    """Parse a format name of a command."""
    try:
        return parse_format_name(text)
    except FormatError as error:
        raise CommandError(f"{error}: use {_SENDABLE}") from error


def find_local(qm: QueueManager, text: str) -> Queue | None:
    """Find the local queue that a format name means; None when it means one of another queue manager."""
    name = parse_name(text)
    if isinstance(name, PublicName):
        return find_by_format_name(qm, name)  # unknown: it waits, as MS-MQQB 3.1.5.2.1 says
    if isinstance(name, PrivateName) and not name.Journal:
        if name.ComputerGuid != qm.adm.Identifier:
            return None
        queue = qm.adm.QueueCollection.find_private(name.QueueIdentifier)
    elif isinstance(name, QueuePath) and name.Protocol in ("TCP", "OS") and not (name.Subqueue or name.Journal):
        if not _is_here(qm, name):
            return None
        queue = find_by_format_name(qm, name)
    else:
        raise CommandError(f"{text!a} cannot be sent to yet: use {_SENDABLE}")
    if queue is None:
        raise CommandError(f"{text!a} names no queue of this queue manager: create it first")
    return queue


def find_outgoing(qm: QueueManager, text: str) -> OutgoingQueue:
    """Find the outgoing queue for a format name."""
    queue = qm.adm.OutgoingQueues.get(text.lower())
    if queue is None:
        raise CommandError(f"{text!a} has no outgoing queue: send a message to it first, or list the queues")
    return queue


def open_outgoing(qm: QueueManager, text: str, now: Now) -> OutgoingQueue:
    """Find or make the outgoing queue for a format name of another queue manager. Spec: MS-MQDMPR 3.1.7.1.5."""
    known = qm.adm.OutgoingQueues.get(text.lower())
    if known is not None:
        return known
    queue = OutgoingQueue(Pathname=text, DestinationFormatName=text, BasePriority=_base_priority(qm, text))
    queue.session = Session(
        qm.next_session_number(),
        initiator=True,
        OutgoingQueueReference=queue,
        OutgoingTxSequenceID=_new_sequence(qm, now),
    )
    qm.adm.OutgoingQueues[text.lower()] = queue
    qm.disk.save(sequence_entry(qm, queue))
    return queue


def _base_priority(qm: QueueManager, text: str) -> int:
    name = parse_name(text)
    published = qm.enterprise.find_queue(name.QueueGuid) if isinstance(name, PublicName) else None
    return 0 if published is None else published.BasePriority


def _new_sequence(qm: QueueManager, now: Now) -> TxSequenceID:
    """Give an OutgoingTxSequenceID greater than any before. Spec: MS-MQQB 3.1.1.3.1.

    Greater also than those of other destinations begun in the same second: an OrderAck names its sequence only by it.
    """
    qm.adm.last_sequence_time = max(qm.adm.last_sequence_time + 1, now.utc_s)
    return TxSequenceID(Ordinal=1, TimeStamp=qm.adm.last_sequence_time & 0xFFFFFFFF)


def destination_guid(text: str) -> UUID:
    """Give UserHeader.QueueManagerAddress for a format name: zero for a direct one. Spec: MS-MQMQ 2.2.19.2."""
    name = parse_name(text)
    return name.ComputerGuid if isinstance(name, PrivateName) else NULL_GUID


def _is_here(qm: QueueManager, name: PrivateQueuePath | PublicQueuePath) -> bool:
    address = name.ProtocolAddressSpecification.lower()
    own = qm.config.addresses if name.Protocol == "TCP" else (qm.config.host_name, ".")
    return address in {one.lower() for one in own}
