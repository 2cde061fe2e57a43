"""Let the peer send signed and encrypted messages. Spec: MS-MQQB 3.1.5.8.3, MS-MQSO 7.4."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.state import LOCKED_MESSAGE_STATE, Message
from harness.model.steps import ImpossibleStep, transition
from harness.model.transfer.receiving import ReceiveTransitions
from harness.model.transfer.sessions import NAME_OF_NONTRANSACTIONAL_QUEUE, TRANSACTIONAL_QUEUE_NAME

SIGNATURE_OF_MSMQ_1, SIGNATURE_OF_MSMQ_2 = "MSMQ 1.0", "MSMQ 2.0"
"""The kinds of signatures."""
ENHANCED_PRIVACY_LEVEL, INVALID_PRIVACY_LEVEL = 3, 2
"""A PrivacyLevel for which each system has a key, and a PrivacyLevel that no system accepts (MS-MQMQ 2.2.19.3)."""
BAD_SIGNATURE_ACK_CLASS, BAD_ENCRYPTION_ACK_CLASS = "NACK_BAD_SIGNATURE", "NACK_BAD_ENCRYPTION"
_POSITIVE_ACKS = ("positive_arrival", "positive_receive")
_ACK_REQUESTS = ("negative_arrival", "negative_receive", *_POSITIVE_ACKS)
_JOURNAL_REQUESTS: tuple[list[str], ...] = ([], ["positive"], ["negative"], ["negative", "positive"])


class SecuredDeliveryTransitions(ReceiveTransitions):
    """The transitions in which the peer sends signed and encrypted messages."""

    @transition(
        "MQQB-3.1.5.8.3-15",
        "MQQB-3.1.5.8.3-18",
        "MQQB-3.1.5.8.3-48",
        "MQQB-3.1.5.8.3-51",
        "MQMQ-2.2.19.3-21",
        "MQMQ-2.5.2-12",
        "MQSO-7.4.1.4.1-D01",
        "MQSO-7.4.1.4.2-03",
        needs=("receive", "queue_control", "security", "configure"),
        weight=5,
        level=0,
        altered=False,
        acks=[],
        journal=[],
        size=0,
    )
    def deliver_secured(
        self,
        session: str,
        message: str,
        place: list[int],
        kind: str | None,
        altered: bool,
        level: int,
        acks: list[str],
        journal: list[str],
        size: int,
    ) -> None:
        """Let the peer send a message of a registered user. ``place``: the numbers of a transactional message; empty
        for an express message. ``kind``: the kind of its signature, if any. ``altered``: whether the signature is
        wrong. ``level``: the PrivacyLevel of an encrypted message, or 0.
        """
        through = self.find_open_session(session)
        if (altered and level == INVALID_PRIVACY_LEVEL) or (altered and kind is None):
            raise ImpossibleStep  # open: which of two reasons is given
        if size and level and not set(acks) <= {*_POSITIVE_ACKS}:
            raise ImpossibleStep  # open: which bytes of an encrypted body a negative acknowledgment contains
        queue = self.queues[TRANSACTIONAL_QUEUE_NAME if place else NAME_OF_NONTRANSACTIONAL_QUEUE]
        priority, delivery = (0, "transactional") if place else (3, "express")
        sent = Message(message, queue.name, priority, delivery, size, tuple(acks), journal=tuple(journal))
        if not self.has_room(queue.positions, sent, queue.quota_kb):
            raise ImpossibleStep
        refusal = self._find_refusal_class(kind, altered, level)
        if place:
            self.places[message] = dict(zip(("number", "previous"), place[1:], strict=True))
            self.find_sequence_of_message(session)
        self.count_received_message(through, sent, refused=refusal is not None)
        if refusal is None and place:
            self.accept_if_next_in_sequence(queue, sent, *place)
        elif refusal is None:
            self.handle_arrival(self.insert_message(queue, sent, LOCKED_MESSAGE_STATE))
        elif place:
            self.refuse_in_sequence(sent, refusal, *place[:2], advances=self.choose_reading("E40", 3) == 1)
        elif "negative_arrival" in acks:
            self.acknowledge(sent, refusal)
        self.settle()

    def _find_refusal_class(self, kind: str | None, altered: bool, level: int) -> str | None:
        """Return the class of the acknowledgment for a message that the system refuses."""
        if level == INVALID_PRIVACY_LEVEL:
            return (BAD_ENCRYPTION_ACK_CLASS, BAD_SIGNATURE_ACK_CLASS)[self.choose_reading("E49")]
        if kind is None:
            return None
        return BAD_SIGNATURE_ACK_CLASS if altered or self.choose_reading(f"E81: {kind} signatures") else None

    def draw_deliver_secured(self, chance: Random) -> dict[str, Any]:
        transactional = chance.random() < 0.5 and not self.sequences.uses_private_format_name
        self.require_room_in_queue(TRANSACTIONAL_QUEUE_NAME if transactional else NAME_OF_NONTRANSACTIONAL_QUEUE)
        last = self.sequences.current_progress
        kind = chance.choice((None, SIGNATURE_OF_MSMQ_1, SIGNATURE_OF_MSMQ_2, SIGNATURE_OF_MSMQ_2))
        level = chance.choice((0, 0, 0, ENHANCED_PRIVACY_LEVEL, ENHANCED_PRIVACY_LEVEL, INVALID_PRIVACY_LEVEL))
        size = chance.choice((0, 1, 40))
        return {
            "session": self.draw_session(chance),
            "message": f"m{self.steps}",
            "place": [max(last.sequence, 1), last.number + 1, last.number] if transactional else [],
            "kind": kind,
            "altered": kind is not None and level != INVALID_PRIVACY_LEVEL and chance.random() < 0.4,
            "level": level,
            "acks": sorted(
                one for one in (_POSITIVE_ACKS if size and level else _ACK_REQUESTS) if chance.random() < 0.5
            ),
            "journal": chance.choice(_JOURNAL_REQUESTS),
            "size": size,
        }
