"""Model the messages that the system sends to the peer. The peer acknowledges only some of these messages.

Spec: MS-MQQB 3.1.5.5, 3.1.5.6, 3.1.5.7, 3.1.6.1, 3.1.7.1.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds
from harness.model.queues.sending import ACKNOWLEDGMENT_REQUESTS
from harness.model.queues.state import Message
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.transfer.sessions import MESSAGE_LIFETIME_LONGER_THAN_WALK_S, REACTION_TIME_MS, TransferSessions

TIME_TO_RECONNECT_AND_RESEND_MS = 8_000
"""int ms: a pause after which a system with waiting messages has connected again. The pause is longer than the
Session Retry Connect Timer.
"""
RETRY_INTERVAL_MS = 4_000
"""int ms: a time within which a system with waiting messages does not connect again. It is shorter than the Session
Retry Connect Timer.
"""
LONGEST_TIME_WITHOUT_ACKS_FROM_PEER_MS = 12_000
"""int ms: the longest time for which the model lets the peer send no acknowledgments. After a longer time, the system
may close the session or resend messages.
"""
MAX_SENT_MESSAGES = 6
SHORT_LIFETIME_S = 5
"""int s: the time to reach the queue of messages that expire while their outgoing queue is held."""
_MAX_ACKNOWLEDGMENTS_FROM_SYSTEM = 1_000
NAMES_OF_OUTGOING_QUEUES = ("near", "far")
"""The names of the outgoing queues. The messages in each outgoing queue are for one queue of the peer."""
JOINED_NAMES_OF_OUTGOING_QUEUES = "+".join(NAMES_OF_OUTGOING_QUEUES)
CORRELATION_ID_BYTES = 20
"""The size of a correlation identifier (MS-MQMQ 2.2.19.3)."""
QUEUE_PROPERTIES = ("admin_queue", "response_queue")
"""The properties whose value is the name of a route."""
PROPERTIES_OF_SEND_EXTENSION = frozenset({"correlation_id", "extension_base64"})
"""The properties that only a system with the facility send_extension accepts."""
TRACE_QUEUE_GUID = "6d71636f-6e66-4f72-8d00-0000000000dd"
"""The GUID of the queue for trace reports. No system has this queue."""
CLASS_WITHOUT_FINAL_ACK = "ACK_REACH_QUEUE"
"""The class of an acknowledgment that is no FinalAck (MS-MQQB 3.1.5.1.1)."""
SYSTEM_JOURNAL_QUEUE_NAME, DEAD_LETTER_QUEUE_NAME = "system$;journal", "system$;deadxact"


@dataclass(eq=False, slots=True)
class SentMessage:
    """A sent message. ``number``: its number in its sequence. ``ordered``: whether its OrderAck was received."""

    message: Message
    sequence: int = 0
    number: int = 0
    acknowledged: bool = False
    expires_ms: int = 0
    """int ms: the end of the time within which the message must be sent, or 0 if this time is longer than an
    exploration.
    """

    def list_visible_properties(self) -> dict[str, Any]:
        """Return the properties of the message that are visible to the peer."""
        seen = {
            "message": self.message.name,
            "class": "NORMAL",
            "priority": self.message.priority,
            "delivery": self.message.delivery,
            "size": self.message.size,
        }
        if self.number:
            seen |= {"sequence": self.sequence, "number": self.number, "previous": self.number - 1}
        return seen


@dataclass(eq=False, slots=True)
class OutgoingQueueToPeer:
    """An outgoing queue to the peer.

    ``uncompleted_messages``: the OutgoingMessageTable of its session, which contains the sent messages that are not
    completed. ``messages_received_by_peer``: the messages that the peer has received since the last loss of the
    connection. ``sequence``: the current sequence, or 0 before its first message. ``has_open_session``: whether its
    session is open. ``transfer_info``: OutgoingTransferInfo after the last OrderAck; empty after later events that may
    change it.
    """

    name: str
    uncompleted_messages: list[SentMessage] = field(default_factory=list)
    messages_awaiting_final_ack: list[SentMessage] = field(default_factory=list)
    messages_received_by_peer: list[dict[str, Any]] = field(default_factory=list)
    transfer_info: dict[str, Any] = field(default_factory=dict)
    sequence: int = 0
    next_message_number: int = 1
    has_open_session: bool = False
    awaited_final_acks_before_restart: int = 0
    """The number of messages that awaited a FinalAck when the system restarted."""
    is_held: bool = False
    """Whether an administrator holds the outgoing queue."""
    messages_waiting_because_held: list[SentMessage] = field(default_factory=list)
    """The messages that wait because the outgoing queue is held."""
    messages_with_order_ack: list[SentMessage] = field(default_factory=list)
    """The messages of one sequence for which the peer has sent OrderAcks since the last restart, in order."""

    def has_transactional_messages(self) -> bool:
        return any(one.number for one in self.uncompleted_messages)

    def describe_sequence(self) -> dict[str, Any]:
        """Return the elements of OutgoingTransferInfo after an OrderAck (MS-MQQB 3.1.5.6)."""
        numbers = [one.number for one in self.uncompleted_messages if one.number]
        awaiting = sum(one.sequence == self.sequence for one in self.messages_awaiting_final_ack)
        info: dict[str, Any] = {
            "EodNoAckCount": len(numbers),
            "EodNoReadCount": ExpectedNumberBetweenBounds(
                awaiting, len(self.messages_awaiting_final_ack) + self.awaited_final_acks_before_restart
            ),
        }
        for name, number in zip(("EodFirstNonAck", "EodLastNonAck"), numbers[:1] + numbers[-1:], strict=False):
            info[name] = {"SeqID": self.sequence, "SeqNo": number, "PrevNo": ExpectedNumberBetweenBounds(0, number - 1)}
        if self.messages_with_order_ack:
            last = self.messages_with_order_ack[-1]
            info["EodLastAck"] = {"SeqID": last.sequence, "SeqNo": last.number}
        return info


class ShipTransitions(TransferSessions):
    """The transitions in which applications send messages to the peer, or the peer acknowledges messages."""

    def __init__(self, decisions: Any = None) -> None:
        super().__init__(decisions)
        self.routes = {name: OutgoingQueueToPeer(name) for name in NAMES_OF_OUTGOING_QUEUES}
        self.sequence_count = 0
        """The number of sequences that the system has begun on all routes."""
        self.journaled: list[str] = []
        self.recoverable: set[str] = set()
        """The messages that survive a restart."""
        self.dead: list[str] = []
        self.silent = False
        self.lost = False
        """Whether the connection was lost and the system has not connected again yet."""
        self.connection_lost_ms = 0
        self.waiting_for_ack_since_ms: int | None = None
        """int ms: the time since which a message from the system, which may itself be an acknowledgment, has been
        waiting for an acknowledgment; None while no message waits.
        """

    @property
    def table(self) -> list[SentMessage]:
        """The sent messages on all routes, except completed messages."""
        return [one for route in self.routes.values() for one in route.uncompleted_messages]

    def find_route(
        self, message: str, messages: Callable[[OutgoingQueueToPeer], list[SentMessage]]
    ) -> tuple[OutgoingQueueToPeer, SentMessage]:
        """Return a sent message and its route; raise ImpossibleStep if the message is on no route."""
        for route in self.routes.values():
            for sent in messages(route):
                if sent.message.name == message:
                    return route, sent
        raise ImpossibleStep

    @transition(
        "MQQB-3.1.7.1-10",
        "MQQB-3.1.1.3-24",
        "MQQB-3.1.7.1.3-04",
        "MQQB-3.1.7.1.3-03",
        "MQQB-3.1.7.1.3-08",
        needs=("send",),
        weight=8,
        delivery="express",
        priority=3,
        size=0,
        journal=[],
        to=NAMES_OF_OUTGOING_QUEUES[0],
        properties={},
    )
    def ship_message(
        self,
        message: str,
        to: str,
        delivery: str,
        priority: int,
        size: int,
        journal: list[str],
        properties: dict[str, Any],
    ) -> None:
        """Let an application send a message to one or to both queues of the peer. ``properties``: further arguments of
        the request, which only the packet shows. A property that is a queue has the name of a route as its value.
        Properties of the facility send_extension are omitted for a system without this facility.
        """
        transactional = delivery == "transactional"
        ready = all(one.has_open_session and not one.is_held for one in self.routes.values())
        if to == JOINED_NAMES_OF_OUTGOING_QUEUES and (journal or not ready):
            raise ImpossibleStep  # open: the number of journal copies, the response to the first of two pings (E15)
        if to == JOINED_NAMES_OF_OUTGOING_QUEUES:
            self.cite_rules("MQDMPR-3.1.7.3.8-18")
        if delivery != "express":
            self.recoverable.add(message)
        for name in to.split("+"):
            route = self.routes[name]
            route.transfer_info = {}
            kind = (0 if transactional else priority, delivery, size)
            sent = SentMessage(Message(message, to, *kind, journal=tuple(journal)))
            if properties.get("time_to_reach_queue_s") == SHORT_LIFETIME_S:
                if transactional or journal or not route.is_held:
                    raise ImpossibleStep
                sent.expires_ms = self.now_ms + 1_000 * SHORT_LIFETIME_S
            if route.is_held:
                route.messages_waiting_because_held.append(sent)
            else:
                self.transmit(route, sent)
        self.answer_with_success()
        self.settle()

    def transmit(self, route: OutgoingQueueToPeer, sent: SentMessage) -> None:
        """Let the system send a message, with a number in its sequence if the message is transactional."""
        if sent.message.delivery == "transactional":
            if not route.has_transactional_messages():
                self.sequence_count += 1
                route.sequence, route.next_message_number = self.sequence_count, 1
            sent.sequence, sent.number = route.sequence, route.next_message_number
            route.next_message_number += 1
        route.uncompleted_messages.append(sent)
        if not self.lost:
            route.messages_received_by_peer.append(sent.list_visible_properties())
            route.has_open_session = True
            self.await_acknowledgment()

    def draw_ship_message(self, chance: Random) -> dict[str, Any]:
        waiting = sum(len(one.messages_waiting_because_held) for one in self.routes.values())
        if len(self.table) + waiting >= MAX_SENT_MESSAGES or self.lost:
            raise ImpossibleStep
        self.check_no_resend_due(REACTION_TIME_MS)
        journal = chance.choice(([], ["positive"], ["negative"], ["negative", "positive"]))
        ready = all(one.has_open_session and not one.is_held for one in self.routes.values())
        held = [name for name, one in self.routes.items() if one.is_held]
        to = chance.choice(
            (*NAMES_OF_OUTGOING_QUEUES, *NAMES_OF_OUTGOING_QUEUES, JOINED_NAMES_OF_OUTGOING_QUEUES)
            if ready
            else (*NAMES_OF_OUTGOING_QUEUES, *held, *held)
        )
        properties = _draw_properties(chance)
        if to in held and chance.random() < 0.3:
            return {
                "message": f"m{self.steps}",
                "to": to,
                "delivery": chance.choice(("express", "recoverable")),
                "priority": 3,
                "size": 0,
                "journal": [],
                "properties": {"time_to_reach_queue_s": SHORT_LIFETIME_S},
            }
        kinds = (
            ("express", "recoverable")
            if to == JOINED_NAMES_OF_OUTGOING_QUEUES
            else ("express", "recoverable", *("transactional",) * 2)
        )
        return {
            "message": f"m{self.steps}",
            "to": to,
            "delivery": chance.choice(kinds),
            "priority": chance.choice((3, 0, 7)),
            "size": chance.choice((0, 10, 3_000)),
            "journal": [] if to == JOINED_NAMES_OF_OUTGOING_QUEUES else journal,
            "properties": properties,
        }

    @transition("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.2-01", "MQQB-3.1.5.5.3-02", needs=("send",), weight=2)
    def silence_peer(self, on: bool) -> None:
        """If ``on`` is true, let the peer stop acknowledging messages; otherwise, let the peer acknowledge messages
        again.
        """
        self.silent = on
        self.forget_transfer_info()
        if on:
            self.await_acknowledgment()
        self.settle()
        self.answer_with_success()

    def draw_silence_peer(self, chance: Random) -> dict[str, Any]:
        return {"on": not self.silent}

    @transition("MQQB-3.1.5.9-D02", "MQQB-3.1.5.9-04", needs=("send",), weight=1)
    def lose_connection(self) -> None:
        """Let the peer lose every connection. If the peer is silent, acknowledgments from the system may also be
        lost.
        """
        self.check_can_lose_sessions()
        self.close_sessions(*(name for name, one in self.sessions.items() if one.open))
        self.lost, self.connection_lost_ms = bool(self.table) or self.silent, self.now_ms
        for route in self.routes.values():
            route.messages_received_by_peer.clear()
            route.has_open_session = False
        self.forget_transfer_info()
        self.waiting_for_ack_since_ms = None
        super().settle()
        self.answer_with_success()

    def draw_lose_connection(self, chance: Random) -> dict[str, Any]:
        self.check_can_lose_sessions()
        return {}

    def check_can_lose_sessions(self) -> None:
        """Raise ImpossibleStep if the documents leave open what the system does after the loss of all sessions. For
        example, if the peer names the transactional queue by a private format name, the system then opens two sessions
        for its acknowledgments, and may ignore the response to the first ping (erratum E15).
        """
        held = any(route.is_held for route in self.routes.values())
        if self.lost or held or self.sequences.uses_private_format_name:
            raise ImpossibleStep

    @transition(
        "MQQB-3.1.6.1-01", "MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01", "MQDMPR-3.1.7.3.9-04", needs=("send",), weight=4
    )
    def come_again(self) -> None:
        """Let enough time pass for the system to connect again and to resend its messages."""
        if not self.lost:
            raise ImpossibleStep
        self.lost = False
        self.connect_again()

    def connect_again(self) -> None:
        """Let the system connect again, and send the messages that are not completed."""
        for route in self.routes.values():
            route.has_open_session = bool(route.uncompleted_messages)
            again = sorted(route.uncompleted_messages, key=lambda one: -one.message.priority)
            route.messages_received_by_peer += [one.list_visible_properties() for one in again]
            first = next((one for one in route.messages_received_by_peer if one.get("number")), None)
            if first is not None:  # the documents leave open which number precedes the first message of the table
                self.cite_rules("MQQB-3.1.7.1.3-08")
                first["previous"] = ExpectedNumberBetweenBounds(0, first["number"] - 1)
        self.await_acknowledgment()
        self.settle(TIME_TO_RECONNECT_AND_RESEND_MS)
        self.answer_with_success()

    def draw_come_again(self, chance: Random) -> dict[str, Any]:
        if not self.lost:
            raise ImpossibleStep
        return {}

    @transition(
        *("MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09", "MQQB-3.1.5.6-10", "MQQB-3.1.5.6-13", "MQQB-3.1.5.6-14"),
        *("MQQB-3.1.5.6-15", "MQQB-3.1.5.6-16", "MQQB-3.1.5.6-19", "MQQB-3.1.5.6-21", "MQQB-3.1.5.6-22"),
        "MQQB-3.1.5.6-24",
        needs=("send",),
        weight=6,
    )
    def offer_order_ack(self, message: str) -> None:
        """Let the peer send the OrderAck of a transactional message. The OrderAck covers all earlier messages."""
        if self.lost or self.silent:
            raise ImpossibleStep
        route, last = self.find_route(message, lambda one: one.uncompleted_messages)
        covered = [one for one in route.uncompleted_messages if 0 < one.number <= last.number]
        if not last.number or not all(one.acknowledged for one in covered):
            raise ImpossibleStep
        for sent in covered:
            route.uncompleted_messages.remove(sent)
            if sent.message.journal:
                route.messages_awaiting_final_ack.append(sent)
        route.messages_with_order_ack = [
            one for one in route.messages_with_order_ack if one.sequence == last.sequence
        ] + covered
        route.transfer_info = route.describe_sequence()
        self.settle()
        self.answer_with_success()

    def draw_offer_order_ack(self, chance: Random) -> dict[str, Any]:
        if self.lost or self.silent:
            raise ImpossibleStep
        return {
            "message": draw_one_value_or_refuse_step(chance, (one.message.name for one in self.table if one.number))
        }

    @transition("MQQB-3.1.5.6-23", needs=("send",), weight=2)
    def offer_late_order_ack(self, message: str) -> None:
        """Let the peer send the OrderAck of a message after the OrderAck of a later message of the same sequence. The
        late OrderAck changes nothing.
        """
        if self.lost or self.silent:
            raise ImpossibleStep
        route, _ = self.find_route(message, lambda one: one.messages_with_order_ack[:-1])
        last = route.messages_with_order_ack[-1]
        route.transfer_info = {"EodLastAck": {"SeqID": last.sequence, "SeqNo": last.number}}
        self.settle()
        self.answer_with_success()

    def draw_offer_late_order_ack(self, chance: Random) -> dict[str, Any]:
        if self.lost or self.silent:
            raise ImpossibleStep
        ordered = (one for route in self.routes.values() for one in route.messages_with_order_ack[:-1])
        return {"message": draw_one_value_or_refuse_step(chance, ordered).message.name}

    @transition("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-04", "MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07", needs=("send",), weight=3)
    def finish(self, message: str, cls: str) -> None:
        """Let the peer send a FinalAck, or a message that resembles a FinalAck but has a different class."""
        if self.lost:
            raise ImpossibleStep
        route, sent = self.find_route(message, lambda one: one.messages_awaiting_final_ack)
        route.transfer_info = {}
        if cls == CLASS_WITHOUT_FINAL_ACK:
            self.cite_rules("MQQB-3.1.5.1.1-12")
            self.settle()
            self.answer_with_success()
            return
        route.messages_awaiting_final_ack.remove(sent)
        wanted = sent.message.journal
        if cls == "ACK_RECEIVE" and "positive" in wanted:
            self.journaled.append(message)
        elif cls != "ACK_RECEIVE" and "negative" in wanted:
            self.dead.append(message)
        self.settle()
        self.answer_with_success()

    def draw_finish(self, chance: Random) -> dict[str, Any]:
        if self.lost:
            raise ImpossibleStep
        sent = [one for route in self.routes.values() for one in route.messages_awaiting_final_ack]
        message = draw_one_value_or_refuse_step(chance, sent).message.name
        classes = ("ACK_RECEIVE", "NACK_Q_PURGED", "NACK_RECEIVE_TIMEOUT", CLASS_WITHOUT_FINAL_ACK)
        return {"message": message, "cls": chance.choice(classes)}

    # -- acknowledgments and timers ---------------------------------------------------------------------------------

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let the peer acknowledge the received messages unless the peer is silent."""
        self.check_no_resend_due(ms)
        super().settle(ms)
        if self.silent or self.lost:
            return
        for route in self.routes.values():
            self._acknowledge_sent_messages(route)
        if not self.table:
            self.waiting_for_ack_since_ms = None

    def _acknowledge_sent_messages(self, route: OutgoingQueueToPeer) -> None:
        for sent in list(route.uncompleted_messages):
            sent.acknowledged = True
            if not sent.number:
                route.uncompleted_messages.remove(sent)
                if "positive" in sent.message.journal:
                    self.cite_rules("MQQB-3.1.5.5.4-01")
                    self.journaled.append(sent.message.name)

    def forget_transfer_info(self) -> None:
        for route in self.routes.values():
            route.transfer_info = {}

    def await_acknowledgment(self) -> None:
        if self.waiting_for_ack_since_ms is None:
            self.waiting_for_ack_since_ms = self.now_ms

    def check_no_resend_due(self, ms: int) -> None:
        """Raise ImpossibleStep if so much time has passed that the system may close the session or resend transactional
        messages.
        """
        if self.lost and self.now_ms + ms - self.connection_lost_ms > RETRY_INTERVAL_MS:
            raise ImpossibleStep
        if (
            self.waiting_for_ack_since_ms is not None
            and (self.table or self.silent)
            and self.now_ms + ms - self.waiting_for_ack_since_ms > LONGEST_TIME_WITHOUT_ACKS_FROM_PEER_MS
        ):
            raise ImpossibleStep

    def describe_visible_state(self) -> dict[str, Any]:
        seen = super().describe_visible_state()
        if self.lost:  # acknowledgments may wait until the system has connected again
            del seen["final acks"]
        for name, route in self.routes.items():
            seen[f"to {name}"] = {
                "came": list(route.messages_received_by_peer),
                "waiting": self._count_waiting_messages(route),
                **({"transfer info": route.transfer_info} if route.transfer_info else {}),
            }
        return {**seen, SYSTEM_JOURNAL_QUEUE_NAME: sorted(self.journaled), DEAD_LETTER_QUEUE_NAME: sorted(self.dead)}

    def _count_waiting_messages(self, route: OutgoingQueueToPeer) -> int | ExpectedNumberBetweenBounds:
        """Return the number of messages that wait in an outgoing queue. This number may include the system's own
        acknowledgments.
        """
        most = len(route.uncompleted_messages) + len(route.messages_waiting_because_held)
        least = most - sum(one.expires_ms > 0 for one in route.messages_waiting_because_held)
        return ExpectedNumberBetweenBounds(
            least, most + (_MAX_ACKNOWLEDGMENTS_FROM_SYSTEM if self.silent or self.lost else 0)
        )


def _draw_properties(chance: Random) -> dict[str, Any]:
    """Choose at random the values of the message properties that an application may set and that the packet shows."""
    drawn: dict[str, Any] = {
        "application_tag": chance.choice((1, 0x7FFF_FFFF, 0xFFFF_FFFF)),
        "body_type": chance.choice((8, 0x1011)),
        "correlation_id": chance.randbytes(CORRELATION_ID_BYTES).hex(),
        "extension_base64": b64encode(chance.randbytes(chance.choice((1, 7, 303)))).decode(),
        "time_to_reach_queue_s": MESSAGE_LIFETIME_LONGER_THAN_WALK_S,
        "time_to_be_received_s": 2 * MESSAGE_LIFETIME_LONGER_THAN_WALK_S,
        "trace_queue": TRACE_QUEUE_GUID,
        **{name: chance.choice(NAMES_OF_OUTGOING_QUEUES) for name in QUEUE_PROPERTIES},
    }
    chosen = {name: value for name, value in drawn.items() if chance.random() < 0.4}
    if "admin_queue" in chosen:
        chosen["acks"] = sorted(chance.sample(ACKNOWLEDGMENT_REQUESTS, chance.randint(1, 4)))
    return chosen
