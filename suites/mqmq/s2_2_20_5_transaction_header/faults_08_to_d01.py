"""Faults that break the rules MQMQ-2.2.20.5-08 to MQMQ-2.2.20.5-D01."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import (
    change_number_in_field,
    register_set_bit_faults,
)
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import change_packets_of_kind, set_fields
from harness.faults.received_messages import change_received_message
from harness.faults.registry import Install, add
from harness.faults.sent_messages import has_header
from reference_qm.codec import TransactionHeader, UserMessagePacket
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_20_5_transaction_header.fault_steps import (
    FIRST_IN_TRANSACTION_FLAG,
    LAST_IN_TRANSACTION_FLAG,
    change_transaction_id_in_flags,
)
from suites.mqmq.steps.kinds_of_messages import has_large_body

register_set_bit_faults(
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


def _drop_acknowledged_message_with_bit(bit: str) -> Install:
    """Let the receiver acknowledge a message in which a given bit is set, and then drop the message."""

    class AcknowledgedMessageDropper(TransactionalReceiving):
        def receive_transactional_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            if getattr(packet.TransactionHeader, bit):
                receipt.is_on_disk = True
            else:
                super().receive_transactional_message(session, packet, receipt, now)

    return replace_part(AcknowledgedMessageDropper)


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
        _drop_acknowledged_message_with_bit(_bit),
    )


NO_ACK_REQUEST_FIELDS = {"MessagePropertiesHeader.Flags": 0}


def _make_transaction_header_bit_condition(name: str) -> Callable[[Any], Any]:
    return lambda packet: packet.TransactionHeader is not None and getattr(packet.TransactionHeader, name)


for _name, _rule, _says, _changes, _bit in (
    (
        "receiver-transaction-header-x1-suppresses-acknowledgments",
        "MQMQ-2.2.20.5-08",
        "The receiver sends no administration acknowledgments for a message when bit X1 of TransactionHeader.Flags is "
        "set.",
        NO_ACK_REQUEST_FIELDS,
        "X1",
    ),
    (
        "receiver-transaction-header-x5-message-expires",
        "MQMQ-2.2.20.5-12",
        "The receiver removes a message from its queue after one second when bit X5 of TransactionHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        "X5",
    ),
    (
        "receiver-transaction-header-x8-correlation-id-lost",
        "MQMQ-2.2.20.5-15",
        "The receiver delivers a message without its CorrelationID when bit X8 of TransactionHeader.Flags is set.",
        {"MessagePropertiesHeader.CorrelationID": bytes(20)},
        "X8",
    ),
):
    add(_name, _rule, _says, change_received_message(_changes, _make_transaction_header_bit_condition(_bit)))


def _change_received_transaction_headers(
    when: Callable[[UserMessagePacket, TransactionHeader], Any],
    change: Callable[[TransactionHeader], TransactionHeader | None],
) -> Install:
    """Let the receiver change the TransactionHeader of a received message, or drop the message."""

    class TransactionHeaderChanger(MessageReceiving):
        def put_received_message_into_queue(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            header = packet.TransactionHeader
            if header is not None and when(packet, header):
                changed = change(header)
                if changed is None:
                    receipt.is_on_disk = True
                    return
                packet = replace(packet, TransactionHeader=changed)
            super().put_received_message_into_queue(session, packet, receipt, now)

    return replace_part(TransactionHeaderChanger)


def _make_flags_replacer(clear: int = 0, set_: int = 0) -> Callable[[TransactionHeader], TransactionHeader]:
    return lambda header: replace(header, Flags=header.Flags & ~clear | set_)


FINAL_ACK_REQUIRED_FLAG = TransactionHeader.flags(FA=1)


UNUSED_BIT_RULES = (
    "MQMQ-2.2.20.5-08",
    "MQMQ-2.2.20.5-09",
    "MQMQ-2.2.20.5-10",
    "MQMQ-2.2.20.5-11",
    "MQMQ-2.2.20.5-12",
    "MQMQ-2.2.20.5-13",
    "MQMQ-2.2.20.5-14",
    "MQMQ-2.2.20.5-15",
)


for _bit_number, _rule in enumerate(UNUSED_BIT_RULES, 1):
    _unused_bit = 1 << 23 + _bit_number
    add(
        f"receiver-transaction-flag-x{_bit_number}-final-ack-omitted",
        _rule,
        f"The receiver treats FA as clear in a message with X{_bit_number} set.",
        _change_received_transaction_headers(
            lambda packet, header, bit=_unused_bit: header.Flags & bit,  # type: ignore[misc]
            _make_flags_replacer(clear=FINAL_ACK_REQUIRED_FLAG),
        ),
    )


UNUSED_TRANSACTION_FLAG_BITS_MASK = 0xFF00_0000


def _remove_transaction_header(header: TransactionHeader) -> None:
    return None


for _name, _rule, _says, _when in (
    (
        "x1-of-second-message",
        "MQMQ-2.2.20.5-08",
        "X1 set and a TxSequenceNumber above 1",
        lambda packet, header: header.X1 and header.TxSequenceNumber > 1,
    ),
    (
        "x4-of-large-message",
        "MQMQ-2.2.20.5-11",
        "X4 set and a body of more than 4 KiB",
        lambda packet, header: header.X4 and has_large_body(packet),
    ),
    ("x5-with-cg", "MQMQ-2.2.20.5-12", "X5 and CG set", lambda packet, header: header.X5 and header.CG),
    (
        "all-unused",
        "MQMQ-2.2.20.5-15",
        "all unused bits set",
        lambda packet, header: header.Flags & UNUSED_TRANSACTION_FLAG_BITS_MASK == UNUSED_TRANSACTION_FLAG_BITS_MASK,
    ),
    ("x3-without-x2", "MQMQ-2.2.20.5-10", "X3 set and X2 clear", lambda packet, header: header.X3 and not header.X2),
    (
        "x2-of-last-message",
        "MQMQ-2.2.20.5-09",
        "X2 set in the last message of a transaction",
        lambda packet, header: header.X2 and header.LM,
    ),
    (
        "x7-of-first-message",
        "MQMQ-2.2.20.5-14",
        "X7 set in the first message of a transaction",
        lambda packet, header: header.X7 and header.FM,
    ),
    (
        "x8-with-high-id",
        "MQMQ-2.2.20.5-15",
        "X8 set and an ID above 0x7FFFF",
        lambda packet, header: header.X8 and header.ID > 0x7FFFF,
    ),
):
    add(
        f"receiver-transactional-message-with-{_name}-dropped",
        _rule,
        f"The receiver drops a transactional message with {_says}.",
        _change_received_transaction_headers(_when, _remove_transaction_header),
    )


@fault("sender-sequence-number-skipped-after-third-message", breaks="MQMQ-2.2.20.5-16")
class SenderSequenceNumberSkippedAfterThirdMessage(TransactionalSending):
    """The sender skips a number after the third message of a sequence."""

    def number_message_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_message_in_sequence(session, message)
        if session.OutgoingTxSequenceNumber == 4:
            session.OutgoingTxSequenceNumber += 1
        return numbered


def _change_previous_sequence_numbers(change: Callable[[int, int], int]) -> Install:
    class PreviousNumberChanger(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            header = packet.TransactionHeader
            if header is None:
                return packet
            previous = change(header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))

    return replace_part(PreviousNumberChanger)


add(
    "sender-previous-number-of-third-message-1",
    "MQMQ-2.2.20.5-18",
    "The sender sends PreviousTxSequenceNumber 1 in the third and every later message of a sequence.",
    _change_previous_sequence_numbers(lambda number, previous: min(previous, 1)),
)


@fault("sender-previous-tx-sequence-number-0-in-each-new-transaction", breaks="MQMQ-2.2.20.5-18")
class SenderPreviousTxSequenceNumber0InEachNewTransaction(TransactionalSending):
    """The sender sends PreviousTxSequenceNumber 0 in the first message of each transaction."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not header.FM:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=0))


@fault("receiver-connector-guid-of-other-queue-manager-refused", breaks="MQMQ-2.2.20.5-21")
class ReceiverConnectorGuidOfOtherQueueManagerRefused(TransactionalReceiving):
    """The receiver ignores a transactional message whose ConnectorQMGuid is not the receiver's own GUID."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid not in (None, self.qm.adm.Identifier):
            receipt.is_on_disk = True
            return
        super().receive_transactional_message(session, packet, receipt, now)


for _name, _says, _when in (
    (
        "zero-connector-guid",
        "a ConnectorQMGuid of zeros",
        lambda packet, header: header.CG and not header.ConnectorQMGuid.int,
    ),
    (
        "connector-guid-of-source",
        "the GUID of its source as ConnectorQMGuid",
        lambda packet, header: header.CG and header.ConnectorQMGuid == packet.UserHeader.SourceQueueManager,
    ),
    (
        "connector-guid-in-second-message",
        "a ConnectorQMGuid and a TxSequenceNumber above 1",
        lambda packet, header: header.CG and header.TxSequenceNumber > 1,
    ),
):
    add(
        f"receiver-transactional-message-with-{_name}-dropped",
        "MQMQ-2.2.20.5-21",
        f"The receiver drops a transactional message with {_says}.",
        _change_received_transaction_headers(_when, _remove_transaction_header),
    )


@fault("receiver-drops-message-whose-connector-guid-is-its-own", breaks="MQMQ-2.2.20.5-21")
class ReceiverDropsMessageWhoseConnectorGuidIsItsOwn(TransactionalReceiving):
    """The receiver does not store a message whose ConnectorQMGuid is the GUID of the receiver."""

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid == self.qm.adm.Identifier:
            receipt.is_on_disk = True
        else:
            super().receive_transactional_message(session, packet, receipt, now)


@fault("receiver-refuses-changed-connector-guid-within-sequence", breaks="MQMQ-2.2.20.5-21")
class ReceiverRefusesChangedConnectorGuidWithinSequence(TransactionalReceiving):
    """The receiver refuses a message whose ConnectorQMGuid differs from that of the first message of its sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last: dict[Any, Any] = getattr(self, "last", {})
        self.last = last
        same = last.setdefault(header.TxSequenceID, header.ConnectorQMGuid) == header.ConnectorQMGuid
        return same and super().is_in_sequence(session, packet)


def _swap_sequence_numbers(packet: UserMessagePacket) -> UserMessagePacket:
    header = packet.TransactionHeader
    swapped = {
        "TransactionHeader.TxSequenceNumber": header and header.PreviousTxSequenceNumber,
        "TransactionHeader.PreviousTxSequenceNumber": header and header.TxSequenceNumber,
    }
    changed: UserMessagePacket = set_fields(packet, swapped)
    return changed


add(
    "sender-tx-sequence-numbers-swapped",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "The sender's TransactionHeader has PreviousTxSequenceNumber before TxSequenceNumber.",
    change_packets_of_kind(
        UserMessagePacket, lambda packet: _swap_sequence_numbers(packet).build(), has_header("TransactionHeader")
    ),
)


add(
    "sender-transaction-header-fm-lm-one-bit-too-high",
    ("MQMQ-2.2.20.5-D01", "MQDMPR-3.1.7.1.32-D04"),
    "The sender writes FM and LM of the TransactionHeader one bit too high.",
    change_number_in_field(
        UserMessagePacket, "TransactionHeader.Flags", lambda flags: flags & ~0xFF | (flags & 0xF) << 1 | flags & 0xE0
    ),
)


@fault("receiver-reads-only-low-16-bits-of-transaction-id", breaks="MQMQ-2.2.20.5-D01")
class ReceiverReadsOnlyLow16BitsOfTransactionId(MessageReceiving):
    """The receiver reads only the lowest 16 bits of ID."""

    def put_received_message_into_queue(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None:
            flags = change_transaction_id_in_flags(header.Flags, lambda number: number & 0xFFFF)
            packet = replace(packet, TransactionHeader=replace(header, Flags=flags))
        super().put_received_message_into_queue(session, packet, receipt, now)


add(
    "receiver-fm-and-lm-interchanged",
    "MQMQ-2.2.20.5-D01",
    "The receiver reads FM from bit 3 and LM from bit 2.",
    _change_received_transaction_headers(
        lambda packet, header: bool(header.FM) != bool(header.LM),
        lambda header: replace(header, Flags=header.Flags ^ (FIRST_IN_TRANSACTION_FLAG | LAST_IN_TRANSACTION_FLAG)),
    ),
)


_FINAL_ACK_FLAG = TransactionHeader.flags(FA=1)


add(
    "receiver-no-final-ack-for-message-with-x1",
    "MQMQ-2.2.20.5-08",
    "The receiver sends no FinalAck for a message that requests one if bit X1 of TransactionHeader.Flags is set.",
    change_received_message(
        {"TransactionHeader.Flags": lambda flags: flags & ~_FINAL_ACK_FLAG},
        lambda packet: packet.TransactionHeader is not None and packet.TransactionHeader.X1,
    ),
    blind=True,
)
