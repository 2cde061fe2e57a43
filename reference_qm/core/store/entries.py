"""Builds entries of the store. An entry is a name with a value; the value None removes the entry."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from reference_qm.codec import MessageClass, TxSequenceID, format_guid
from reference_qm.core.store.disk import Change
from reference_qm.core.store.messages import get_receive_ack_bit, serialize_message
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import (
    AcceptedMessage,
    IncomingTransactionalTransferInfo,
    MessageIDHistoryEntry,
    MessagePosition,
    OutgoingQueue,
    Queue,
)

TRANSACTIONAL_SEQUENCE_ELEMENTS = (
    "TxMessageRejectCount",
    "OutgoingTxSequenceNumber",
    "IncomingTxSequenceNumber",
    "OutgoingTxSequenceID",
    "IncomingTxSequenceID",
)
"""The elements of a session (MS-MQQB 3.1.1.3.1) that MUST survive a restart, except its messages. The last two elements
are the parts of TxSequenceID.
"""


def build_message_entry(position: MessagePosition, packet: bytes, acceptance: AcceptedMessage | None = None) -> Change:
    """Return the entry of a message, which contains its queue, its arrival (s UTC), its packet, and its place in a
    sequence.

    ``lookup`` is the LookupIdentifier, or 0 in an outgoing queue.
    """
    values: dict[str, object] = {
        "in": format_queue_name_of_entry(position.QueueReference),
        "lookup": position.LookupIdentifier,
        "arrived": position.MessageReference.ArrivalTime,
        "packet": base64.b64encode(packet).decode(),
    }
    security = position.MessageReference.security
    if security is not None and security.AuthenticationLevel:
        values["AuthenticationLevel"] = security.AuthenticationLevel  # its packet has it only after the receipt
    if position.order_queue is not None:
        values["order_queue"] = position.order_queue
    if position.MessageReference.ApplicationDeadletterQueue:
        values["dead_letter_queue"] = position.MessageReference.ApplicationDeadletterQueue
    if acceptance is not None:
        values["sequence"] = {
            "transfer": format_transfer_name(acceptance.transfer),
            "at": _encode_sequence_position(acceptance.SequenceIdentifier, acceptance.SequenceNumber),
            "follows": _encode_sequence_position(*acceptance.previous_sequence_position),
        }
    return {f"message:{position.key}": values}


def build_awaiting_final_ack_change(position: MessagePosition) -> Change:
    """Return the store entry of a message whose arrival was acknowledged and that awaits its FinalAck. Spec: MS-MQQB
    3.1.5.6.
    """
    return _change_entry_value(position, "awaits", "final ack")


def is_removal_reported(position: MessagePosition, reason: MessageClass) -> bool:
    """Return whether an acknowledgment is required when a message leaves its queue for the given reason. Spec:
    MS-MQQB 3.1.7.2.
    """
    wanted = position.MessageReference.AcknowledgementsRequested & get_receive_ack_bit(reason)
    return position.order_queue is not None or bool(wanted)


def _change_entry_value(position: MessagePosition, name: str, value: object) -> Change:
    return {
        key: {**values, name: value}
        for key, values in build_message_relocation(position).items()
        if isinstance(values, dict)
    }


def build_transfer_entry(transfer: IncomingTransactionalTransferInfo) -> Change:
    """Return the entry of a sender's sequence. The entry contains the last message whose predecessors are all on
    disk, and RejectCount.
    """
    place_ = _encode_sequence_position(transfer.saved_sequence_identifier, transfer.saved_sequence_number)
    return {format_transfer_name(transfer): [*place_, transfer.RejectCount]}


def format_transfer_name(transfer: IncomingTransactionalTransferInfo) -> str:
    """Return the name of the entry that stores a sender's sequence."""
    number = format_queue_name_of_entry(transfer.QueueReference).partition(":")[2]
    return f"transfer:{number}:{transfer.SenderIdentifier}:{transfer.FormatName}"


def list_incoming_transfers(queue: Queue) -> Iterable[IncomingTransactionalTransferInfo]:
    """Return the senders' sequences of a queue."""
    return queue.IncomingTransactionalTransferInfoCollection.values()


def _encode_sequence_position(identifier: TxSequenceID, number: int) -> list[int]:
    return [identifier.Ordinal, identifier.TimeStamp, number]


def build_removal_change(positions: Iterable[MessagePosition]) -> Change:
    """Return the store entries to remove for the given messages. Express messages are not in the store."""
    return {f"message:{position.key}": None for position in positions if position.key}


def build_message_relocation(position: MessagePosition) -> Change:
    """Return the store entry that contains the current queue of a message."""
    return build_message_entry(position, serialize_message(position.MessageReference).build()) if position.key else {}


def build_message_id_history_entry(entry: MessageIDHistoryEntry) -> Change:
    """Return the entry that stores the time (s UTC) of a received message in the history."""
    return {format_history_name(entry): entry.TimeStamp}


def format_history_name(entry: MessageIDHistoryEntry) -> str:
    """Return the name of the entry that stores a received message in the history."""
    identifier = entry.MessageIdentifier
    return f"history:{format_guid(identifier.QueueManagerGuid)}:{identifier.Ordinal}"


def format_queue_name_of_entry(queue: Queue) -> str:
    """Return the name of a queue in entries: the number of a local queue (never reused), the destination of an
    outgoing queue, or the name of a system queue.

    The name of a public queue contains its Identifier instead of a number. The name of a subqueue or journal
    contains the number of its queue and its own name.
    """
    if isinstance(queue, OutgoingQueue):
        return f"outgoing:{queue.DestinationFormatName}"
    if queue.parent is not None:
        return f"{format_queue_name_of_entry(queue.parent)};{queue.Pathname.partition(';')[2]}"
    if queue.QueueType is QueueType.SYSTEM:
        return queue.Pathname
    return f"queue:{queue.Identifier if queue.PrivateQueueNumber is None else queue.PrivateQueueNumber}"
