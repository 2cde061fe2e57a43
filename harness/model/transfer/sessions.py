"""Model the sessions between the peer and the system, and their acknowledgments. Spec: MS-MQQB 3.1.5.5, 3.1.6.4,
3.1.7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds
from harness.model.queues.administering import AdministrationTransitions
from harness.model.queues.base import ADMIN_QUEUE_NAME
from harness.model.queues.reading import ReadTransitions
from harness.model.queues.sending import SendTransitions
from harness.model.queues.state import Message, Queue
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

NAME_OF_NONTRANSACTIONAL_QUEUE, TRANSACTIONAL_QUEUE_NAME = "one", "two"
RECEIVING_QUEUE_QUOTA_KB = 70
"""The quota of each queue. The quota is large enough for one large message or for many small
messages.
"""
MESSAGE_LIFETIME_LONGER_THAN_WALK_S = 1_000_000
"""int s: a time limit that is longer than any exploration."""
REACTION_TIME_MS = 1_500
"""int ms: the duration of a step, which is long enough for the system to acknowledge recoverable and transactional
messages.
"""
EXPRESS_ACK_PAUSE_MS = 12_000
"""int ms: a pause that is long enough for the system to acknowledge express messages also. The pause is longer than
half of the peer's AckWaitTimeout.
"""
MAX_LONG_PAUSES = 3
"""The maximum number of long pauses in one sequence of random steps. After more long pauses, the system may close an
idle session.
"""
MAX_SESSIONS = 3
FINAL_ACK_RULES = (
    *("MQQB-3.1.7.2.2-01", "MQQB-3.1.7.17-04", "MQQB-3.1.7.17-05", "MQQB-3.1.7.17-D01", "MQQB-3.1.7.17-D05"),
    *("MQQB-3.1.7.17-D06", "MQQB-3.1.7.17-D07", "MQQB-3.1.7.17-D08", "MQQB-3.1.7.17-D09", "MQQB-3.1.7.17-D10"),
)


@dataclass(eq=False, slots=True)
class Session:
    """A session that the peer opened. ``acknowledged``: the minimum number of messages that the system has
    acknowledged.
    """

    name: str
    received: int = 0
    acknowledged: int = 0
    recoverable: int = 0
    open: bool = True


@dataclass(eq=False, slots=True)
class SequenceProgress:
    """The progress of a sequence from the peer: the identifier of the sequence, and the number of the last accepted
    message.
    """

    sequence: int = 0
    number: int = 0
    rejected_message_count: int | None = 0
    """The number of messages that were refused since the last accepted message, or None if the documents leave this
    number open.
    """
    sequence_number_for_comparison: int = 0
    """The element SequenceNumber, with which the system compares the next message. After the first message, the element
    may be one less than the number of this message (erratum E75).
    """

    def record_accepted_message(self, sequence: int, number: int) -> None:
        """Record an accepted message."""
        self.sequence, self.number, self.rejected_message_count = sequence, number, 0
        self.sequence_number_for_comparison = number

    def record_rejected_message(self) -> None:
        """Record a message that was refused because of its place in the sequence."""
        if self.rejected_message_count is not None:
            self.rejected_message_count += 1

    def describe(self) -> dict[str, int]:
        """Return the contents of an OrderAck for the last accepted message."""
        return {"sequence": self.sequence, "number": self.number}


@dataclass(slots=True)
class SequencesFromPeer:
    """The sequences of transactional messages that the peer sends to the transactional queue."""

    current_progress: SequenceProgress = field(default_factory=SequenceProgress)
    uses_private_format_name: bool | None = None
    """Whether the peer names the transactional queue by a private format name; None before the first message."""
    session_of_last_message: str | None = None
    """The session of the last message to the transactional queue."""
    progress_by_other_session: dict[str, SequenceProgress] = field(default_factory=dict)
    """The progress of the sequences on other sessions. It is used only for a system that treats the messages of each
    session as a separate sequence (erratum E41).
    """
    may_have_order_acks_of_other_sequences: bool = False
    """Whether the peer may have received OrderAcks that do not belong to the current sequence. They can belong to a
    sequence that ended together with its session (erratum E41), or to a sequence to a queue that refuses all its
    messages (erratum E40).
    """

    def has_other_session(self, session: str) -> bool:
        """Return whether the last message to the transactional queue did not arrive on the given session."""
        return self.session_of_last_message not in (None, session)

    def change_session(self, session: str) -> None:
        """Continue with the sequence that belongs to the given session."""
        self.progress_by_other_session[str(self.session_of_last_message)] = self.current_progress
        self.current_progress = (
            self.progress_by_other_session.pop(session)
            if session in self.progress_by_other_session
            else SequenceProgress()
        )


class TransferSessions(AdministrationTransitions, ReadTransitions, SendTransitions):
    """Sessions of the peer with a system that has two queues, one of which is transactional."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        for name, transactional in ((NAME_OF_NONTRANSACTIONAL_QUEUE, False), (TRANSACTIONAL_QUEUE_NAME, True)):
            self.queues[name] = Queue(name, transactional, quota_kb=RECEIVING_QUEUE_QUOTA_KB)
            self.queues[name].journal = Queue(f"{name};journal")
        self.sessions: dict[str, Session] = {}
        self.sequences = SequencesFromPeer()
        self.final_acks: list[dict[str, Any]] = []
        self.places: dict[str, dict[str, int]] = {}
        """The sequence numbers of each transactional message from the peer: the number of the message itself, and the
        number of the previous message.
        """
        self.messages_requesting_final_ack: set[str] = set()
        """The transactional messages whose bit FA requests a FinalAck."""
        self.nontransactional_messages_from_peer: dict[str, Message] = {}
        """The nontransactional messages that the peer sent, by name."""
        self.long_pauses = 0
        self.messages_present_at_restart: set[str] = set()
        """The messages that were in a queue of the system when the system restarted."""

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let enough time pass for the acknowledgments that a step causes."""
        self.now_ms += ms

    @transition("MQQB-3.1.5.5-07", needs=(), weight=3)
    def connect(self, session: str) -> None:
        """Let the peer open a session."""
        self.sessions[session] = Session(session)
        self.settle()
        self.answer_with_success()

    def draw_connect(self, chance: Random) -> dict[str, Any]:
        if sum(one.open for one in self.sessions.values()) >= MAX_SESSIONS:
            raise ImpossibleStep
        return {"session": f"s{self.steps}"}

    def find_open_session(self, session: str) -> Session:
        found: Session = self.find(self.sessions, session)
        if not found.open:
            raise ImpossibleStep
        return found

    def draw_session(self, chance: Random) -> str:
        return str(draw_one_value_or_refuse_step(chance, (one.name for one in self.sessions.values() if one.open)))

    @transition("MQQB-3.1.6.4-01", "MQQB-3.1.6.4-04", "MQQB-3.1.6.4-11", "MQQB-3.1.5.8.2-12", needs=(), weight=1)
    def rest_until_acknowledged(self) -> None:
        """Let enough time pass for the system to acknowledge express messages also."""
        if self.long_pauses == MAX_LONG_PAUSES:
            raise ImpossibleStep
        self.long_pauses += 1
        self.settle(EXPRESS_ACK_PAUSE_MS)
        for session in self.sessions.values():
            if session.open:
                session.acknowledged = session.received

    def draw_rest_until_acknowledged(self, chance: Random) -> dict[str, Any]:
        if self.long_pauses == MAX_LONG_PAUSES:
            raise ImpossibleStep
        return {}

    def describe_visible_state(self) -> dict[str, Any]:
        seen = super().describe_visible_state()
        del seen["queues"], seen["transactions"]
        for one in self.sessions.values():
            seen[one.name] = {
                "open": one.open,
                **({"acknowledged": ExpectedNumberBetweenBounds(one.acknowledged, one.received)} if one.open else {}),
                **({"recoverable": one.recoverable} if one.open else {}),
                "wrong headers": 0,
            }
        place = self.sequences.current_progress
        if place.number:
            if (
                not self.sequences.progress_by_other_session
                and not self.sequences.may_have_order_acks_of_other_sequences
            ):
                seen["order acks"] = place.describe()
            if place.rejected_message_count is not None and not self._may_have_ended():
                seen["transfer"] = {
                    "SequenceNumber": place.sequence_number_for_comparison,
                    "RejectCount": place.rejected_message_count,
                }
        seen["wrong times"], seen["wrong identifiers"] = [], []
        seen["final acks"] = sorted(self.final_acks, key=str)
        return seen

    def close_sessions(self, *names: str, restarted: bool = False) -> None:
        """Close sessions. The sequence from the peer may end with its session, or with any session of the peer
        (erratum E41).
        """
        for name in names:
            self.sessions[name].open = False
        if not names or not self.sequences.current_progress.number or self.choose_reading("E41", 3) != 2:
            return
        if self.sequences.session_of_last_message not in names and self.choose_reading(
            "reading of E41 when another session ends"
        ):
            return
        if restarted and self.choose_reading("reading of E41 when the system restarts"):
            return
        self.sequences.current_progress, self.sequences.may_have_order_acks_of_other_sequences = (
            SequenceProgress(),
            True,
        )

    def _may_have_ended(self) -> bool:
        """Return whether the sequence from the peer may have ended together with its session (erratum E41)."""
        session = self.sessions.get(str(self.sequences.session_of_last_message))
        return session is not None and not session.open and self.decisions.get("E41") != 0

    def acknowledge_final(self, message: str, cls: str) -> None:
        """Inform the sender about the outcome of a transactional message (MS-MQQB 3.1.7.17)."""
        self.cite_rules(*FINAL_ACK_RULES)
        place = self.places.get(message, {})
        self.final_acks.append({"of": message, "as": cls, "source": "peer", "priority": 0, **place})

    def draw_purge(self, chance: Random) -> dict[str, Any]:
        full = [
            name
            for name in (NAME_OF_NONTRANSACTIONAL_QUEUE, TRANSACTIONAL_QUEUE_NAME)
            if len(self.queues[name].positions) > 1
        ]
        if len(self.admin.positions) > 4:
            full.append(ADMIN_QUEUE_NAME)
        return {"queue": draw_one_value_or_refuse_step(chance, full)}
