"""Faults of MS-MQMQ 2.2.20.5 TransactionHeader that show only for some messages, transactions and combinations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import packets, set_fields
from harness.faults.registry import FaultyCore, Install, add
from harness.faults.sent_messages import change_construction
from reference_qm.codec import MessageClass, TransactionHeader, UserMessagePacket
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.transactional_sending import TransactionalSending
from reference_qm.model.adm import Message, MessagePosition, OutgoingMessagePosition, RecoverableReceipt, Session
from reference_qm.surface.clock import Now

LARGE_BODY = 4096
UNUSED = 0xFF00_0000


def _is_large(packet: UserMessagePacket) -> bool:
    return len(packet.MessagePropertiesHeader.MessageBody) > LARGE_BODY


def _change_flags(change: Callable[[UserMessagePacket, int], int]) -> Install:
    """Let the sender change TransactionHeader.Flags of the messages that it constructs."""

    def change_packet(packet: UserMessagePacket, message: Message) -> UserMessagePacket:
        if packet.TransactionHeader is None:
            return packet
        flags = change(packet, packet.TransactionHeader.Flags)
        return replace(packet, TransactionHeader=replace(packet.TransactionHeader, Flags=flags))

    return change_construction(change_packet)


def _change_id(flags: int, change: Callable[[int], int]) -> int:
    return flags & ~0x00FF_FFF0 | (change(flags >> 4 & 0xFFFFF) & 0xFFFFF) << 4


FM, LM = TransactionHeader.flags(FM=1), TransactionHeader.flags(LM=1)

for _name, _rule, _says, _install in (
    (
        "sender-fm-of-large-message-clear",
        "MQMQ-2.2.20.5-04",
        "The sender clears FM in the first message of a transaction if the body has more than 4 KiB.",
        _change_flags(lambda packet, flags: flags & ~FM if _is_large(packet) else flags),
    ),
    (
        "sender-fm-set-with-lm",
        "MQMQ-2.2.20.5-04",
        "The sender also sets FM in the last message of a transaction.",
        _change_flags(lambda packet, flags: flags | FM if flags & LM else flags),
    ),
    (
        "sender-lm-set-with-fm",
        "MQMQ-2.2.20.5-05",
        "The sender also sets LM in the first message of a transaction.",
        _change_flags(lambda packet, flags: flags | LM if flags & FM else flags),
    ),
    (
        "sender-lm-of-large-message-clear",
        "MQMQ-2.2.20.5-05",
        "The sender clears LM in the last message of a transaction if the body has more than 4 KiB.",
        _change_flags(lambda packet, flags: flags & ~LM if _is_large(packet) else flags),
    ),
    (
        "sender-transaction-id-of-single-messages-0",
        "MQMQ-2.2.20.5-07",
        "The sender sends ID 0 in a message that is the only message of its transaction.",
        _change_flags(
            lambda packet, flags: _change_id(flags, lambda number: 0) if flags & FM and flags & LM else flags
        ),
    ),
    (
        "sender-transaction-id-of-two-bits",
        "MQMQ-2.2.20.5-07",
        "The sender sends only the lowest 2 bits of the number of a transaction as ID.",
        _change_flags(lambda packet, flags: _change_id(flags, lambda number: number & 3)),
    ),
    (
        "sender-transaction-id-without-lowest-bit",
        "MQMQ-2.2.20.5-07",
        "The sender sends the same ID for two transactions in succession.",
        _change_flags(lambda packet, flags: _change_id(flags, lambda number: number | 1)),
    ),
    (
        "sender-transaction-id-of-large-message-0",
        "MQMQ-2.2.20.5-06",
        "The sender sends ID 0 in a message with a body of more than 4 KiB.",
        _change_flags(lambda packet, flags: _change_id(flags, lambda number: 0) if _is_large(packet) else flags),
    ),
    (
        "sender-transaction-id-of-last-message-0",
        "MQMQ-2.2.20.5-06",
        "The sender sends ID 0 in the last message of a transaction of several messages.",
        _change_flags(
            lambda packet, flags: _change_id(flags, lambda number: 0) if flags & LM and not flags & FM else flags
        ),
    ),
):
    add(_name, _rule, _says, _install)


def _on_second_sending(change: Callable[[UserMessagePacket], UserMessagePacket]) -> Install:
    """Let the sender change a transactional message that it sends again."""

    def install(faulty: FaultyCore) -> None:
        sent: set[tuple[Any, int]] = set()

        def change_repeated(packet: UserMessagePacket) -> bytes:
            header = packet.TransactionHeader
            assert header is not None
            key = (header.TxSequenceID, header.TxSequenceNumber)
            known = key in sent
            sent.add(key)
            return change(packet).build() if known else packet.build()

        packets(UserMessagePacket, change_repeated, lambda packet: packet.TransactionHeader is not None)(faulty)

    return install


for _name, _rule, _says, _path, _change in (
    (
        "id-1-higher",
        "MQMQ-2.2.20.5-06",
        "The sender sends a transactional message again with a different ID.",
        "TransactionHeader.Flags",
        lambda old: _change_id(old, lambda number: number + 1),
    ),
    (
        "fm-set",
        "MQMQ-2.2.20.5-04",
        "The sender sets FM in each transactional message that it sends again.",
        "TransactionHeader.Flags",
        lambda old: old | FM,
    ),
    (
        "lm-set",
        "MQMQ-2.2.20.5-05",
        "The sender sets LM in each transactional message that it sends again.",
        "TransactionHeader.Flags",
        lambda old: old | LM,
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
        _on_second_sending(lambda packet, path=_path, change=_change: set_fields(packet, {path: change})),  # type: ignore[misc]
    )


@fault("sender-sequence-number-skipped-after-third-message", breaks="MQMQ-2.2.20.5-16")
class SenderSequenceNumberSkippedAfterThirdMessage(TransactionalSending):
    """The sender skips a number after the third message of a sequence."""

    def number_in_sequence(self, session: Session, message: Message) -> Message:
        numbered = super().number_in_sequence(session, message)
        if session.OutgoingTxSequenceNumber == 4:
            session.OutgoingTxSequenceNumber += 1
        return numbered


def _change_previous(change: Callable[[int, int], int]) -> Install:
    class Previous(TransactionalSending):
        def update_transaction_header(
            self, session: Session, position: OutgoingMessagePosition, now: Now
        ) -> UserMessagePacket:
            packet = super().update_transaction_header(session, position, now)
            header = packet.TransactionHeader
            if header is None:
                return packet
            previous = change(header.TxSequenceNumber, header.PreviousTxSequenceNumber)
            return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=previous))

    return replace_part(Previous)


add(
    "sender-previous-number-of-third-message-1",
    "MQMQ-2.2.20.5-18",
    "The sender sends PreviousTxSequenceNumber 1 in the third and every later message of a sequence.",
    _change_previous(lambda number, previous: min(previous, 1)),
)


@fault("sender-previous-number-of-first-message-of-transaction-0", breaks="MQMQ-2.2.20.5-18")
class SenderPreviousNumberOfFirstMessageOfTransaction0(TransactionalSending):
    """The sender sends PreviousTxSequenceNumber 0 in the first message of each transaction."""

    def update_transaction_header(
        self, session: Session, position: OutgoingMessagePosition, now: Now
    ) -> UserMessagePacket:
        packet = super().update_transaction_header(session, position, now)
        header = packet.TransactionHeader
        if header is None or not header.FM:
            return packet
        return replace(packet, TransactionHeader=replace(header, PreviousTxSequenceNumber=0))


def _change_received(
    when: Callable[[UserMessagePacket, TransactionHeader], Any],
    change: Callable[[TransactionHeader], TransactionHeader | None],
) -> Install:
    """Let the receiver change the TransactionHeader of a received message, or drop the message."""

    class Changing(Receiving):
        def take_message(
            self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
        ) -> None:
            header = packet.TransactionHeader
            if header is not None and when(packet, header):
                changed = change(header)
                if changed is None:
                    receipt.done = True
                    return
                packet = replace(packet, TransactionHeader=changed)
            super().take_message(session, packet, receipt, now)

    return replace_part(Changing)


def _with_flags(clear: int = 0, set_: int = 0) -> Callable[[TransactionHeader], TransactionHeader]:
    return lambda header: replace(header, Flags=header.Flags & ~clear | set_)


def _drop(header: TransactionHeader) -> None:
    return None


FA = TransactionHeader.flags(FA=1)
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
for _number, _rule in enumerate(UNUSED_BIT_RULES, 1):
    _bit = 1 << 23 + _number
    add(
        f"receiver-transaction-flag-x{_number}-final-ack-omitted",
        _rule,
        f"The receiver treats FA as clear in a message with X{_number} set.",
        _change_received(lambda packet, header, bit=_bit: header.Flags & bit, _with_flags(clear=FA)),  # type: ignore[misc]
    )
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
        lambda packet, header: header.X4 and _is_large(packet),
    ),
    ("x5-with-cg", "MQMQ-2.2.20.5-12", "X5 and CG set", lambda packet, header: header.X5 and header.CG),
    ("all-unused", "MQMQ-2.2.20.5-15", "all unused bits set", lambda packet, header: header.Flags & UNUSED == UNUSED),
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
        _change_received(_when, _drop),
    )

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
        _change_received(_when, _drop),
    )


@fault("receiver-connector-guid-of-receiver-dropped", breaks="MQMQ-2.2.20.5-21")
class ReceiverConnectorGuidOfReceiverDropped(InSequence):
    """The receiver does not store a message whose ConnectorQMGuid is the GUID of the receiver."""

    def take_transactional(
        self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        header = packet.TransactionHeader
        if header is not None and header.ConnectorQMGuid == self.qm.adm.Identifier:
            receipt.done = True
        else:
            super().take_transactional(session, packet, receipt, now)


@fault("receiver-connector-guid-separates-sequences", breaks="MQMQ-2.2.20.5-21")
class ReceiverConnectorGuidSeparatesSequences(InSequence):
    """The receiver refuses a message whose ConnectorQMGuid differs from that of the first message of its sequence."""

    def is_in_sequence(self, session: Session, packet: UserMessagePacket) -> bool:
        header = packet.TransactionHeader
        assert header is not None
        last: dict[Any, Any] = getattr(self, "last", {})
        self.last = last
        same = last.setdefault(header.TxSequenceID, header.ConnectorQMGuid) == header.ConnectorQMGuid
        return same and super().is_in_sequence(session, packet)


def _omit_final_ack(when: Callable[[MessagePosition, MessageClass], Any]) -> Install:
    class Omitting(FinalAcks):
        def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
            if not when(position, reason):
                super().acknowledge_final(position, reason, now)

    return replace_part(Omitting)


for _name, _says, _when_left in (
    ("purged", "a message that was purged", lambda position, reason: reason == MessageClass.MQMSG_CLASS_NACK_Q_PURGED),
    (
        "received",
        "a message that was received",
        lambda position, reason: reason == MessageClass.MQMSG_CLASS_ACK_RECEIVE,
    ),
    (
        "large",
        "a message with a body of more than 4 KiB",
        lambda position, reason: len(position.MessageReference.Body) > LARGE_BODY,
    ),
    (
        "second",
        "the second and every later message of a sequence",
        lambda position, reason: position.MessageReference.TransactionSequenceNumber > 1,
    ),
    (
        "journaling",
        "a message that requests no journaling",
        lambda position, reason: (
            not position.MessageReference.PositiveJournalingRequested
            and not position.MessageReference.NegativeJournalingRequested
        ),
    ),
):
    add(
        f"receiver-final-ack-of-{_name}-message-omitted",
        "MQMQ-2.2.20.5-D02",
        f"The receiver sends no FinalAck for {_says}, although FA is set.",
        _omit_final_ack(_when_left),
    )


@fault("receiver-final-ack-of-refused-message-omitted", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfRefusedMessageOmitted(FinalAcks):
    """The receiver sends no FinalAck for a message with FA set whose queue does not exist."""

    def refuse_transactional(
        self, session: Session, packet: UserMessagePacket, message_class: MessageClass, now: Now
    ) -> None:
        pass


@fault("receiver-final-ack-of-purged-message-sent-although-fa-clear", breaks="MQMQ-2.2.20.5-D02")
class ReceiverFinalAckOfPurgedMessageSentAlthoughFaClear(FinalAcks):
    """The receiver sends a FinalAck for a message with FA clear that leaves its queue without being received."""

    def position_deleted(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        message = position.MessageReference
        if (
            reason != MessageClass.MQMSG_CLASS_ACK_RECEIVE
            and position.order_queue is None
            and message.TransactionSequenceNumber
        ):
            name = f"PRIVATE={message.Identifier.QueueManagerGuid}\\4"
            position.order_queue = name
        super().position_deleted(position, reason, now)


@fault("receiver-transaction-id-of-16-bits", breaks="MQMQ-2.2.20.5-D01")
class ReceiverTransactionIdOf16Bits(Receiving):
    """The receiver reads only the lowest 16 bits of ID."""

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        header = packet.TransactionHeader
        if header is not None:
            flags = _change_id(header.Flags, lambda number: number & 0xFFFF)
            packet = replace(packet, TransactionHeader=replace(header, Flags=flags))
        super().take_message(session, packet, receipt, now)


add(
    "receiver-fm-and-lm-interchanged",
    "MQMQ-2.2.20.5-D01",
    "The receiver reads FM from bit 3 and LM from bit 2.",
    _change_received(
        lambda packet, header: bool(header.FM) != bool(header.LM),
        lambda header: replace(header, Flags=header.Flags ^ (FM | LM)),
    ),
)
