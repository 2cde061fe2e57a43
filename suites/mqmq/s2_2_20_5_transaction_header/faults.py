"""Faults of MS-MQMQ 2.2.20.5 TransactionHeader."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import (
    add_bits_set,
    bit_clear,
    bit_inverted,
    bit_set,
    change_number,
    off_by,
    refused_unless_zero,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, packets, set_fields
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_header
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


def _is_last_of_transaction(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None and bool(packet.TransactionHeader.LM)


for _name, _rules, _says, _install in (
    (
        "sender-transaction-header-unused-bit-set",
        ("MQMQ-2.2.20.5-02",),
        "The sender sets X1 of the TransactionHeader.",
        bit_set(UserMessagePacket, "TransactionHeader.X1"),
    ),
    (
        "sender-transaction-header-cg-inverted",
        ("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20"),
        "The sender's TransactionHeader has CG set without ConnectorQMGuid, or CG clear with ConnectorQMGuid.",
        bit_inverted(UserMessagePacket, "TransactionHeader.CG"),
    ),
    (
        "sender-transaction-header-fm-clear",
        (
            "MQMQ-2.2.20.5-04",
            "MQDMPR-3.1.1.12-D58",
        ),
        "The sender leaves FM clear in every TransactionHeader.",
        bit_clear(UserMessagePacket, "TransactionHeader.FM"),
    ),
    (
        "sender-transaction-header-lm-clear",
        (
            "MQMQ-2.2.20.5-05",
            "MQDMPR-3.1.1.12-D59",
        ),
        "The sender leaves LM clear in every TransactionHeader.",
        bit_clear(UserMessagePacket, "TransactionHeader.LM"),
    ),
    (
        "sender-last-message-of-transaction-id-zero",
        ("MQMQ-2.2.20.5-06",),
        "The sender's last message of a transaction carries ID 0.",
        bit_clear(UserMessagePacket, "TransactionHeader.ID", _is_last_of_transaction),
    ),
    (
        "sender-transaction-header-id-always-zero",
        ("MQMQ-2.2.20.5-07",),
        "The sender's TransactionHeaders all carry ID 0.",
        bit_clear(UserMessagePacket, "TransactionHeader.ID"),
    ),
    (
        "sender-tx-sequence-number-skips-every-second",
        ("MQMQ-2.2.20.5-16",),
        "The TxSequenceNumbers in the sender's TransactionHeaders skip every second number.",
        change_number(UserMessagePacket, "TransactionHeader.TxSequenceNumber", lambda number: 2 * number - 1),
    ),
    (
        "sender-tx-sequence-number-counted-from-zero",
        ("MQMQ-2.2.20.5-17",),
        "The sender counts TxSequenceNumber from 0, not from 1.",
        off_by(UserMessagePacket, "TransactionHeader.TxSequenceNumber", -1),
    ),
    (
        "sender-previous-tx-sequence-number-one-too-low",
        ("MQMQ-2.2.20.5-18",),
        "The sender's TransactionHeader carries a PreviousTxSequenceNumber that is one too low.",
        change_number(
            UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", lambda number: max(0, number - 1)
        ),
    ),
    (
        "sender-previous-tx-sequence-number-one-too-high",
        ("MQMQ-2.2.20.5-19",),
        "The sender's TransactionHeader carries a PreviousTxSequenceNumber that is one too high.",
        off_by(UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", 1),
    ),
    (
        "receiver-transaction-header-connector-guid-refused",
        ("MQMQ-2.2.20.5-21",),
        "The receiver refuses a message whose ConnectorQMGuid is not zero.",
        refused_unless_zero(UserMessagePacket, "TransactionHeader.ConnectorQMGuid"),
    ),
):
    add(_name, _rules, _says, _install)


def _swap_sequence_numbers(packet: UserMessagePacket) -> UserMessagePacket:
    header = packet.TransactionHeader
    swapped = {
        "TransactionHeader.TxSequenceNumber": header and header.PreviousTxSequenceNumber,
        "TransactionHeader.PreviousTxSequenceNumber": header and header.TxSequenceNumber,
    }
    changed: UserMessagePacket = set_fields(packet, swapped)
    return changed


add(
    "sender-previous-tx-sequence-number-of-first-all-ones",
    "MQMQ-2.2.20.5-D03",
    "The sender's first message of a sequence carries PreviousTxSequenceNumber 0xFFFFFFFF.",
    change_number(
        UserMessagePacket, "TransactionHeader.PreviousTxSequenceNumber", lambda number: number or 0xFFFF_FFFF
    ),
)


add(
    "sender-tx-sequence-numbers-swapped",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "The sender's TransactionHeader has PreviousTxSequenceNumber before TxSequenceNumber.",
    packets(UserMessagePacket, lambda packet: _swap_sequence_numbers(packet).build(), has_header("TransactionHeader")),
)
add(
    "sender-transaction-header-fm-lm-one-bit-too-high",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "The sender writes FM and LM of the TransactionHeader one bit too high.",
    change_number(
        UserMessagePacket, "TransactionHeader.Flags", lambda flags: flags & ~0xFF | (flags & 0xF) << 1 | flags & 0xE0
    ),
)

add_bits_set(
    UserMessagePacket,
    ("sender-transaction-header-x1-set", "MQMQ-2.2.20.5-08", "TransactionHeader.X1"),
    ("sender-transaction-header-x2-set", "MQMQ-2.2.20.5-09", "TransactionHeader.X2"),
    ("sender-transaction-header-x3-set", "MQMQ-2.2.20.5-10", "TransactionHeader.X3"),
    ("sender-transaction-header-x4-set", "MQMQ-2.2.20.5-11", "TransactionHeader.X4"),
    ("sender-transaction-header-x5-set", "MQMQ-2.2.20.5-12", "TransactionHeader.X5"),
    ("sender-transaction-header-x6-set", "MQMQ-2.2.20.5-13", "TransactionHeader.X6"),
    ("sender-transaction-header-x7-set", "MQMQ-2.2.20.5-14", "TransactionHeader.X7"),
    ("sender-transaction-header-x8-set", "MQMQ-2.2.20.5-15", "TransactionHeader.X8"),
)


def _drop_acknowledged_message(bit: str) -> Install:
    """Let the receiver acknowledge a message in which a given bit is set, and then drop the message."""

    class Dropped(InSequence):
        def take_transactional(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            if getattr(packet.TransactionHeader, bit):
                receipt.done = True
            else:
                super().take_transactional(session, packet, receipt, now)

    return replace_part(Dropped)


for _name, _rule, _bit in (
    ("receiver-message-with-transaction-x1-dropped", "MQMQ-2.2.20.5-08", "X1"),
    ("receiver-message-with-transaction-x2-dropped", "MQMQ-2.2.20.5-09", "X2"),
    ("receiver-message-with-transaction-x3-dropped", "MQMQ-2.2.20.5-10", "X3"),
    ("receiver-message-with-transaction-x4-dropped", "MQMQ-2.2.20.5-11", "X4"),
    ("receiver-message-with-transaction-x5-dropped", "MQMQ-2.2.20.5-12", "X5"),
    ("receiver-message-with-transaction-x6-dropped", "MQMQ-2.2.20.5-13", "X6"),
    ("receiver-message-with-transaction-x7-dropped", "MQMQ-2.2.20.5-14", "X7"),
    ("receiver-message-with-transaction-x8-dropped", "MQMQ-2.2.20.5-15", "X8"),
):
    add(
        _name,
        _rule,
        f"The receiver acknowledges and drops a transactional message with {_bit} set.",
        _drop_acknowledged_message(_bit),
    )


def _clear_last_message_flag(packet: UserMessagePacket) -> bytes:
    header = packet.TransactionHeader
    assert header is not None
    return replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~header.flags(LM=1))).build()


add(
    "sender-only-message-of-transaction-lm-clear",
    ("MQMQ-2.2.20.5-05", "MQDMPR-3.1.1.12-D59"),
    "The sender leaves LM clear in the only message of a transaction.",
    packets(
        UserMessagePacket,
        _clear_last_message_flag,
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.FM,
    ),
    blind=True,
)


@fault("sender-transaction-other-id-for-second-queue", breaks="MQMQ-2.2.20.5-06", blind=True)
class SenderTransactionOtherIdForSecondQueue(TransactionOperations):
    """If a transaction sends messages to two queues, the sender assigns a different transaction ID to the messages for
    the second queue.
    """

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        before = transaction.TransactionalOperationCollection
        first = before[0].MessagePositionReference.QueueReference if before else queue
        if first is not queue and transaction.number:
            transaction.number += 1
        return super().enqueue_in_transaction(transaction, queue, message)


def _begin_transactions_anew(qm: QueueManager) -> None:
    qm.adm.last_transaction = 0


add(
    "sender-transaction-ids-reused-after-restart",
    "MQMQ-2.2.20.5-07",
    "The sender reuses transaction IDs after a restart.",
    at_restart(_begin_transactions_anew),
    blind=True,
)
