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
from harness.faults.sent_messages import carries
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.transaction_operations import TransactionOperations
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.model.adm import Message, MessagePosition, Queue, RecoverableReceipt, Session
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now

MESSAGE = UserMessagePacket


def _ends_transaction(packet: UserMessagePacket) -> bool:
    return packet.TransactionHeader is not None and bool(packet.TransactionHeader.LM)


for _name, _rules, _says, _install in (
    (
        "message-transaction-unused-bit",
        ("MQMQ-2.2.20.5-02",),
        "X1 is set.",
        bit_set(MESSAGE, "TransactionHeader.X1"),
    ),
    (
        "message-transaction-connector-missing",
        ("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20"),
        "CG is the opposite of whether ConnectorQMGuid is there.",
        bit_inverted(MESSAGE, "TransactionHeader.CG"),
    ),
    (
        "message-transaction-not-first",
        (
            "MQMQ-2.2.20.5-04",
            "MQDMPR-3.1.1.12-D58",
        ),
        "FM is clear.",
        bit_clear(MESSAGE, "TransactionHeader.FM"),
    ),
    (
        "message-transaction-not-last",
        (
            "MQMQ-2.2.20.5-05",
            "MQDMPR-3.1.1.12-D59",
        ),
        "LM is clear.",
        bit_clear(MESSAGE, "TransactionHeader.LM"),
    ),
    (
        "handed-transaction-by-message",
        ("MQMQ-2.2.20.5-06",),
        "The last message of a transaction has another ID than the first.",
        bit_clear(MESSAGE, "TransactionHeader.ID", _ends_transaction),
    ),
    (
        "message-transaction-one-identifier",
        ("MQMQ-2.2.20.5-07",),
        "Every transaction has ID 0.",
        bit_clear(MESSAGE, "TransactionHeader.ID"),
    ),
    (
        "message-transaction-numbers-skipped",
        ("MQMQ-2.2.20.5-16",),
        "Every other number is left out.",
        change_number(MESSAGE, "TransactionHeader.TxSequenceNumber", lambda number: 2 * number - 1),
    ),
    (
        "message-transaction-first-number",
        ("MQMQ-2.2.20.5-17",),
        "Numbers begin with 0.",
        off_by(MESSAGE, "TransactionHeader.TxSequenceNumber", -1),
    ),
    (
        "message-transaction-previous-number",
        ("MQMQ-2.2.20.5-18",),
        "The number before is one less.",
        change_number(MESSAGE, "TransactionHeader.PreviousTxSequenceNumber", lambda number: max(0, number - 1)),
    ),
    (
        "message-transaction-previous-of-first",
        ("MQMQ-2.2.20.5-19",),
        "The first message names one before it.",
        off_by(MESSAGE, "TransactionHeader.PreviousTxSequenceNumber", 1),
    ),
    (
        "message-transaction-connector-refused",
        ("MQMQ-2.2.20.5-21",),
        "ConnectorQMGuid is refused.",
        refused_unless_zero(MESSAGE, "TransactionHeader.ConnectorQMGuid"),
    ),
):
    add(_name, _rules, _says, _install)


def _numbers_swapped(packet: UserMessagePacket) -> UserMessagePacket:
    header = packet.TransactionHeader
    swapped = {
        "TransactionHeader.TxSequenceNumber": header and header.PreviousTxSequenceNumber,
        "TransactionHeader.PreviousTxSequenceNumber": header and header.TxSequenceNumber,
    }
    changed: UserMessagePacket = set_fields(packet, swapped)
    return changed


add(
    "message-transaction-nothing-before",
    "MQMQ-2.2.20.5-D03",
    "PreviousTxSequenceNumber of the first message is 0xFFFFFFFF.",
    change_number(MESSAGE, "TransactionHeader.PreviousTxSequenceNumber", lambda number: number or 0xFFFF_FFFF),
)


add(
    "message-transaction-numbers-swapped",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "PreviousTxSequenceNumber stands before TxSequenceNumber.",
    packets(MESSAGE, lambda packet: _numbers_swapped(packet).build(), carries("TransactionHeader")),
)
add(
    "message-transaction-id-at-bit-8",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "FM and LM are one bit higher.",
    change_number(MESSAGE, "TransactionHeader.Flags", lambda flags: flags & ~0xFF | (flags & 0xF) << 1 | flags & 0xE0),
)

add_bits_set(
    MESSAGE,
    ("message-transaction-x1-sent", "MQMQ-2.2.20.5-08", "TransactionHeader.X1"),
    ("message-transaction-x2-sent", "MQMQ-2.2.20.5-09", "TransactionHeader.X2"),
    ("message-transaction-x3-sent", "MQMQ-2.2.20.5-10", "TransactionHeader.X3"),
    ("message-transaction-x4-sent", "MQMQ-2.2.20.5-11", "TransactionHeader.X4"),
    ("message-transaction-x5-sent", "MQMQ-2.2.20.5-12", "TransactionHeader.X5"),
    ("message-transaction-x6-sent", "MQMQ-2.2.20.5-13", "TransactionHeader.X6"),
    ("message-transaction-x7-sent", "MQMQ-2.2.20.5-14", "TransactionHeader.X7"),
    ("message-transaction-x8-sent", "MQMQ-2.2.20.5-15", "TransactionHeader.X8"),
)


def _dropped(bit: str) -> Install:
    """Acknowledge a message with a bit set, and do not put it into its queue: neither ignored nor an error."""

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
    ("message-transaction-x1-dropped", "MQMQ-2.2.20.5-08", "X1"),
    ("message-transaction-x2-dropped", "MQMQ-2.2.20.5-09", "X2"),
    ("message-transaction-x3-dropped", "MQMQ-2.2.20.5-10", "X3"),
    ("message-transaction-x4-dropped", "MQMQ-2.2.20.5-11", "X4"),
    ("message-transaction-x5-dropped", "MQMQ-2.2.20.5-12", "X5"),
    ("message-transaction-x6-dropped", "MQMQ-2.2.20.5-13", "X6"),
    ("message-transaction-x7-dropped", "MQMQ-2.2.20.5-14", "X7"),
    ("message-transaction-x8-dropped", "MQMQ-2.2.20.5-15", "X8"),
):
    add(_name, _rule, f"A transactional message with {_bit} set is acknowledged and dropped.", _dropped(_bit))


def _last_flag_missing(packet: UserMessagePacket) -> bytes:
    header = packet.TransactionHeader
    assert header is not None
    return replace(packet, TransactionHeader=replace(header, Flags=header.Flags & ~header.flags(LM=1))).build()


add(
    "only-message-of-a-transaction-not-the-last",
    ("MQMQ-2.2.20.5-05", "MQDMPR-3.1.1.12-D59"),
    "LM is clear in a message that is the only one of its transaction.",
    packets(
        UserMessagePacket,
        _last_flag_missing,
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.FM,
    ),
    blind=True,
)


@fault("transaction-numbered-anew-for-its-second-queue", breaks="MQMQ-2.2.20.5-06", blind=True)
class TransactionNumberedAnewForItsSecondQueue(TransactionOperations):
    """The messages of a transaction to its second queue have another ID than those to the first."""

    def enqueue_in_transaction(self, transaction: Transaction, queue: Queue, message: Message) -> MessagePosition:
        before = transaction.TransactionalOperationCollection
        first = before[0].MessagePositionReference.QueueReference if before else queue
        if first is not queue and transaction.number:
            transaction.number += 1
        return super().enqueue_in_transaction(transaction, queue, message)


def _begin_transactions_anew(qm: QueueManager) -> None:
    qm.adm.last_transaction = 0


add(
    "transaction-ids-used-again-after-a-restart",
    "MQMQ-2.2.20.5-07",
    "After a restart transactions have the IDs that were used before.",
    at_restart(_begin_transactions_anew),
    blind=True,
)
