from __future__ import annotations

from collections.abc import Iterable

from reference_qm.codec import MessageClass
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.store.disk import Change
from reference_qm.core.store.entries import (
    TRANSACTIONAL_SEQUENCE_ELEMENTS,
    _change_entry_value,
    build_message_entry,
    build_removal_change,
    build_transfer_entry,
    format_queue_name_of_entry,
    is_removal_reported,
)
from reference_qm.core.store.messages import serialize_message
from reference_qm.core.store.queue_values import convert_queue_to_values
from reference_qm.model.adm import (
    MessagePosition,
    OutgoingQueue,
    Queue,
)
from reference_qm.model.states import DeliveryGuarantee, MessagePositionState


class DurableRecords(QueueManagerPart):
    """Builds the store entries from which a restarted queue manager restores its state. Spec: MS-MQQB 3.1.1.3.2,
    MS-MQDMPR 3.1.1.

    A record is a change of entries. It contains the names of the entries with their new values; the value None
    removes an entry. After a crash, the disk has the whole record or no part of it. The entries are
    ``message:key``, ``history:guid:ordinal``, ``queue:number``, ``outgoing:format name``, ``transfer:queue
    number:sender:format name``, ``ordinal``, ``last_private_queue_number``, ``last_sequence_time``,
    ``last_transaction``, ``sequential_id``, ``identifier``, ``hardened_security``, ``initialization_retry_s``,
    ``last_domain``, ``last_known``, ``directory_identifier`` and ``transaction:guid`` (``transaction_records``).

    The progress of a sender's transactional messages is stored twice: the entry of each message names the previous
    message, and the entry of the transfer names the last message whose predecessors are all on disk. Each record
    can fail separately. Therefore the progress after a crash is the unbroken chain of messages that follows the
    message in the entry of the transfer.
    """

    __slots__ = ()

    def build_send_record(self, position: MessagePosition) -> Change:
        """Return the store entries that must be on disk before a new message is accepted. If the message need not be on
        disk, return none.
        """
        if not self.qm.disk.used:
            return {}
        message = position.MessageReference
        change = self.qm.disk.build_ordinal_reservation(message.Identifier.Ordinal)
        if message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE:
            position.key = self.qm.assign_persist_token()
            change |= build_message_entry(position, serialize_message(message).build())
        if message.TransactionIdentifier is not None:
            change["last_transaction"] = self.qm.adm.last_transaction_number
            if isinstance(position.QueueReference, OutgoingQueue):
                change |= self.build_sequence_entry(position.QueueReference)
        return change

    def build_message_removal(self, positions: Iterable[MessagePosition], reason: MessageClass) -> Change:
        """Return the changed store entries that remove messages from local queues.

        If the removal of a message must be acknowledged, the message stays on disk with the reason until the
        acknowledgment is on disk (``on_message_position_deleted``).
        """
        change: Change = {}
        if not self.qm.disk.used:
            return change
        for position in positions:
            if not position.key:
                continue
            change |= build_removal_change([position])
            if is_removal_reported(position, reason):
                change |= _change_entry_value(position, "removed", int(reason))
            change |= self._get_transfer_entry(position)
        return change

    def build_purge_record(self, positions: Iterable[MessagePosition]) -> Change:
        """Return the store entries that preserve the State PurgePending of messages across a restart. Spec: MS-MQDMPR
        3.1.1.11.
        """
        change: Change = {}
        for position in positions:
            if position.State is MessagePositionState.PURGE_PENDING:
                change |= _change_entry_value(position, "purged", True) | self._get_transfer_entry(position)
        return change

    def _get_transfer_entry(self, position: MessagePosition) -> Change:
        """Return the store entry of the sequence to which a message belongs. This entry must be written when the entry
        of the message is removed.
        """
        message = position.MessageReference
        key = (message.Identifier.QueueManagerGuid, message.DestinationQueueFormatName.lower())
        transfer = position.QueueReference.IncomingTransactionalTransferInfoCollection.get(key)
        return {} if transfer is None else build_transfer_entry(transfer)

    def build_queue_entry(self, queue: Queue) -> Change:
        """Return the entries that store a new queue."""
        return {
            format_queue_name_of_entry(queue): convert_queue_to_values(queue),
            "last_private_queue_number": self.qm.adm.last_private_queue_number,
        }

    def build_sequence_entry(self, queue: OutgoingQueue) -> Change:
        """Return the entry of an outgoing queue. The entry contains the elements of the queue's session that MUST
        survive a restart.

        Spec: MS-MQQB 3.1.1.3.1.
        """
        session = queue.session
        values: dict[str, object] = {name: getattr(session, name) for name in TRANSACTIONAL_SEQUENCE_ELEMENTS[:3]}
        for name in TRANSACTIONAL_SEQUENCE_ELEMENTS[3:]:
            identifier = getattr(session, name)
            values[name] = [identifier.Ordinal, identifier.TimeStamp]
        return {format_queue_name_of_entry(queue): values, "last_sequence_time": self.qm.adm.last_sequence_time}
