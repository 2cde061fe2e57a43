"""Let applications send and move messages. Spec: MS-MQDMPR 3.1.7.1.9, 3.1.7.1.16, MS-MQQB 3.1.5.8.10."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.queues.base import QueuesBase
from harness.model.queues.state import (
    AVAILABLE_MESSAGE_STATE,
    DELETED_MESSAGE_STATE,
    INFINITE_LIFETIME_S,
    LOCKED_MESSAGE_STATE,
    Message,
    MessagePosition,
    Queue,
    TransactionOperation,
)
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

ACKNOWLEDGMENT_REQUESTS = ("positive_arrival", "positive_receive", "negative_arrival", "negative_receive")
BODY_SIZES_TO_DRAW_FROM = (*(0,) * 30, *(3_000,) * 10, 66_000)
BODY_TYPES_TO_DRAW_FROM = (0, 0, 8, 0x1011)
MESSAGE_LIFETIMES_TO_DRAW_FROM_S = (INFINITE_LIFETIME_S, INFINITE_LIFETIME_S, INFINITE_LIFETIME_S, 10, 60)
MAX_MESSAGES_PER_QUEUE = 7
"""The number of messages in a queue at which applications stop sending to it."""


class SendTransitions(QueuesBase):
    """The transitions in which applications send."""

    @transition(
        "MQDMPR-3.1.7.1.9-09",
        "MQDMPR-3.1.7.1.9-14",
        "MQDMPR-3.1.1.2-20",
        needs=("send", "receive"),
        weight=14,
        priority=3,
        delivery="express",
        size=0,
        acks=[],
        journal=[],
        application_tag=0,
        body_type=0,
        life_s=INFINITE_LIFETIME_S,
        transaction=None,
    )
    def send(
        self,
        message: str,
        queue: str,
        priority: int,
        delivery: str,
        size: int,
        acks: list[str],
        journal: list[str],
        application_tag: int,
        body_type: int,
        life_s: int,
        transaction: str | None,
    ) -> None:
        target = self.queues.get(queue)
        within = None if transaction is None else self.find(self.transactions, transaction)
        if target is not None and target.parent is not None:
            raise ImpossibleStep
        if target is None:
            raise ImpossibleStep  # the documents leave open whether it waits in an outgoing queue or is refused
        transactional = within is not None or delivery == "transactional"
        if within is not None and within.state != "active":
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_SEQUENCE")
            return
        if target.transactional is not transactional:
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_USAGE")
            return
        sent = Message(
            message,
            queue,
            0 if transactional else priority,
            "transactional" if transactional else delivery,
            size,
            tuple(acks),
            application_tag,
            life_s,
            journal=tuple(journal),
            other_properties=(("body_type", body_type), ("extension_base64", ""), ("correlation_id", "00" * 20)),
        )
        self.check_message_may_wait_in_queue(target, sent)
        held = [position for one in (target, *target.subqueues) for position in one.positions]
        if not self.has_room(held, sent, target.quota_kb):
            self.cite_rules("MQDMPR-3.1.7.1.9-07")
            self.answer_with_refusal()
            return
        position = self.insert_message(target, sent, LOCKED_MESSAGE_STATE)
        position.expires_ms = None if life_s == INFINITE_LIFETIME_S else self.now_ms + 1_000 * life_s
        self.answer_with_success()
        if within is None:
            self.cite_rules("MQDMPR-3.1.7.1.9-23")
            self.handle_arrival(position)
        else:
            self.cite_rules("MQDMPR-3.1.7.1.9-17", "MQDMPR-3.1.7.1.9-18", "MQDMPR-3.1.7.1.9-21")
            within.operations.append(TransactionOperation("enqueue", position))

    def check_message_may_wait_in_queue(self, queue: Queue, message: Message) -> None:
        """Raise ImpossibleStep if a message with a time limit would have to wait in a transactional queue."""
        if queue.transactional and message.time_to_be_received_s != INFINITE_LIFETIME_S:
            raise ImpossibleStep  # E108: the documents leave open which transaction deletes it

    def handle_arrival(self, position: MessagePosition) -> None:
        """Make a message in its queue available, and acknowledge its arrival (MS-MQQB 3.1.5.8.10)."""
        self.make_available(position)
        if "positive_arrival" in position.message.requested_acknowledgments:
            self.cite_rules("MQQB-3.1.5.8.10-02", "MQQB-3.1.5.8.10-01")
            self.acknowledge(position.message, "ACK_REACH_QUEUE")

    def draw_send(self, chance: Random) -> dict[str, Any]:
        there = [
            one for one in self.queues.values() if one.parent is None and len(one.positions) < MAX_MESSAGES_PER_QUEUE
        ]
        awaited = [one for one in there if any(handle.readers for handle in one.handles)]
        queue = draw_one_value_or_refuse_step(chance, awaited if awaited and chance.random() < 0.4 else there)
        transaction = None
        if self.transactions and chance.random() < (0.6 if queue.transactional else 0.05):
            transaction = chance.choice(sorted(self.transactions))
        plain = "express" if chance.random() < 0.5 else "recoverable"
        fits = chance.random() < 0.95
        return {
            "message": f"m{self.steps}",
            "queue": queue.name,
            "priority": chance.choice((0, 3, 3, 3, 7, chance.randrange(8))),
            "delivery": "transactional" if queue.transactional is fits else plain,
            "size": chance.choice(BODY_SIZES_TO_DRAW_FROM),
            "acks": sorted(chance.sample(ACKNOWLEDGMENT_REQUESTS, chance.randint(1, 4)))
            if chance.random() < 0.4
            else [],
            "journal": chance.choice(([], [], [], ["positive"], ["negative"], ["negative", "positive"])),
            "application_tag": chance.choice((0, 0, 1, 0xFFFFFFFF)),
            "body_type": chance.choice(BODY_TYPES_TO_DRAW_FROM),
            "life_s": INFINITE_LIFETIME_S if queue.transactional else chance.choice(MESSAGE_LIFETIMES_TO_DRAW_FROM_S),
            "transaction": transaction,
        }

    @transition(
        "MQDMPR-3.1.7.1.16-05",
        "MQDMPR-3.1.7.1.16-06",
        "MQDMPR-3.1.7.1.16-07",
        needs=("receive", "subqueues"),
        weight=5,
        transaction=None,
    )
    def move(self, message: str, queue: str, to: str, transaction: str | None) -> None:
        source, target = self.find(self.queues, queue), self.find(self.queues, to)
        position = self.find_position(source, message)
        within = None if transaction is None else self.find(self.transactions, transaction)
        if (source.parent or source) is not (target.parent or target) or source is target:
            raise ImpossibleStep
        if within is not None and within.state != "active":
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_SEQUENCE")
        elif within is not None and not source.transactional:
            self.answer_with_refusal("MQ_ERROR_TRANSACTION_USAGE")
        elif position is None or not position.was_ever_visible:
            raise ImpossibleStep  # no visible message has this LookupIdentifier
        elif position.state != AVAILABLE_MESSAGE_STATE:
            self.answer_with_refusal()
        elif within is not None:
            self.cite_rules("MQDMPR-3.1.7.1.16-D02", "MQDMPR-3.1.7.1.16-D03", "MQDMPR-3.1.1.13-06")
            position.state = LOCKED_MESSAGE_STATE
            within.operations.append(TransactionOperation("move", position, target))
            self.answer_with_success()
        else:
            self.cite_rules("MQDMPR-3.1.7.1.16-D01")
            self.move_position(position, target)
            self.answer_with_success()

    def move_position(self, position: MessagePosition, target: Queue) -> None:
        """Move a message to a different queue (MS-MQDMPR 3.1.7.1.16). In the target queue, the message is either the
        last message of its priority, or is in the order in which the messages arrived.
        """
        position.queue.positions.remove(position)
        position.state = DELETED_MESSAGE_STATE
        behind = [one for one in target.positions if one.message.priority == position.message.priority]
        late = any(one.arrival_number > position.arrival_number for one in behind)
        order = position.arrival_number if late and self.choose_reading("place of a moved message") else None
        moved = self.insert_message(target, position.message, LOCKED_MESSAGE_STATE, order)
        moved.expires_ms = position.expires_ms
        self.make_available(moved)

    def draw_move(self, chance: Random) -> dict[str, Any]:
        movable = [one for one in self.queues.values() if one.positions and (one.parent or one.subqueues)]
        begun = sorted(name for name, one in self.transactions.items() if one.state == "active")
        within = [one for one in movable if one.transactional]
        queue = draw_one_value_or_refuse_step(chance, within if within and begun and chance.random() < 0.6 else movable)
        whole = queue.parent or queue
        to = chance.choice([one for one in (whole, *whole.subqueues, *whole.subqueues) if one is not queue])
        transaction = None
        if begun and chance.random() < (0.7 if queue.transactional else 0.05):
            external = [name for name in begun if self.transactions[name].is_external]
            transaction = chance.choice(external or begun)
        elif self.transactions and chance.random() < 0.05:
            transaction = chance.choice(sorted(self.transactions))
        message = draw_one_value_or_refuse_step(
            chance, (one.message.name for one in queue.positions if one.was_ever_visible)
        )
        return {"message": message, "queue": queue.name, "to": to.name, "transaction": transaction}
