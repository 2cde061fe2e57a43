"""Let the peer send messages to the system. Spec: MS-MQQB 3.1.5.8."""

from __future__ import annotations

from base64 import b64encode
from random import Random
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds
from harness.model.queues.sending import ACKNOWLEDGMENT_REQUESTS
from harness.model.queues.state import INFINITE_LIFETIME_S, LOCKED_MESSAGE_STATE, Message, MessagePosition, Queue
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.transfer.sessions import (
    MESSAGE_LIFETIME_LONGER_THAN_WALK_S,
    NAME_OF_NONTRANSACTIONAL_QUEUE,
    TRANSACTIONAL_QUEUE_NAME,
    Session,
    TransferSessions,
)
from harness.model.unused_fields import (
    RULE_BY_UNUSED_BASE_HEADER_FIELD,
    RULE_BY_UNUSED_TRANSACTION_HEADER_FIELD,
    RULE_BY_UNUSED_USER_MESSAGE_FIELD,
    draw_unused_fields,
    list_rules_about_unused_fields,
)

MISSING_QUEUE_NAME = "nowhere"
"""The name of a queue that the system does not have."""
BODY_SIZES_TO_DRAW_FROM = (*(0,) * 14, *(1,) * 4, *(5_000,) * 4, 66_000, 66_000)
MAX_RECEIVED_MESSAGES = 8
SESSION_ACK_RULES = (
    *("MQQB-3.1.5.8.7-13", "MQQB-3.1.5.8.7-14", "MQQB-3.1.5.8.7-15", "MQQB-3.1.6.4-02", "MQQB-3.1.6.4-03"),
    *("MQQB-3.1.6.4-04", "MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07", "MQQB-3.1.6.4-08", "MQQB-3.1.6.4-09", "MQQB-3.1.6.4-10"),
)
MAX_MESSAGES_NAMED_BY_ACK = 32
"""The maximum number of recoverable messages that one acknowledgment can name (MS-MQMQ 2.2.20.4)."""


class ReceiveTransitions(TransferSessions):
    """The transitions in which the peer sends messages."""

    # -- without a transaction --------------------------------------------------------------------------------------

    @transition(
        "MQQB-3.1.5.8.2-02",
        "MQQB-3.1.5.8.2-03",
        "MQQB-3.1.5.8.8-04",
        "MQQB-3.1.5.8.8-05",
        needs=("receive", "queue_control"),
        weight=10,
        delivery="express",
        priority=3,
        size=0,
        acks=[],
        application_tag=0,
        late=False,
        journal=[],
        details={},
        unused=[],
    )
    def deliver(
        self,
        session: str,
        message: str,
        queue: str,
        delivery: str,
        priority: int,
        size: int,
        acks: list[str],
        application_tag: int,
        late: bool,
        journal: list[str],
        details: dict[str, Any],
        unused: list[str],
    ) -> None:
        """Let the peer send a nontransactional message. ``late``: whether the message arrives after the end of its time
        to reach the queue. ``unused``: the unused bits that the peer sets in the packet.
        """
        through = self.find_open_session(session)
        self.cite_rules(*list_rules_about_unused_fields(unused))
        sent = Message(
            message,
            queue,
            priority,
            delivery,
            size,
            tuple(acks),
            application_tag,
            journal=tuple(journal),
            other_properties=tuple(details.items()),
        )
        self.nontransactional_messages_from_peer[message] = sent
        target = self.queues.get(queue)
        misplaced = target is None or target.transactional or late
        over_quota = target is not None and not misplaced and not self.has_room(target.positions, sent, target.quota_kb)
        self.count_received_message(through, sent, refused=misplaced, over_quota=over_quota)
        if target is None:
            self.cite_rules("MQQB-3.1.5.8.2-15", "MQQB-3.1.5.8.2-23")
        elif target.transactional:
            self.cite_rules("MQQB-3.1.5.8.2-33", "MQQB-3.1.5.8.2-34", "MQQB-3.1.5.8.2-37")
            if "negative_arrival" in acks:
                self.acknowledge(sent, "NACK_NOT_TRANSACTIONAL_MSG")
        elif late:
            self.cite_rules("MQQB-3.1.5.8-07", "MQQB-3.1.7.1.2-D01")
            if "negative_arrival" in acks and self.choose_reading("E34") == 0:
                self.acknowledge(sent, "NACK_REACH_QUEUE_TIMEOUT")
        elif over_quota:
            self.cite_rules("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-07", "MQMQ-2.2.19.3-03")
            del self.nontransactional_messages_from_peer[
                message
            ]  # the documents leave open whether a copy is a duplicate
            if "negative_arrival" in acks:
                self.acknowledge(sent, "NACK_Q_EXCEED_QUOTA")
        else:
            self.handle_arrival(self.insert_message(target, sent, LOCKED_MESSAGE_STATE))
        self.settle()

    def draw_deliver(self, chance: Random) -> dict[str, Any]:
        queue = chance.choice((NAME_OF_NONTRANSACTIONAL_QUEUE,) * 8 + (TRANSACTIONAL_QUEUE_NAME, MISSING_QUEUE_NAME))
        self.require_room_in_queue(queue)
        late = queue == NAME_OF_NONTRANSACTIONAL_QUEUE and chance.random() < 0.15
        return {
            "session": self.draw_session(chance),
            "message": f"m{self.steps}",
            "queue": queue,
            "delivery": chance.choice(("express", "recoverable", "recoverable")),
            "priority": chance.choice((3, 3, 0, 7, chance.randrange(8))),
            **self.draw_body_size_and_acks(chance, queue),
            "application_tag": chance.choice((0, 1, 0xFFFFFFFF)),
            "late": late,
            "journal": chance.choice(([], [], ["positive"], ["negative"], ["negative"])),
            "details": self.draw_stored_properties(chance)
            | ({"time_to_reach_queue_s": 0} if late and chance.random() < 0.5 else {}),
            "unused": draw_unused_fields(chance, RULE_BY_UNUSED_BASE_HEADER_FIELD, RULE_BY_UNUSED_USER_MESSAGE_FIELD),
        }

    def draw_stored_properties(self, chance: Random) -> dict[str, Any]:
        """Choose at random the values of those message properties that the system only stores and shows."""
        extension = bytes(chance.getrandbits(8) * chance.randrange(2) for _ in range(chance.choice((0, 1, 9, 300))))
        drawn: dict[str, Any] = {
            "correlation_id": bytes(chance.getrandbits(8) for _ in range(20)).hex(),
            "body_type": chance.choice((0, 8, 0x1011)),
            "extension_base64": b64encode(extension).decode(),
            "time_to_be_received_s": chance.choice((INFINITE_LIFETIME_S, MESSAGE_LIFETIME_LONGER_THAN_WALK_S)),
        }
        return {name: value for name, value in drawn.items() if chance.random() < 0.5}

    def draw_body_size_and_acks(self, chance: Random, queue: str) -> dict[str, Any]:
        """Choose at random the size of a body and the requested acknowledgments. While a large body is in the queue,
        half of the chosen sizes exceed the quota.
        """
        there = self.queues[queue].positions if queue in self.queues else []
        if any(one.message.size == BODY_SIZES_TO_DRAW_FROM[-1] for one in there) and chance.random() < 0.5:
            return {
                "size": BODY_SIZES_TO_DRAW_FROM[-1],
                "acks": chance.choice((["negative_arrival"], ["negative_arrival"], [])),
            }
        return {"size": chance.choice(BODY_SIZES_TO_DRAW_FROM), "acks": self.draw_ack_requests(chance, queue)}

    def draw_ack_requests(self, chance: Random, queue: str) -> list[str]:
        """Choose at random the acknowledgments that a message requests. Messages to the missing queue request no
        acknowledgment, because a setting decides whether the system sends BAD_DST_Q.
        """
        if queue == MISSING_QUEUE_NAME or chance.random() < 0.6:
            return []
        return sorted(chance.sample(ACKNOWLEDGMENT_REQUESTS, chance.randint(1, 4)))

    def require_room_in_queue(self, queue: str) -> None:
        if queue in self.queues and len(self.queues[queue].positions) >= MAX_RECEIVED_MESSAGES:
            raise ImpossibleStep

    @transition(
        "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04", "MQQB-3.1.5.8.2-02", needs=("receive", "queue_control"), weight=4
    )
    def repeat(self, session: str, message: str) -> None:
        """Let the peer send a message again, on any session. The system discards the message, but counts it on this
        session.
        """
        through = self.find_open_session(session)
        self.count_received_message(through, self.find(self.nontransactional_messages_from_peer, message))
        self.settle()

    def draw_repeat(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_session(chance),
            "message": draw_one_value_or_refuse_step(chance, sorted(self.nontransactional_messages_from_peer)),
        }

    def count_received_message(
        self, session: Session, message: Message, *, refused: bool = False, over_quota: bool = False
    ) -> None:
        """Count a message on the session on which it arrived. A recoverable message is also acknowledged (3.1.5.8.2,
        3.1.5.8.7), unless the system does not count refused messages (erratum E19). ``over_quota``: whether the system
        refuses the message because of a quota, which it checks after it has counted the message.
        """
        session.received += 1
        if message.recoverable and not self._is_refused_message_uncounted(refused, over_quota):
            self.cite_rules(*SESSION_ACK_RULES)
            session.recoverable += 1
            session.acknowledged = session.received
        else:
            self.cite_rules("MQQB-3.1.5.8.7-01")

    def _is_refused_message_uncounted(self, refused: bool, over_quota: bool) -> bool:
        """Return whether the system does not count a refused recoverable message."""
        if not (refused or over_quota) or not self.choose_reading("E19"):
            return False
        return refused or self.choose_reading("E19 for messages over a quota") == 0

    @transition(
        "MQQB-3.1.5.8.7-02",
        "MQQB-3.1.5.8.7-05",
        "MQQB-3.1.5.8.7-09",
        "MQQB-3.1.5.8.7-11",
        needs=("queue_control",),
        weight=1,
    )
    def burst(self, session: str, number: int) -> None:
        """Let the peer send, to a missing queue, more recoverable messages than one acknowledgment can name."""
        through = self.find_open_session(session)
        through.received += number
        at_once = through.acknowledged
        if not self.choose_reading("E19"):
            at_once = through.received - number + MAX_MESSAGES_NAMED_BY_ACK
            through.recoverable += number
            through.acknowledged = through.received
        self.answers["answer"] = {"at once": ExpectedNumberBetweenBounds(at_once, through.received)}
        self.settle()

    def draw_burst(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_session(chance),
            "number": chance.randint(MAX_MESSAGES_NAMED_BY_ACK + 1, MAX_MESSAGES_NAMED_BY_ACK + 8),
        }

    # -- transactional ------------------------------------------------------------------------------------------------

    @transition(
        "MQQB-3.1.5.8.6-D02",
        "MQQB-3.1.5.8.6-D03",
        "MQQB-3.1.5.8.6-D04",
        "MQQB-3.1.5.8.6-09",
        "MQQB-3.1.6.9-01",
        needs=("receive", "queue_control"),
        weight=12,
        acks=[],
        size=0,
        journal=[],
        details={},
        unused=[],
        final=False,
    )
    def deliver_in_sequence(
        self,
        session: str,
        message: str,
        queue: str,
        sequence: int,
        number: int,
        previous: int,
        size: int,
        acks: list[str],
        journal: list[str],
        details: dict[str, Any],
        unused: list[str],
        final: bool,
        by_private_names: bool = False,
    ) -> None:
        """Let the peer send a transactional message with a given number in a sequence. ``unused``: the unused bits that
        the peer sets in the packet. ``final``: whether the message requests a FinalAck by its bit FA.
        """
        through = self.find_open_session(session)
        if by_private_names and (acks or queue != TRANSACTIONAL_QUEUE_NAME):
            raise ImpossibleStep
        self.cite_rules(*list_rules_about_unused_fields(unused))
        if any(one.startswith("transaction.") for one in unused) and self.choose_reading("E31"):
            self.close_sessions(session)
            self.settle()
            return
        sent = Message(
            message,
            queue,
            0,
            "transactional",
            size,
            tuple(acks),
            journal=tuple(journal),
            other_properties=tuple(details.items()),
        )
        self.places[message] = {"number": number, "previous": previous}
        if final:
            self.messages_requesting_final_ack.add(message)
        if queue == TRANSACTIONAL_QUEUE_NAME:
            self.find_sequence_of_message(session, by_private_names)
        target = self.queues.get(queue)
        if target is None or not target.transactional:
            self.count_received_message(through, sent, refused=True)
        if target is None:
            self.cite_rules("MQQB-3.1.5.8.2-20")
            self.acknowledge_final(message, "NACK_BAD_DST_Q")
        elif not target.transactional:
            self.cite_rules("MQQB-3.1.5.8.2-25", "MQQB-3.1.5.8.2-26", "MQQB-3.1.5.8.2-29", "MQQB-3.1.5.8.2-32")
            self.sequences.may_have_order_acks_of_other_sequences |= self.choose_reading("E40", 3) == 1
            if "negative_arrival" in acks:
                self.acknowledge(sent, "NACK_NOT_TRANSACTIONAL_Q")
            self.acknowledge_final(message, "NACK_NOT_TRANSACTIONAL_Q")
        else:
            over_quota = not self.accept_if_next_in_sequence(target, sent, sequence, number, previous)
            self.count_received_message(through, sent, over_quota=over_quota)
            if self.sequences.current_progress.number:
                self.cite_rules("MQQB-3.1.5.8.6-01", "MQQB-3.1.1.6.2-03", "MQQB-3.1.6.9-01")
                self.answers["order ack"] = self.sequences.current_progress.describe()
        self.settle()

    def find_sequence_of_message(self, session: str, by_private_names: bool = False) -> None:
        """Find the sequence of a message to the transactional queue. Raise ImpossibleStep if earlier messages named
        this queue in another way: the documents leave open whether both names share a sequence.
        """
        if self.sequences.uses_private_format_name not in (None, by_private_names):
            raise ImpossibleStep
        if self.sequences.has_other_session(session) and self.choose_reading("E41", 3) == 1:
            self.sequences.change_session(session)
        self.sequences.session_of_last_message = session
        self.sequences.uses_private_format_name = by_private_names

    def accept_if_next_in_sequence(
        self, queue: Queue, message: Message, sequence: int, number: int, previous: int
    ) -> bool:
        """Accept a message that is the next message in its sequence (MS-MQQB 3.1.5.8.6). Return False if its queue has
        no room for the message.
        """
        place = self.sequences.current_progress
        follows = sequence == place.sequence and previous <= place.sequence_number_for_comparison < number
        begins = sequence > place.sequence and previous == 0
        if not (follows or begins):
            self.cite_rules("MQQB-3.1.5.8.6-05", "MQQB-3.1.5.8.6-06")
            place.record_rejected_message()
        elif self.has_room(queue.positions, message, queue.quota_kb):
            is_first = place.number == 0
            place.record_accepted_message(sequence, number)
            if is_first and self.choose_reading("E75"):
                place.sequence_number_for_comparison -= 1
            self.cite_rules("MQQB-3.1.5.8.6-07", "MQQB-3.1.5.8.8-17", "MQQB-3.1.5.8.8-18", "MQQB-3.1.5.8.8-24")
            self.cite_rules("MQQB-3.1.7.17-D03", "MQQB-3.1.7.17-D04")
            self.handle_arrival(self.insert_message(queue, message, LOCKED_MESSAGE_STATE))
        else:
            self.cite_rules("MQQB-3.1.5.8.8-06", "MQQB-3.1.5.8.8-07", "MQQB-3.1.5.8.8-11", "MQDMPR-3.1.1.12-40")
            self.refuse_in_sequence(
                message, "NACK_Q_EXCEED_QUOTA", sequence, number, advances=self.choose_reading("E40", 3) < 2
            )
            return False
        return True

    def refuse_in_sequence(self, message: Message, cls: str, sequence: int, number: int, *, advances: bool) -> None:
        """Refuse a transactional message for a reason that is not its number in the sequence. ``advances``: whether the
        system then expects the message after the refused message.
        """
        if advances:
            self.sequences.current_progress.record_accepted_message(sequence, number)
        else:
            self.sequences.current_progress.rejected_message_count = None
        if "negative_arrival" in message.requested_acknowledgments:
            self.acknowledge(message, cls)
        self.acknowledge_final(message.name, cls)

    def draw_deliver_in_sequence(self, chance: Random) -> dict[str, Any]:
        queue = chance.choice((TRANSACTIONAL_QUEUE_NAME,) * 8 + (NAME_OF_NONTRANSACTIONAL_QUEUE, MISSING_QUEUE_NAME))
        self.require_room_in_queue(queue)
        sequence, number, previous = self._draw_place_in_sequence(chance)
        if queue == TRANSACTIONAL_QUEUE_NAME and self.sequences.uses_private_format_name:
            raise ImpossibleStep
        return {
            "session": self.draw_session(chance),
            "message": f"m{self.steps}",
            "queue": queue,
            "sequence": sequence,
            "number": number,
            "previous": previous,
            **self.draw_body_size_and_acks(chance, queue),
            "journal": chance.choice(([], [], ["positive"], ["negative"], ["negative", "positive"])),
            "details": self.draw_stored_properties(chance),
            "unused": draw_unused_fields(
                chance,
                RULE_BY_UNUSED_BASE_HEADER_FIELD,
                RULE_BY_UNUSED_USER_MESSAGE_FIELD,
                RULE_BY_UNUSED_TRANSACTION_HEADER_FIELD,
            ),
            "final": chance.random() < 0.5,
        }

    @transition(
        "MQQB-2.2.4-04",
        "MQQB-2.2.5-05",
        needs=("receive", "queue_control", "private_names"),
        weight=3,
        size=0,
        journal=[],
        details={},
        unused=[],
        final=False,
    )
    def deliver_by_private_names(self, **message: Any) -> None:
        """Let the peer send a transactional message in which private format names identify the destination and the
        administration queue.
        """
        self.deliver_in_sequence(**message, by_private_names=True)

    def draw_deliver_by_private_names(self, chance: Random) -> dict[str, Any]:
        if self.sequences.uses_private_format_name is False:
            raise ImpossibleStep
        known, self.sequences.uses_private_format_name = self.sequences.uses_private_format_name, None
        try:
            drawn = self.draw_deliver_in_sequence(chance)
        finally:
            self.sequences.uses_private_format_name = known
        return drawn | {"queue": TRANSACTIONAL_QUEUE_NAME, "acks": []}

    def _draw_place_in_sequence(self, chance: Random) -> tuple[int, int, int]:
        """Choose at random the number of a message in a sequence. In most cases, this is the next number; otherwise, it
        is a number after a gap, an earlier number, or a number in a new sequence.
        """
        place, how = self.sequences.current_progress, chance.random()
        current, number = max(place.sequence, 1), place.number
        if how < 0.55:
            return current, number + 1, number
        if how < 0.65:
            return current, number + 2, number + 1
        if how < 0.75:
            return current, max(number - chance.randrange(3), 1), max(number - 1, 0)
        if how < 0.82:
            return current, number + chance.randint(2, 5), chance.randint(0, number)
        if how < 0.92:
            return current + 1, 1, 0
        if how < 0.96:
            return current + 1, 2, 1
        return max(current - 1, 1), number + 1, chance.choice((0, number))

    # -- messages that leave their queue ------------------------------------------------------------------------------

    def delete_position(self, position: MessagePosition, reason: str) -> None:
        message = position.message
        super().delete_position(position, reason)
        if self._is_final_ack_sent(message):
            self.acknowledge_final(message.name, reason)

    def _is_final_ack_sent(self, message: Message) -> bool:
        """Return whether the system sends a FinalAck when a message leaves its queue. A system may also send a FinalAck
        of a nontransactional message that requests journaling (erratum E47).
        """
        if message.delivery == "transactional":
            return bool(message.journal) or message.name in self.messages_requesting_final_ack
        if not message.journal or not self.choose_reading("E47"):
            return False
        return message.name not in self.messages_present_at_restart or self.choose_reading("E47 after a restart") == 0
