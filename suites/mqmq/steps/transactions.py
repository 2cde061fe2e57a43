"""Predicates on the messages of transactions, by the message before in their sequence. Spec: MS-MQMQ 2.2.20.5."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.capture.recorder import Connection, Frame
from harness.judging.passive import Context, Finding, Predicate, Recent, Summary, record_of
from reference_qm.codec import TxSequenceID

JudgePair = Callable[[Any, Any], Finding]
"""A predicate on a TransactionHeader, and on the one before it in its sequence."""


class Places(Summary):
    """The TransactionHeaders that the SUT has sent on a connection, by their places in sequences."""

    def __init__(self) -> None:
        self.headers = Recent[tuple[TxSequenceID, int], Any]()

    def note(self, frame: Frame, connection: Connection) -> None:
        """Note a transactional message."""
        packet = record_of(frame) if frame.from_sut and frame.kind == "UserMessage" else None
        if packet is not None and packet.TransactionHeader is not None:
            header = packet.TransactionHeader
            self.headers.keep((header.TxSequenceID, header.TxSequenceNumber), header)


def after_another(judge: JudgePair) -> Predicate:
    """Show a predicate each new transactional message whose predecessor in the sequence was seen."""

    def predicate(packet: Any, context: Context) -> Finding:
        header = packet.TransactionHeader
        if header is None:
            return None
        known = context.before(Places).headers
        place = header.TxSequenceID, header.TxSequenceNumber
        before = known.get((header.TxSequenceID, header.TxSequenceNumber - 1))
        return None if before is None or place in known else judge(header, before)

    return predicate


def begins_its_transaction(header: Any, before: Any) -> Finding:
    """Demand FM if and only if the message before is of another transaction."""
    first = header.ID != before.ID
    return first == header.FM, f"FM is {header.FM}, ID is {header.ID} after {before.ID}"


def ended_its_transaction(header: Any, before: Any) -> Finding:
    """Demand LM of the message before if and only if this one is of another transaction."""
    last = header.ID != before.ID
    return last == before.LM, f"LM of the message before is {before.LM}, ID is {header.ID} after {before.ID}"


def keeps_its_transaction(header: Any, before: Any) -> Finding:
    """Demand the ID of the message before, where neither ended nor began a transaction."""
    if before.LM or header.FM:
        return None
    return header.ID == before.ID, f"ID is {header.ID} after {before.ID} in one transaction"


def has_its_own_transaction(header: Any, before: Any) -> Finding:
    """Demand another ID than that of the message before, where that ended and this one began a transaction."""
    if not before.LM or not header.FM:
        return None
    return header.ID != before.ID, f"ID is {header.ID} after {before.ID} in another transaction"
