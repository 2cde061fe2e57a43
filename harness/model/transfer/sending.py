"""Let the system send messages to the peer, which acknowledges them or does not.

Spec: MS-MQQB 3.1.5.5, 3.1.5.6, 3.1.5.7, 3.1.6.1, 3.1.7.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from harness.model.agreement import Between
from harness.model.queues.state import Message
from harness.model.steps import Impossible, draw_one, transition
from harness.model.transfer.sessions import REACTION_TIME_MS, Sessions

RECONNECT_TIME_MS = 8_000
"""int ms: a pause after which a system with waiting messages has connected again, longer than the Session Retry Connect
Timer.
"""
RETRY_INTERVAL_MS = 4_000
"""int ms: a time in which the system does not connect again, shorter than the Session Retry Connect Timer."""
LONGEST_SILENCE_MS = 12_000
"""int ms: the longest time without acknowledgments, after which the system may close the session or resend messages."""
MOST_SENT_MESSAGES = 6
_OWN_ORDINAL_START = 1_000
SYSTEM_JOURNAL, DEAD_LETTERS = "system$;journal", "system$;deadxact"


@dataclass(eq=False, slots=True)
class Sent:
    """A sent message; ``number``: its number in its sequence; ``ordered``: whether its OrderAck was received."""

    message: Message
    sequence: int = 0
    number: int = 0
    acknowledged: bool = False

    def described(self) -> dict[str, Any]:
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


class Shipping(Sessions):
    """The transitions of applications that send to the peer, and of the peer that acknowledges."""

    def __init__(self, decisions: Any = None) -> None:
        super().__init__(decisions)
        self.table: list[Sent] = []
        """The OutgoingMessageTable: the sent messages that are not completed."""
        self.awaiting_final: list[Sent] = []
        self.copies: list[dict[str, Any]] = []
        """The messages that the peer has received since the last loss of the connection."""
        self.journaled: list[str] = []
        self.dead: list[str] = []
        self.silent = False
        self.lost = False
        """Whether the connection was lost, and the system has not connected again."""
        self.lost_ms = 0
        self.open_ms: int | None = None
        """int ms: the instant since which a message has been waiting for an acknowledgment; None while no message
        waits. While the peer is silent, the system's own acknowledgments may also wait.
        """
        self.sequence, self.next_number = 1, 1
        self.transfer_info: dict[str, Any] = {}
        """OutgoingTransferInfo after the last OrderAck; later events may change it."""

    @transition(
        "MQQB-3.1.7.1-10",
        "MQQB-3.1.7.1.3-04",
        "MQQB-3.1.7.1.3-03",
        "MQQB-3.1.7.1.3-08",
        needs=("send",),
        weight=8,
        delivery="express",
        priority=3,
        size=0,
        journal=[],
    )
    def ship_message(self, message: str, delivery: str, priority: int, size: int, journal: list[str]) -> None:
        """Let an application send a message to the peer."""
        transactional = delivery == "transactional"
        self.transfer_info = {}
        sent = Sent(Message(message, "peer", 0 if transactional else priority, delivery, size, journal=tuple(journal)))
        if transactional:
            sent.sequence, sent.number = self.sequence, self.next_number
            self.next_number += 1
        self.table.append(sent)
        if not self.lost:
            self.copies.append(sent.described())
            self.await_acknowledgment()
        self.done()
        self.settle()

    def draw_ship_message(self, chance: Random) -> dict[str, Any]:
        if len(self.table) >= MOST_SENT_MESSAGES or self.lost:
            raise Impossible
        self.check_patience(REACTION_TIME_MS)
        journal = chance.choice(([], ["positive"], ["negative"], ["negative", "positive"]))
        return {
            "message": f"m{self.steps}",
            "delivery": chance.choice(("express", "recoverable", "transactional", "transactional")),
            "priority": chance.choice((3, 0, 7)),
            "size": chance.choice((0, 10, 3_000)),
            "journal": journal,
        }

    @transition("MQQB-3.1.5.5.1-01", "MQQB-3.1.5.5.2-01", "MQQB-3.1.5.5.3-02", needs=("send",), weight=2)
    def silence_peer(self, on: bool) -> None:
        """Let the peer stop acknowledging messages (``on``), or acknowledge them again."""
        self.silent = on
        self.transfer_info = {}
        if on:
            self.await_acknowledgment()
        self.settle()
        self.done()

    def draw_silence_peer(self, chance: Random) -> dict[str, Any]:
        return {"on": not self.silent}

    @transition("MQQB-3.1.5.9-D02", "MQQB-3.1.5.9-04", needs=("send",), weight=1)
    def lose_connection(self) -> None:
        """Let the peer lose every connection; a silent peer may also lose acknowledgments from the system."""
        if self.lost:
            raise Impossible
        for session in self.sessions.values():
            session.open = False
        self.lost, self.lost_ms = bool(self.table) or self.silent, self.now_ms
        self.copies.clear()
        self.transfer_info = {}
        self.open_ms = None
        super().settle()
        self.done()

    def draw_lose_connection(self, chance: Random) -> dict[str, Any]:
        if self.lost:
            raise Impossible
        return {}

    @transition(
        "MQQB-3.1.6.1-01", "MQQB-3.1.6.1-10", "MQQB-3.1.6.1-D01", "MQDMPR-3.1.7.3.9-04", needs=("send",), weight=4
    )
    def come_again(self) -> None:
        """Let enough time pass for the system to connect again and resend its messages."""
        if not self.lost:
            raise Impossible
        self.lost = False
        again = sorted(self.table, key=lambda one: -one.message.priority)
        self.copies += [one.described() for one in again]
        first = next((one for one in self.copies if one.get("number")), None)
        if first is not None:  # the documents leave open which number precedes the first message of the table
            self.cite("MQQB-3.1.7.1.3-08")
            first["previous"] = Between(0, first["number"] - 1)
        self.await_acknowledgment()
        self.settle(RECONNECT_TIME_MS)
        self.done()

    def draw_come_again(self, chance: Random) -> dict[str, Any]:
        if not self.lost:
            raise Impossible
        return {}

    @transition(
        *("MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09", "MQQB-3.1.5.6-10", "MQQB-3.1.5.6-13", "MQQB-3.1.5.6-14"),
        *("MQQB-3.1.5.6-15", "MQQB-3.1.5.6-16", "MQQB-3.1.5.6-19", "MQQB-3.1.5.6-21", "MQQB-3.1.5.6-22"),
        "MQQB-3.1.5.6-24",
        needs=("send",),
        weight=6,
    )
    def offer_order_ack(self, message: str) -> None:
        """Let the peer send the OrderAck of a transactional message, which covers all earlier ones."""
        names = [one.message.name for one in self.table if one.number]
        if message not in names or self.lost or self.silent:
            raise Impossible
        covered = [one for one in self.table if one.number][: names.index(message) + 1]
        if not all(one.acknowledged for one in covered):
            raise Impossible
        for sent in covered:
            self.table.remove(sent)
            if sent.message.journal:
                self.awaiting_final.append(sent)
        self.transfer_info = self._describe_sequence(self.sequence)
        if not any(one.number for one in self.table):
            self.sequence, self.next_number = self.sequence + 1, 1
        self.settle()
        self.done()

    def _describe_sequence(self, sequence: int) -> dict[str, Any]:
        """Return OutgoingTransferInfo after an OrderAck (3.1.5.6)."""
        numbers = [one.number for one in self.table if one.number]
        awaiting = Between(sum(one.sequence == sequence for one in self.awaiting_final), len(self.awaiting_final))
        info: dict[str, Any] = {"EodNoAckCount": len(numbers), "EodNoReadCount": awaiting}
        if numbers:
            info |= {"EodFirstNonAck": {"SeqID": sequence, "SeqNo": numbers[0], "PrevNo": Between(0, numbers[0] - 1)}}
            info |= {"EodLastNonAck": {"SeqID": sequence, "SeqNo": numbers[-1], "PrevNo": Between(0, numbers[-1] - 1)}}
        return info

    def draw_offer_order_ack(self, chance: Random) -> dict[str, Any]:
        if self.lost or self.silent:
            raise Impossible
        return {"message": draw_one(chance, (one.message.name for one in self.table if one.number))}

    @transition("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-04", "MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07", needs=("send",), weight=3)
    def finish(self, message: str, cls: str) -> None:
        """Let the peer send a FinalAck."""
        sent = next((one for one in self.awaiting_final if one.message.name == message), None)
        if sent is None or self.lost:
            raise Impossible
        self.awaiting_final.remove(sent)
        self.transfer_info = {}
        wanted = sent.message.journal
        if cls == "ACK_RECEIVE" and "positive" in wanted:
            self.journaled.append(message)
        elif cls != "ACK_RECEIVE" and "negative" in wanted:
            self.dead.append(message)
        self.settle()
        self.done()

    def draw_finish(self, chance: Random) -> dict[str, Any]:
        if self.lost:
            raise Impossible
        message = draw_one(chance, (one.message.name for one in self.awaiting_final))
        return {"message": message, "cls": chance.choice(("ACK_RECEIVE", "NACK_Q_PURGED", "NACK_RECEIVE_TIMEOUT"))}

    # -- acknowledgments and timers ---------------------------------------------------------------------------------

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let the peer acknowledge the received messages, unless it is silent."""
        self.check_patience(ms)
        super().settle(ms)
        if self.silent or self.lost:
            return
        for sent in list(self.table):
            sent.acknowledged = True
            if not sent.number:
                self.table.remove(sent)
                if "positive" in sent.message.journal:
                    self.cite("MQQB-3.1.5.5.4-01")
                    self.journaled.append(sent.message.name)
        if not self.table:
            self.open_ms = None

    def await_acknowledgment(self) -> None:
        if self.open_ms is None:
            self.open_ms = self.now_ms

    def check_patience(self, ms: int) -> None:
        """Raise Impossible after a time in which the system may close the session or resend transactional messages."""
        if self.lost and self.now_ms + ms - self.lost_ms > RETRY_INTERVAL_MS:
            raise Impossible
        if (
            self.open_ms is not None
            and (self.table or self.silent)
            and self.now_ms + ms - self.open_ms > LONGEST_SILENCE_MS
        ):
            raise Impossible

    def visible(self) -> dict[str, Any]:
        seen = super().visible()
        if self.lost:  # acknowledgments may wait until the system has connected again
            del seen["final acks"]
        return {
            **seen,
            "came": list(self.copies),
            "waiting": self._count_waiting_messages(),
            SYSTEM_JOURNAL: sorted(self.journaled),
            DEAD_LETTERS: sorted(self.dead),
            **({"transfer info": self.transfer_info} if self.transfer_info else {}),
        }

    def _count_waiting_messages(self) -> int | Between:
        """Return how many messages wait in the outgoing queue, which may include the system's own acknowledgments."""
        least = len(self.table)
        return Between(least, least + _OWN_ORDINAL_START) if self.silent or self.lost else least
