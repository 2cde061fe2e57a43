"""Faults that break the rules MQMQ-2.2.20.5-02 to MQMQ-2.2.20.5-07."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import (
    add_to_field,
    change_number_in_field,
    clear_bits,
    invert_bits,
    refuse_packets_unless_field_is_zero,
    set_bits,
)
from harness.faults.parts import fault
from harness.faults.primitives import change_core_at_restart, change_packets_of_kind, set_fields
from harness.faults.registry import FaultyCore, Install, add
from harness.faults.sent_messages import change_constructed_packet
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.model.adm import Message, MessagePosition, Queue
from reference_qm.model.transactions import OperationType, Transaction
from suites.mqmq.s2_2_20_5_transaction_header.fault_steps import (
    FIRST_IN_TRANSACTION_FLAG,
    LAST_IN_TRANSACTION_FLAG,
    change_transaction_id_in_flags,
)
from suites.mqmq.steps.kinds_of_messages import has_large_body


def _is_last_of_transaction(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None and bool(packet.TransactionHeader.LM)


for _name, _broken_rules, _says, _install in (
    (
        "sender-transaction-header-unused-bit-set",
        ("MQMQ-2.2.20.5-02",),
        "The sender sets X1 of the TransactionHeader.",
        set_bits(UserMessagePacket, "TransactionHeader.X1"),
    ),
    (
        "sender-transaction-header-cg-inverted",
        ("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20"),
        "The sender's TransactionHeader has CG set without ConnectorQMGuid, or CG clear with ConnectorQMGuid.",
        invert_bits(UserMessagePacket, "TransactionHeader.CG"),
    ),
    (
        "sender-transaction-header-fm-clear",
        (
            "MQMQ-2.2.20.5-04",
            "MQDMPR-3.1.1.12-D58",
        ),
        "The sender leaves FM clear in every TransactionHeader.",
        clear_bits(UserMessagePacket, "TransactionHeader.FM"),
    ),
    (
        "sender-transaction-header-lm-clear",
        (
            "MQMQ-2.2.20.5-05",
            "MQDMPR-3.1.1.12-D59",
        ),
        "The sender leaves LM clear in every TransactionHeader.",
        clear_bits(UserMessagePacket, "TransactionHeader.LM"),
    ),
    (
        "sender-last-message-of-transaction-id-zero",
        ("MQMQ-2.2.20.5-06",),
        "The sender's last message of a transaction carries ID 0.",
        clear_bits(UserMessagePacket, "TransactionHeader.ID", _is_last_of_transaction),
    ),
    (
        "sender-transaction-header-id-always-zero",
        ("MQMQ-2.2.20.5-07",),
        "The sender's TransactionHeaders all carry ID 0.",
        clear_bits(UserMessagePacket, "TransactionHeader.ID"),
    ),
    (
        "sender-tx-sequence-number-skips-every-second",
        ("MQMQ-2.2.20.5-16",),
        "The TxSequenceNumbers in the sender's TransactionHeaders skip every second number.",
        change_number_in_field(UserMessagePacket, "TransactionHeader.TxSequenceNumber", lambda number: 2 * number - 1),
    ),
    (
        "sender-tx-sequence-number-counted-from-zero",
        ("MQMQ-2.2.20.5-17",),
        "The sender counts TxSequenceNumber from 0, not from 1.",
        add_to_field(UserMessagePacket, "TransactionHeader.TxSequenceNumber", -1),
    ),
    (
        "sender-previous-tx-sequence-number-one-too-low",
        ("MQMQ-2.2.20.5-18",),
        "The sender's TransactionHeader carries a PreviousTxSequenceNumber that is one too low.",
        change_number_in_field(
            UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", lambda number: max(0, number - 1)
        ),
    ),
    (
        "sender-previous-tx-sequence-number-one-too-high",
        ("MQMQ-2.2.20.5-19",),
        "The sender's TransactionHeader carries a PreviousTxSequenceNumber that is one too high.",
        add_to_field(UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", 1),
    ),
    (
        "receiver-transaction-header-connector-guid-refused",
        ("MQMQ-2.2.20.5-21",),
        "The receiver refuses a message whose ConnectorQMGuid is not zero.",
        refuse_packets_unless_field_is_zero(UserMessagePacket, "TransactionHeader.ConnectorQMGuid"),
    ),
):
    add(_name, _broken_rules, _says, _install)


class TransactionBoundaryFlagChanger(TransactionEvents):
    """The sender sets FM or LM in the wrong messages."""

    def mark_first_and_last_message(self, transaction: Transaction) -> None:
        super().mark_first_and_last_message(transaction)
        sent = [
            one.MessagePositionReference
            for one in transaction.TransactionalOperationCollection
            if one.OperationType is OperationType.ENQUEUE
        ]
        for place, position in enumerate(sent):
            position.MessageReference = self.mark_boundary_of_message(position.MessageReference, place, len(sent))

    def mark_boundary_of_message(self, message: Message, place: int, count: int) -> Message:
        """Return the message with its changed flags."""
        return message


@fault("sender-sets-fm-also-in-third-message", breaks="MQMQ-2.2.20.5-04")
class SenderSetsFmAlsoInThirdMessage(TransactionBoundaryFlagChanger):
    """The sender also sets FM in the third message of a transaction."""

    def mark_boundary_of_message(self, message: Message, place: int, count: int) -> Message:
        return replace(message, FirstInTransaction=True) if place == 2 else message


def _change_transaction_flags(change: Callable[[UserMessagePacket, int], int]) -> Install:
    """Let the sender change TransactionHeader.Flags of the messages that it constructs."""

    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        if packet.TransactionHeader is None:
            return packet
        flags = change(packet, packet.TransactionHeader.Flags)
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, Flags=flags))

    return change_constructed_packet(change_packet)


for _name, _rule, _says, _install in (
    (
        "sender-fm-of-large-message-clear",
        "MQMQ-2.2.20.5-04",
        "The sender clears FM in the first message of a transaction if the body has more than 4 KiB.",
        _change_transaction_flags(
            lambda packet, flags: flags & ~FIRST_IN_TRANSACTION_FLAG if has_large_body(packet) else flags
        ),
    ),
    (
        "sender-fm-set-with-lm",
        "MQMQ-2.2.20.5-04",
        "The sender also sets FM in the last message of a transaction.",
        _change_transaction_flags(
            lambda packet, flags: flags | FIRST_IN_TRANSACTION_FLAG if flags & LAST_IN_TRANSACTION_FLAG else flags
        ),
    ),
    (
        "sender-lm-set-with-fm",
        "MQMQ-2.2.20.5-05",
        "The sender also sets LM in the first message of a transaction.",
        _change_transaction_flags(
            lambda packet, flags: flags | LAST_IN_TRANSACTION_FLAG if flags & FIRST_IN_TRANSACTION_FLAG else flags
        ),
    ),
    (
        "sender-lm-of-large-message-clear",
        "MQMQ-2.2.20.5-05",
        "The sender clears LM in the last message of a transaction if the body has more than 4 KiB.",
        _change_transaction_flags(
            lambda packet, flags: flags & ~LAST_IN_TRANSACTION_FLAG if has_large_body(packet) else flags
        ),
    ),
    (
        "sender-transaction-id-of-single-messages-0",
        "MQMQ-2.2.20.5-07",
        "The sender sends ID 0 in a message that is the only message of its transaction.",
        _change_transaction_flags(
            lambda packet, flags: (
                change_transaction_id_in_flags(flags, lambda number: 0)
                if flags & FIRST_IN_TRANSACTION_FLAG and flags & LAST_IN_TRANSACTION_FLAG
                else flags
            )
        ),
    ),
    (
        "sender-transaction-id-of-two-bits",
        "MQMQ-2.2.20.5-07",
        "The sender sends only the lowest 2 bits of the number of a transaction as ID.",
        _change_transaction_flags(
            lambda packet, flags: change_transaction_id_in_flags(flags, lambda number: number & 3)
        ),
    ),
    (
        "sender-transaction-id-without-lowest-bit",
        "MQMQ-2.2.20.5-07",
        "The sender sends the same ID for two transactions in succession.",
        _change_transaction_flags(
            lambda packet, flags: change_transaction_id_in_flags(flags, lambda number: number | 1)
        ),
    ),
    (
        "sender-transaction-id-of-large-message-0",
        "MQMQ-2.2.20.5-06",
        "The sender sends ID 0 in a message with a body of more than 4 KiB.",
        _change_transaction_flags(
            lambda packet, flags: (
                change_transaction_id_in_flags(flags, lambda number: 0) if has_large_body(packet) else flags
            )
        ),
    ),
    (
        "sender-transaction-id-of-last-message-0",
        "MQMQ-2.2.20.5-06",
        "The sender sends ID 0 in the last message of a transaction of several messages.",
        _change_transaction_flags(
            lambda packet, flags: (
                change_transaction_id_in_flags(flags, lambda number: 0)
                if flags & LAST_IN_TRANSACTION_FLAG and not flags & FIRST_IN_TRANSACTION_FLAG
                else flags
            )
        ),
    ),
):
    add(_name, _rule, _says, _install)


def _change_resent_messages(change: Callable[[UserMessagePacket], UserMessagePacket]) -> Install:
    """Let the sender change a transactional message that it sends again."""

    def install_resending_change(faulty: FaultyCore) -> None:
        sent: set[tuple[Any, int]] = set()

        def change_repeated_message(packet: UserMessagePacket) -> bytes:
            header = packet.TransactionHeader
            assert header is not None
            key = (header.TxSequenceID, header.TxSequenceNumber)
            known = key in sent
            sent.add(key)
            return change(packet).build() if known else packet.build()

        change_packets_of_kind(
            UserMessagePacket, change_repeated_message, lambda packet: packet.TransactionHeader is not None
        )(faulty)

    return install_resending_change


for _name, _rule, _says, _path, _change in (
    (
        "id-1-higher",
        "MQMQ-2.2.20.5-06",
        "The sender sends a transactional message again with a different ID.",
        "TransactionHeader.Flags",
        lambda old: change_transaction_id_in_flags(old, lambda number: number + 1),
    ),
    (
        "fm-set",
        "MQMQ-2.2.20.5-04",
        "The sender sets FM in each transactional message that it sends again.",
        "TransactionHeader.Flags",
        lambda old: old | FIRST_IN_TRANSACTION_FLAG,
    ),
    (
        "lm-set",
        "MQMQ-2.2.20.5-05",
        "The sender sets LM in each transactional message that it sends again.",
        "TransactionHeader.Flags",
        lambda old: old | LAST_IN_TRANSACTION_FLAG,
    ),
    (
        "number-1-higher",
        "MQMQ-2.2.20.5-16",
        "The sender sends a transactional message again with the next TxSequenceNumber.",
        "TransactionHeader.TxSequenceNumber",
        lambda old: old + 1,
    ),
    (
        "previous-0",
        "MQMQ-2.2.20.5-18",
        "The sender sends a transactional message again with PreviousTxSequenceNumber 0.",
        "TransactionHeader.PreviousTxSequenceNumber",
        lambda old: 0,
    ),
):
    add(
        f"sender-repeated-transactional-message-{_name}",
        _rule,
        _says,
        _change_resent_messages(lambda packet, path=_path, change=_change: set_fields(packet, {path: change})),  # type: ignore[misc]
    )


def _clear_last_message_flag(packet: UserMessagePacket) -> bytes:
    header = packet.TransactionHeader
    assert header is not None
    return replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~header.flags(LM=1))).build()


add(
    "sender-only-message-of-transaction-lm-clear",
    ("MQMQ-2.2.20.5-05", "MQDMPR-3.1.1.12-D59"),
    "The sender leaves LM clear in the only message of a transaction.",
    change_packets_of_kind(
        UserMessagePacket,
        _clear_last_message_flag,
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.FM,
    ),
    blind=True,
)


@fault("sender-leaves-lm-clear-in-single-message-transaction", breaks="MQMQ-2.2.20.5-05")
class SenderLeavesLmClearInSingleMessageTransaction(TransactionBoundaryFlagChanger):
    """The sender leaves LM clear in the only message of a transaction."""

    def mark_boundary_of_message(self, message: Message, place: int, count: int) -> Message:
        return replace(message, LastInTransaction=False) if count == 1 else message


@fault("sender-gives-messages-for-second-queue-different-transaction-id", breaks="MQMQ-2.2.20.5-06", blind=True)
class SenderGivesMessagesForSecondQueueDifferentTransactionId(TransactionOperations):
    """If a transaction sends messages to two queues, the sender assigns a different transaction ID to the messages for
    the second queue.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        before = transaction.TransactionalOperationCollection
        first = before[0].MessagePositionReference.QueueReference if before else queue
        if first is not queue and transaction.number:
            transaction.number += 1
        return super().enqueue_in_transaction(transaction, queue, message)


@fault("sender-increments-transaction-id-from-third-message-on", breaks="MQMQ-2.2.20.5-06")
class SenderIncrementsTransactionIdFromThirdMessageOn(TransactionBoundaryFlagChanger):
    """In the third and every later message of a transaction, the sender sets TransactionHeader.Flags.ID to one more
    than in the first message.
    """

    def mark_boundary_of_message(self, message: Message, place: int, count: int) -> Message:
        if place < 2 or message.TransactionIdentifier is None:
            return message
        return replace(message, TransactionIdentifier=message.TransactionIdentifier + 1)


def _reset_last_transaction_number(qm: QueueManager) -> None:
    qm.adm.last_transaction_number = 0


add(
    "sender-transaction-ids-reused-after-restart",
    "MQMQ-2.2.20.5-07",
    "The sender reuses transaction IDs after a restart.",
    change_core_at_restart(_reset_last_transaction_number),
    blind=True,
)


@fault("sender-gives-two-transactions-same-id", breaks="MQMQ-2.2.20.5-07")
class SenderGivesTwoTransactionsSameId(TransactionOperations):
    """The sender gives two successive transactions the same TransactionHeader.Flags.ID."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        new = not transaction.number
        position = super().enqueue_in_transaction(transaction, queue, message)
        if new and transaction.number % 2 == 0:
            transaction.number -= 1
            position.MessageReference = replace(position.MessageReference, TransactionIdentifier=transaction.number)
        return position
