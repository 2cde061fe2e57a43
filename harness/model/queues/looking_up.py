"""Let applications read messages by their LookupIdentifiers. Spec: MS-MQDMPR 3.1.7.1.13, 3.1.7.3.3."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.reading import (
    MESSAGE_NOT_FOUND_STATUS,
    PEEK_READ_KIND,
    RECEIVE_READ_KIND,
    SHARING_VIOLATION_STATUS,
    TRANSACTION_USAGE_STATUS,
    ReadTransitions,
)
from harness.model.queues.state import AVAILABLE_MESSAGE_STATE, MessagePosition, Queue
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

RULES_BY_SEEK_DIRECTION = {
    "first": ("MQDMPR-3.1.7.3.3-10", "MQDMPR-3.1.7.3.3-15"),
    "previous": ("MQDMPR-3.1.7.3.3-17", "MQDMPR-3.1.7.3.3-22"),
    "next": ("MQDMPR-3.1.7.3.3-41", "MQDMPR-3.1.7.3.3-46"),
    "last": ("MQDMPR-3.1.7.3.3-48", "MQDMPR-3.1.7.3.3-53"),
}


class LookupTransitions(ReadTransitions):
    """The transitions in which applications read by LookupIdentifier."""

    @transition(
        "MQDMPR-3.1.7.1.13-11",
        "MQDMPR-3.1.7.1.13-16",
        "MQDMPR-3.1.7.3.3-03",
        "MQDMPR-3.1.7.3.3-04",
        "MQDMPR-3.1.7.3.3-08",
        needs=("receive",),
        weight=5,
        receives=False,
        seek="current",
        transaction=None,
    )
    def look_up(self, read: str, queue: str, message: str, seek: str, receives: bool, transaction: str | None) -> None:
        """Let an application read a message by its LookupIdentifier (MS-MQDMPR 3.1.7.3.3)."""
        there = self.find_queue_or_journal(queue)
        position = self.find_position(there, message)
        if position is None or not position.was_ever_visible or (transaction is not None and not receives):
            raise ImpossibleStep
        if not self.may_read_in_transaction(read, there, transaction):
            return
        if not self.is_shared(there, RECEIVE_READ_KIND if receives else PEEK_READ_KIND, False):
            self.answer_with_refusal(SHARING_VIOLATION_STATUS, name=read)
            return
        found = self.seek(there, position, seek)
        if found is not None:
            self.cite_rules("MQDMPR-3.1.7.1.13-38")
            if receives:
                self.answer_receive_with_message(read, found, self.get_open_transaction(transaction))
            else:
                self.answer_read(found, read)
        elif seek == "current":
            self.cite_rules("MQDMPR-3.1.7.1.13-18")
            self.answer_with_refusal(
                *(() if receives else (TRANSACTION_USAGE_STATUS, MESSAGE_NOT_FOUND_STATUS)), name=read
            )
        else:
            self.answer_with_refusal(MESSAGE_NOT_FOUND_STATUS, name=read)

    def find_queue_or_journal(self, name: str) -> Queue:
        """Return a queue or, for a name that ends with ``;journal``, the journal of a queue."""
        queue, _, part = name.partition(";")
        if part != "journal":
            return self.find_queue_to_read(name)
        self.cite_rules("MQDMPR-3.1.7.1.13-09")
        journal = self.find_queue_to_read(queue).journal
        assert journal is not None
        return journal

    def seek(self, queue: Queue, position: MessagePosition, seek: str) -> MessagePosition | None:
        there = queue.list_available_positions()
        if seek == "current":
            self.cite_rules("MQDMPR-3.1.7.3.3-24", "MQDMPR-3.1.7.3.3-29", "MQDMPR-3.1.7.3.3-35", "MQDMPR-3.1.7.3.3-39")
            return position if position.state == AVAILABLE_MESSAGE_STATE else None
        self.cite_rules(*RULES_BY_SEEK_DIRECTION[seek])
        if seek == "first":
            return next(iter(there), None)
        if seek == "last":
            return next(reversed(there), None)
        if seek == "next":
            return next((one for one in there if one.sort_key > position.sort_key), None)
        return next((one for one in reversed(there) if one.sort_key < position.sort_key), None)

    def draw_look_up(self, chance: Random) -> dict[str, Any]:
        journals = [one.journal for one in self.queues.values() if one.journal is not None and one.journal.positions]
        in_journal = bool(journals) and chance.random() < 0.25
        queue = draw_one_value_or_refuse_step(chance, journals if in_journal else self.queues.values())
        seen = [one for one in queue.positions if one.was_ever_visible]
        held = [one for one in seen if one.state != AVAILABLE_MESSAGE_STATE]
        message = draw_one_value_or_refuse_step(chance, held if held and chance.random() < 0.5 else seen).message.name
        receives = chance.random() < 0.4 and queue not in journals
        transaction = self.draw_transaction(chance, queue.transactional) if receives else None
        return {
            "read": f"r{self.steps}",
            "queue": queue.name,
            "message": message,
            "seek": chance.choice(("first", "previous", "current", "current", "next", "last")),
            "receives": receives,
            "transaction": transaction,
        }
