"""Check the TransactionHeader of transactional messages. Spec: MS-MQMQ 2.2.20.5."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from harness.capture.recorder import MALFORMED_PACKET_KIND, Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, RecentValues, parse_frame_strictly, passive
from reference_qm.codec import TransactionHeader
from suites.mqmq.steps.message_bytes import TRANSACTION_HEADER_NAME
from suites.mqmq.steps.message_parts import make_part_presence_predicate
from suites.mqmq.steps.source_queue_manager import find_own_queue_manager_identifier
from suites.mqmq.steps.transactions import (
    check_fm_marks_first_message,
    check_lm_marks_last_message,
    check_transaction_has_new_id,
    check_transaction_keeps_id,
    make_predicate_comparing_with_previous_message,
)
from suites.mqmq.steps.unused import register_unused_bit_predicates

USER_MESSAGE_KIND = "UserMessage"
UNUSED_TRANSACTION_FLAG_BITS_MASK = 0xFF00_0000
HIGHEST_U32 = 0xFFFF_FFFF
UNUSED_TRANSACTION_FLAG_BIT_BY_RULE = {
    "MQMQ-2.2.20.5-08": "X1",
    "MQMQ-2.2.20.5-09": "X2",
    "MQMQ-2.2.20.5-10": "X3",
    "MQMQ-2.2.20.5-11": "X4",
    "MQMQ-2.2.20.5-12": "X5",
    "MQMQ-2.2.20.5-13": "X6",
    "MQMQ-2.2.20.5-14": "X7",
    "MQMQ-2.2.20.5-15": "X8",
}
"""The unused bits of Flags, by rule."""

register_unused_bit_predicates(USER_MESSAGE_KIND, TransactionHeader, UNUSED_TRANSACTION_FLAG_BIT_BY_RULE)


@passive("MQMQ-2.2.20.5-02", USER_MESSAGE_KIND, "bits 24 to 31 of TransactionHeader.Flags are 0")
def check_unused_bits(packet: Any, context: Context) -> Finding:
    """Check that the unused bits of TransactionHeader.Flags are 0."""
    if packet.TransactionHeader is None:
        return None
    flags = packet.TransactionHeader.Flags
    return not flags & UNUSED_TRANSACTION_FLAG_BITS_MASK, f"TransactionHeader.Flags is 0x{flags:08X}"


for rule in ("MQMQ-2.2.20.5-03", "MQMQ-2.2.20.5-20"):
    passive(rule, (USER_MESSAGE_KIND, MALFORMED_PACKET_KIND), "ConnectorQMGuid is present if and only if CG is set")(
        make_part_presence_predicate(TRANSACTION_HEADER_NAME, "CG", "ConnectorQMGuid")
    )


@passive(
    "MQMQ-2.2.20.5-16",
    USER_MESSAGE_KIND,
    "a new message has the next TxSequenceNumber, or its PreviousTxSequenceNumber is the number of the last message",
)
def check_sequence_number(packet: Any, context: Context) -> Finding:
    """Check that a message sent again keeps its number, and that a new message has the next number.

    Messages that expired or were refused leave a gap, which PreviousTxSequenceNumber shows (3.1.1.5).
    """
    header = packet.TransactionHeader
    if header is None or _is_routed_message(packet, context):
        return None
    known = _get_previous_sequence(packet, context)
    number = header.TxSequenceNumber
    again = known.numbers.get(packet.UserHeader.MessageID)
    if again is not None:
        return number == again, f"TxSequenceNumber is {number}, and {again} in the first transmission of the message"
    if not known.numbers:
        return None  # the numbers before this session are unknown
    last = known.highest
    bridged = number > last and header.PreviousTxSequenceNumber == last
    return number == last + 1 or bridged, f"TxSequenceNumber is {number}, and {last} in the previous message"


@passive("MQMQ-2.2.20.5-17", USER_MESSAGE_KIND, "TxSequenceNumber is at least 1")
def check_lowest_sequence_number(packet: Any, context: Context) -> Finding:
    """Check that TxSequenceNumber is at least 1."""
    header = packet.TransactionHeader
    if header is None:
        return None
    return header.TxSequenceNumber >= 1, f"TxSequenceNumber is {header.TxSequenceNumber}"


@passive(
    "MQMQ-2.2.20.5-D03", USER_MESSAGE_KIND, "TxSequenceNumber is not 0, and PreviousTxSequenceNumber is not 0xFFFFFFFF"
)
def check_ranges_of_numbers(packet: Any, context: Context) -> Finding:
    """Check that TxSequenceNumber is not 0 and PreviousTxSequenceNumber is not 0xFFFFFFFF."""
    header = packet.TransactionHeader
    if header is None:
        return None
    number, previous = header.TxSequenceNumber, header.PreviousTxSequenceNumber
    return (
        number > 0 and previous < HIGHEST_U32,
        f"TxSequenceNumber is {number}, and PreviousTxSequenceNumber is {previous}",
    )


@passive(
    "MQMQ-2.2.20.5-18",
    USER_MESSAGE_KIND,
    "PreviousTxSequenceNumber of a new message is the TxSequenceNumber of the previous message",
)
def check_previous_sequence_number(packet: Any, context: Context) -> Finding:
    """Check PreviousTxSequenceNumber. In a new message, it is the number that was sent last; in a message that is sent
    again, it is any lower number (E44).
    """
    header = packet.TransactionHeader
    if header is None or _is_routed_message(packet, context):
        return None
    number, previous = header.TxSequenceNumber, header.PreviousTxSequenceNumber
    observed = f"PreviousTxSequenceNumber is {previous}, and TxSequenceNumber is {number}"
    known = _get_previous_sequence(packet, context)
    if not known.numbers or packet.UserHeader.MessageID in known.numbers:
        return previous < number, observed
    return previous == known.highest, observed


@passive("MQMQ-2.2.20.5-19", USER_MESSAGE_KIND, "PreviousTxSequenceNumber is 0 if TxSequenceNumber is 1")
def check_first_message_has_previous_number_0(packet: Any, context: Context) -> Finding:
    """Check that the first message of a sequence has PreviousTxSequenceNumber 0."""
    header = packet.TransactionHeader
    if header is None or header.TxSequenceNumber != 1:
        return None
    return header.PreviousTxSequenceNumber == 0, f"PreviousTxSequenceNumber is {header.PreviousTxSequenceNumber}"


def _is_routed_message(packet: Any, context: Context) -> bool:
    """Return whether the SUT forwards a message that a different queue manager originated."""
    own = find_own_queue_manager_identifier(context)
    return own is not None and packet.UserHeader.SourceQueueManager != own


class SentSequence:
    """The TxSequenceNumbers that the SUT has sent in one sequence, by MessageID, and the highest of them."""

    def __init__(self) -> None:
        self.numbers = RecentValues[int, int]()
        self.highest = 0


class SentSequences(ConnectionSummary):
    """The sequences of the SUT on a connection, by TxSequenceID."""

    def __init__(self) -> None:
        self.by_identifier: defaultdict[Any, SentSequence] = defaultdict(SentSequence)

    def note(self, frame: Frame, connection: Connection) -> None:
        """Remember the number of a transactional message."""
        record = parse_frame_strictly(frame) if frame.from_sut and frame.kind == USER_MESSAGE_KIND else None
        if record is not None and record.TransactionHeader is not None:
            header = record.TransactionHeader
            sequence = self.by_identifier[header.TxSequenceID]
            sequence.numbers.store_new_value(record.UserHeader.MessageID, header.TxSequenceNumber)
            sequence.highest = max(sequence.highest, header.TxSequenceNumber)


def _get_previous_sequence(packet: Any, context: Context) -> SentSequence:
    """Return the TxSequenceNumbers that the SUT has sent before this message in its sequence."""
    return context.before(SentSequences).by_identifier[packet.TransactionHeader.TxSequenceID]


for rule, expected, judge in (
    ("MQMQ-2.2.20.5-04", "FM is 1 only in the first message of a transaction", check_fm_marks_first_message),
    ("MQMQ-2.2.20.5-05", "LM is 1 only in the last message of a transaction", check_lm_marks_last_message),
    ("MQMQ-2.2.20.5-06", "all messages of a transaction have the same ID", check_transaction_keeps_id),
    ("MQMQ-2.2.20.5-07", "transactions have different IDs", check_transaction_has_new_id),
):
    passive(rule, USER_MESSAGE_KIND, expected, of_system=True)(make_predicate_comparing_with_previous_message(judge))
