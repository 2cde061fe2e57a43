"""Predicates that compare a transactional message with the previous message of its sequence. Spec: MS-MQMQ 2.2.20.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import ConnectionSummary, Context, Finding, Predicate, RecentValues, parse_frame_strictly
from reference_qm.codec import TxSequenceID

HeaderPairJudgment = Callable[[Any, Any], Finding]
"""A predicate that is called with a TransactionHeader and with the previous TransactionHeader of its sequence."""


class SentTransactionHeaders(ConnectionSummary):
    """The TransactionHeaders that the SUT has sent on a connection, by sequence and TxSequenceNumber."""

    def __init__(self) -> None:
        self.headers = RecentValues[tuple[TxSequenceID, int], Any]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Remember the TransactionHeader of a message from the SUT."""
        packet = parse_frame_strictly(frame) if frame.from_sut and frame.kind == "UserMessage" else None
        if packet is not None and packet.TransactionHeader is not None:
            header = packet.TransactionHeader
            self.headers.store_new_value((header.TxSequenceID, header.TxSequenceNumber), header)


def make_predicate_comparing_with_previous_message(judge: HeaderPairJudgment) -> Predicate:
    """Return a predicate that compares each new transactional message with the previous message of its sequence."""

    def judge_packet(packet: Any, context: Context) -> Finding:
        header = packet.TransactionHeader
        if header is None:
            return None
        known = context.before(SentTransactionHeaders).headers
        place = header.TxSequenceID, header.TxSequenceNumber
        before = known.get((header.TxSequenceID, header.TxSequenceNumber - 1))
        return None if before is None or place in known else judge(header, before)

    return judge_packet


def check_fm_marks_first_message(header: Any, before: Any) -> Finding:
    """Check that FM is set if and only if the previous message belongs to a different transaction."""
    first = header.ID != before.ID
    return first == header.FM, f"FM is {header.FM}; ID is {header.ID}, and {before.ID} in the previous message"


def check_lm_marks_last_message(header: Any, before: Any) -> Finding:
    """Check that LM of the previous message is set if and only if this message belongs to a different transaction."""
    last = header.ID != before.ID
    return (
        last == before.LM,
        f"LM of the previous message is {before.LM}; ID is {header.ID}, and {before.ID} in the previous message",
    )


def check_transaction_keeps_id(header: Any, before: Any) -> Finding:
    """Check that the ID equals the ID of the previous message, if LM of the previous message and FM of this message
    are clear.
    """
    if before.LM or header.FM:
        return None
    return header.ID == before.ID, f"ID is {header.ID}, and {before.ID} in the previous message of the same transaction"


def check_transaction_has_new_id(header: Any, before: Any) -> Finding:
    """Check that the ID differs from the ID of the previous message, if LM of the previous message and FM of this
    message are set.
    """
    if not before.LM or not header.FM:
        return None
    return header.ID != before.ID, f"ID is {header.ID}, and {before.ID} in the last message of the previous transaction"
