"""The area `sessions`, in which a peer sends every kind of packet in every state of several concurrent sessions.

Spec: MS-MQQB 3.1.5.1 to 3.1.5.10, 3.1.6.4, 3.1.6.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds
from harness.model.sessions.pings import PingTransitions
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.unused_fields import (
    RULE_BY_UNUSED_BASE_HEADER_FIELD,
    RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD,
    RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD,
    RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
    draw_unused_fields,
    list_rules_about_unused_fields,
)

REACTION_TIME_MS = 1_000
"""int ms: the duration of a step, which is long enough for the system to acknowledge recoverable messages."""
EXPRESS_ACK_PAUSE_MS = 12_000
"""int ms: a pause that is long enough for the system to acknowledge express messages also."""
INITIALIZATION_TIMEOUT_MS = 40_000
"""int ms: the duration of the Session Initialization Timer in this area."""
TIMER_MARGIN_MS = 2_500
MAX_SESSIONS = 4
MAX_MESSAGES_NAMED_BY_ACK = 32
"""The maximum number of recoverable messages that one acknowledgment can name (MS-MQMQ 2.2.20.4)."""
CONNECTED_SESSION_STATE, ESTABLISHED_SESSION_STATE, OPEN_SESSION_STATE, REFUSED_SESSION_STATE, CLOSED_SESSION_STATE = (
    "connected",
    "established",
    "open",
    "refused",
    "closed",
)
OWN_SERVER_GUID, NULL_SERVER_GUID, FOREIGN_SERVER_GUID = "own", "null", "foreign"
"""The kinds of ServerGuid in a request: the system's identifier, zero, or a foreign identifier."""
SERVER_GUID_LIKE_OWN_AT_START, SERVER_GUID_LIKE_OWN_AT_END = "like own at the start", "like own at the end"
"""Foreign identifiers that differ from the system's identifier only in the last byte, or only in the first byte."""


@dataclass(eq=False, slots=True)
class Session:
    """A connection from the peer. ``answers``: the packets that the system sent during the set-up of the session.
    ``uncounted_message_count``: the number of recoverable messages that the system did not count because it refused
    them (erratum E19).
    """

    name: str
    state: str = CONNECTED_SESSION_STATE
    due_ms: int | None = None
    received: int = 0
    recoverable: int = 0
    uncounted_message_count: int = 0
    acknowledged: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)

    @property
    def has_timer(self) -> bool:
        """Whether the Session Initialization Timer runs for the session."""
        return self.state in (CONNECTED_SESSION_STATE, ESTABLISHED_SESSION_STATE) and self.due_ms is not None


class SessionsModel(PingTransitions):
    """The model of the sessions that the system accepts."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        self.sessions: dict[str, Session] = {}

    def find_live_session(self, name: str) -> Session:
        """Return the session with the given name; raise ImpossibleStep if it is missing or closed, or if its timer may
        have expired.
        """
        found = self.sessions.get(name)
        if (
            found is None
            or found.state in (CLOSED_SESSION_STATE, REFUSED_SESSION_STATE)
            or self.may_timer_expire_now(found)
        ):
            raise ImpossibleStep
        return found

    def may_timer_expire_now(self, session: Session) -> bool:
        """Return whether the timer of a session may expire now, which makes the session's state uncertain."""
        return session.has_timer and abs((session.due_ms or 0) - self.now_ms) < TIMER_MARGIN_MS

    def draw_live_session(self, chance: Random, *states: str) -> str:
        """Choose a session at random. In most cases, the state of the chosen session allows the next packet of the
        set-up.
        """
        open_ones = (
            one for one in self.sessions.values() if one.state not in (CLOSED_SESSION_STATE, REFUSED_SESSION_STATE)
        )
        live = [one for one in open_ones if not self.may_timer_expire_now(one)]
        fitting = [one for one in live if one.state in states]
        return str(draw_one_value_or_refuse_step(chance, fitting if chance.random() < 0.93 else live).name)

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let time pass. The system closes each session whose Session Initialization Timer expires."""
        self.now_ms += ms
        for one in self.sessions.values():
            if one.has_timer and (one.due_ms or 0) < self.now_ms and not self.may_timer_expire_now(one):
                if any(
                    each.state in (CONNECTED_SESSION_STATE, ESTABLISHED_SESSION_STATE) and each.due_ms is None
                    for each in self.sessions.values()
                ):
                    raise ImpossibleStep  # E13: the expiry of a shared timer may also end the set-up of that session
                self.cite_rules("MQQB-3.1.6.6-01")
                one.due_ms = None
                self.close(one)

    def start_timer(self, session: Session) -> None:
        """Start the Session Initialization Timer of a session. The documents leave open whether all sessions share one
        timer (erratum E13), and whether a timer starts for a refused session that the system closes at once (erratum
        E12).
        """
        others = self.list_other_sessions_with_timer(session)
        if others and self.choose_reading("E13"):
            due_ms = self.now_ms + INITIALIZATION_TIMEOUT_MS
            refused = session.state == REFUSED_SESSION_STATE and self.choose_reading(
                "effect of a refused request on the shared timer", 3
            )
            for one in others:
                one.due_ms = (due_ms, one.due_ms, None)[refused]
        session.due_ms = self.now_ms + INITIALIZATION_TIMEOUT_MS

    def stop_timer(self, session: Session, *choices: str) -> None:
        """Stop the Session Initialization Timer of a session."""
        others = self.list_other_sessions_with_timer(session)
        stopped = ("reading of E13 for a session whose timer was stopped",) if session.due_ms is None else ()
        session.due_ms = None
        if others and all(self.choose_reading(choice) for choice in ("E13", *choices, *stopped)):
            for one in others:
                one.due_ms = None

    def list_other_sessions_with_timer(self, session: Session) -> list[Session]:
        """Return the other sessions whose Session Initialization Timer runs. Raise ImpossibleStep if one of these
        timers may expire now, and the sessions share one timer.
        """
        others = [one for one in self.sessions.values() if one is not session and one.has_timer]
        if any(map(self.may_timer_expire_now, others)) and self.choose_reading("E13"):
            raise ImpossibleStep
        return others

    def close(self, session: Session) -> None:
        self.cite_rules("MQQB-3.1.5.9-D02")
        if session.has_timer:
            self.stop_timer(session, "reading of E13 when a session ends")
        session.state = CLOSED_SESSION_STATE

    # -- set-up of sessions -----------------------------------------------------------------------------------------

    @transition("MQQB-3.1.5.10-01", "MQQB-3.1.5.10-03", needs=(), weight=2)
    def connect(self, session: str) -> None:
        """Let the peer connect."""
        self.sessions[session] = Session(session)
        self.start_timer(self.sessions[session])
        self.settle()

    def draw_connect(self, chance: Random) -> dict[str, Any]:
        if (
            sum(one.state not in (CLOSED_SESSION_STATE, REFUSED_SESSION_STATE) for one in self.sessions.values())
            >= MAX_SESSIONS
        ):
            raise ImpossibleStep
        return {"session": f"s{self.steps}"}

    @transition(
        "MQQB-3.1.5.3.1-02",
        "MQQB-3.1.5.3.1-05",
        "MQQB-3.1.5.3.1-08",
        "MQQB-3.1.5.3.1-09",
        "MQQB-3.1.5.3.1-10",
        needs=(),
        weight=7,
        server=NULL_SERVER_GUID,
        stamp=1,
        se=1,
        ignored=[],
    )
    def establish(self, session: str, server: str, client: str, stamp: int, se: int, ignored: list[str]) -> None:
        """Let the peer send an EstablishConnection request."""
        one = self.find_live_session(session)
        self.cite_rules(*list_rules_about_unused_fields(ignored))
        if one.state != CONNECTED_SESSION_STATE:
            self.cite_rules("MQQB-3.1.5.3-01")
            self.close(one)
        else:
            refused = server not in (OWN_SERVER_GUID, NULL_SERVER_GUID)
            self.cite_rules("MQQB-3.1.5.3.1-07" if refused else "MQQB-3.1.5.3.1-06")
            answered = server if refused and self.choose_reading("E10") else OWN_SERVER_GUID
            told = {"refused": refused, "client": client, "server": answered, "stamp": stamp, "se": se}
            one.answers.append({"kind": "EstablishConnection", **told})
            one.state = REFUSED_SESSION_STATE if refused else ESTABLISHED_SESSION_STATE
            if self.choose_reading("event that starts the Session Initialization Timer") == 0:
                self.start_timer(one)
        self.settle()

    def draw_establish(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_live_session(chance, CONNECTED_SESSION_STATE),
            "server": chance.choice(
                (
                    OWN_SERVER_GUID,
                    OWN_SERVER_GUID,
                    OWN_SERVER_GUID,
                    NULL_SERVER_GUID,
                    NULL_SERVER_GUID,
                    NULL_SERVER_GUID,
                    NULL_SERVER_GUID,
                    FOREIGN_SERVER_GUID,
                    SERVER_GUID_LIKE_OWN_AT_START,
                    SERVER_GUID_LIKE_OWN_AT_END,
                )
            ),
            "client": chance.choice(("peer", "peer", "other")),
            "stamp": chance.choice((1, 0xFFFFFFFF, chance.randrange(1 << 32))),
            "se": chance.choice((0, 1)),
            "ignored": draw_unused_fields(
                chance,
                RULE_BY_UNUSED_BASE_HEADER_FIELD,
                RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
                RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD,
            ),
        }

    @transition(
        "MQQB-3.1.5.4.1-05",
        "MQQB-3.1.5.4.1-09",
        "MQQB-3.1.5.4.1-10",
        "MQQB-3.1.5.4.1-12",
        "MQQB-3.1.5.4.1-13",
        needs=(),
        weight=8,
        window=64,
        recoverable_ms=500,
        ignored=[],
    )
    def parametrize(self, session: str, recoverable_ms: int, window: int, ignored: list[str]) -> None:
        """Let the peer send a ConnectionParameters request."""
        one = self.find_live_session(session)
        self.cite_rules(*list_rules_about_unused_fields(ignored))
        if one.state != ESTABLISHED_SESSION_STATE:
            self.cite_rules("MQQB-3.1.5.4-01")
            self.close(one)
        else:
            one.answers.append({"kind": "ConnectionParameters", "refused": False, "recoverable_ms": recoverable_ms})
            one.state = OPEN_SESSION_STATE
            self.stop_timer(one)
        self.settle()

    def draw_parametrize(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_live_session(chance, ESTABLISHED_SESSION_STATE),
            "recoverable_ms": chance.choice((500, 500, 600, 700)),
            "window": chance.choice((1, 64, 0xFFFF)),
            "ignored": draw_unused_fields(
                chance,
                RULE_BY_UNUSED_BASE_HEADER_FIELD,
                RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
                RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD,
            ),
        }

    # -- packets of an open session -----------------------------------------------------------------------------------

    @transition(
        "MQQB-3.1.5.8-01", "MQQB-3.1.5.8.2-02", "MQQB-3.1.6.4-04", needs=(), weight=12, recoverable=False, wrong=None
    )
    def send(self, session: str, recoverable: bool, wrong: int | None) -> None:
        """Let the peer send a message to a missing queue. The system counts the message, but does not store it.
        ``wrong``: the amount by which the count in the message's SessionHeader is too high, or None for a message
        without a SessionHeader.
        """
        one = self.find_live_session(session)
        if recoverable and wrong is not None:
            raise ImpossibleStep  # E20: the documents leave open whether the count includes a recoverable message
        if recoverable and one.state == OPEN_SESSION_STATE and self.choose_reading("E19"):
            self.refuse_messages_without_counting(one)
        else:
            self.count(one, recoverable)
        if wrong is not None:
            self.cite_rules("MQQB-3.1.5.8.4-01", "MQQB-3.1.5.5.5-01", "MQMQ-2.2.20.4-D03")
        if wrong or (wrong is not None and one.uncounted_message_count):
            self.close(one)
        self.settle()

    def refuse_messages_without_counting(self, session: Session, number: int = 1) -> None:
        """Refuse recoverable messages without counting them as recoverable messages."""
        session.received += number
        session.uncounted_message_count += number

    def draw_send(self, chance: Random) -> dict[str, Any]:
        session, recoverable = self.draw_live_session(chance, OPEN_SESSION_STATE), chance.random() < 0.6
        wrong = chance.choice((None,) * 4 + (0,) * 4 + (1, 0xFFFF, 0x8000))
        return {"session": session, "recoverable": recoverable, "wrong": None if recoverable else wrong}

    def count(self, session: Session, recoverable: bool) -> None:
        """Count a message from the peer if its session is open; otherwise close the session."""
        if session.state != OPEN_SESSION_STATE:
            self.close(session)
            return
        session.received += 1
        if recoverable:
            self.cite_rules(
                "MQQB-3.1.5.8.7-13", "MQQB-3.1.5.8.7-14", "MQQB-3.1.5.8.7-15", "MQQB-3.1.6.4-02", "MQQB-3.1.6.4-03"
            )
            self.cite_rules(
                "MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07", "MQQB-3.1.6.4-08", "MQQB-3.1.6.4-09", "MQQB-3.1.6.4-10"
            )
            session.recoverable += 1
            session.acknowledged = session.received

    @transition(
        "MQQB-3.1.5.8.7-02",
        "MQQB-3.1.5.8.7-05",
        "MQQB-3.1.5.8.7-07",
        "MQQB-3.1.5.8.7-09",
        "MQQB-3.1.5.8.7-11",
        needs=(),
    )
    def burst(self, session: str, number: int) -> None:
        """Let the peer send more recoverable messages than one acknowledgment can name."""
        one = self.find_live_session(session)
        if one.state != OPEN_SESSION_STATE:
            raise ImpossibleStep
        if self.choose_reading("E19"):
            self.refuse_messages_without_counting(one, number)
            at_once = ExpectedNumberBetweenBounds(one.acknowledged, one.received)
        else:
            at_once = ExpectedNumberBetweenBounds(one.received + MAX_MESSAGES_NAMED_BY_ACK, one.received + number)
            one.received += number
            one.recoverable += number
            one.acknowledged = one.received
        self.answers["answer"] = {"at once": at_once}
        self.settle()

    def draw_burst(self, chance: Random) -> dict[str, Any]:
        open_ones = (one.name for one in self.sessions.values() if one.state == OPEN_SESSION_STATE)
        return {
            "session": draw_one_value_or_refuse_step(chance, open_ones),
            "number": chance.randint(MAX_MESSAGES_NAMED_BY_ACK + 1, MAX_MESSAGES_NAMED_BY_ACK + 8),
        }

    @transition(
        "MQQB-3.1.5.5-01",
        "MQQB-3.1.5.5-07",
        "MQQB-3.1.5.5.5-01",
        needs=(),
        weight=6,
        wrong=0,
        wrong_recoverable=0,
        ignored=[],
    )
    def acknowledge(self, session: str, wrong: int, wrong_recoverable: int, ignored: list[str]) -> None:
        """Let the peer send a SessionAck. Its counts of the system's messages may be wrong."""
        one = self.find_live_session(session)
        self.cite_rules(*list_rules_about_unused_fields(ignored))
        if one.state != OPEN_SESSION_STATE or wrong or wrong_recoverable + one.uncounted_message_count & 0xFFFF:
            self.close(one)
        self.settle()

    def draw_acknowledge(self, chance: Random) -> dict[str, Any]:
        wrong = chance.choice((0,) * 12 + (1, 0xFFFF, 0x8000))
        wrong_recoverable = 0 if wrong else chance.choice((0,) * 12 + (1, 0xFFFF, 0x8000))
        session = self.draw_live_session(chance, OPEN_SESSION_STATE)
        ignored = draw_unused_fields(chance, RULE_BY_UNUSED_BASE_HEADER_FIELD, RULE_BY_UNUSED_INTERNAL_HEADER_FIELD)
        return {"session": session, "wrong": wrong, "wrong_recoverable": wrong_recoverable, "ignored": ignored}

    @transition("MQQB-3.1.5.6-01", "MQQB-3.1.5.7-01", "MQQB-3.1.5.8.2-02", needs=(), weight=4, final=False)
    def offer_order_ack(self, session: str, final: bool) -> None:
        """Let the peer send an OrderAck or a FinalAck for a message that the system never sent."""
        self.count(self.find_live_session(session), final)
        self.settle()

    def draw_offer_order_ack(self, chance: Random) -> dict[str, Any]:
        return {"session": self.draw_live_session(chance, OPEN_SESSION_STATE), "final": chance.random() < 0.5}

    @transition("MQQB-3.1.5.1-05", "MQQB-3.1.5.1-04", needs=(), weight=1)
    def garble(self, session: str, how: str) -> None:
        """Let the peer send an invalid packet. The system closes the session, whatever its state."""
        self.close(self.find_live_session(session))
        self.settle()

    def draw_garble(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_live_session(
                chance, CONNECTED_SESSION_STATE, ESTABLISHED_SESSION_STATE, OPEN_SESSION_STATE
            ),
            "how": chance.choice(("signature", "version")),
        }

    @transition("MQQB-3.1.5.9-D01", needs=(), weight=1)
    def hang_up(self, session: str) -> None:
        """Let the peer close a connection."""
        self.close(self.find_live_session(session))
        self.settle()

    def draw_hang_up(self, chance: Random) -> dict[str, Any]:
        return {
            "session": self.draw_live_session(
                chance, CONNECTED_SESSION_STATE, ESTABLISHED_SESSION_STATE, OPEN_SESSION_STATE
            )
        }

    @transition("MQQB-3.1.6.4-01", "MQQB-3.1.6.4-11", "MQQB-3.1.5.8.2-12", needs=("set_timers",), weight=1)
    def rest_until_acknowledged(self) -> None:
        """Let enough time pass for the system to acknowledge express messages."""
        self.settle(EXPRESS_ACK_PAUSE_MS)
        for one in self.sessions.values():
            one.acknowledged = one.received

    def draw_rest_until_acknowledged(self, chance: Random) -> dict[str, Any]:
        return {}

    def describe_visible_state(self) -> dict[str, Any]:
        return {one.name: self._describe_session(one) for one in self.sessions.values()}

    def _describe_session(self, session: Session) -> dict[str, Any]:
        seen: dict[str, Any] = {"answers": list(session.answers)}
        if session.state != REFUSED_SESSION_STATE and not self.may_timer_expire_now(session):
            seen["open"] = session.state != CLOSED_SESSION_STATE
        if session.state == OPEN_SESSION_STATE:
            seen |= {
                "acknowledged": ExpectedNumberBetweenBounds(session.acknowledged, session.received),
                "recoverable": session.recoverable,
                "wrong headers": 0,
            }
        return seen
