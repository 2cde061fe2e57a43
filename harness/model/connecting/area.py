"""The area `connecting`, in which the system opens sessions to the peer, and the peer answers correctly or
incorrectly.

Spec: MS-MQQB 3.1.5.2, 3.1.5.3.2, 3.1.5.4.2, 3.1.5.9, 3.1.6.1, 3.1.6.6, 3.1.7.6, 3.1.7.8.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from harness.model.connecting.state import (
    ANSWERED,
    COOKIES,
    DIRECT,
    ESTABLISHING,
    IGNORED,
    MAX_SHOWN_ENTRIES,
    OPEN,
    PARAMETERS,
    PEER,
    PINGING,
    PRIVATE,
    REFUSED,
    UNKNOWN,
    ZERO,
    Destination,
)
from harness.model.steps import ImpossibleStep, Model, draw_one, transition
from harness.model.unused_fields import (
    BASE_FIELDS,
    ESTABLISH_FIELDS,
    INTERNAL_FIELDS,
    PARAMETERS_FIELDS,
    PING_FIELDS,
    draw_unused,
    list_rules,
)

NEEDED_CAPABILITIES = ("send", "queue_control", "set_timers")
REACTION_TIME_MS = 400
"""int ms: the duration of a step in which the system needs no timer."""
TIMER_MARGIN_MS = 300
PING_TIMEOUT_MS, RETRY_MS, INITIALIZATION_MS = 1_000, 5_000, 40_000
"""int ms: the durations of the Ping Response Timer, the Session Retry Connect Timer and the Session Initialization
Timer in this area.
"""
ACK_WAIT_MS = 20_000
"""int ms: AckWaitTimeout in this area. The Session Ack Wait Timer expires after a multiple of AckWaitTimeout
(3.1.2.4).
"""
_MULTIPLES_BY_ROUTE = {DIRECT: (2, 1, 3), PRIVATE: (1, 2, 3)}
"""The possible durations of the Session Ack Wait Timer for each kind of destination, as multiples of
AckWaitTimeout. Note <46> names the first multiple of each kind.
"""
DRAWN_WAITS_MS = (2_000, 6_500, 6_500, 14_000, 26_000, 45_000, 90_000)
MAX_MESSAGES = 6
WINDOW_SIZE = 64
"""The number of unacknowledged messages at which a sender stops sending (MS-MQQB 3.1.3.2, which requires this only
with SHOULD).
"""
VALID, REFUSAL, WRONG_CLIENT = "valid", "refusal", "wrong client"
"""The possible responses from the peer to a request for a session: a valid response, a response with CS set, and a
response with a wrong ClientGuid.
"""
OTHER_PACKETS = ("session ack", "order ack", "final ack", "message", "garbage")
"""Packets that the peer must not send while a session is set up."""
RETRY_RULES = ("MQQB-3.1.6.1-01", "MQQB-3.1.6.1-03", "MQQB-3.1.6.1-10", "MQQB-3.1.5.9-04", "MQQB-3.1.2.4-01")


class Connecting(Model):
    """The model of the sessions that the system opens."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        self.destinations = {name: Destination(name) for name in (DIRECT, PRIVATE, UNKNOWN)}
        self.pings = 0
        self.cookies: str | None = None
        """The order of the cookies of all pings, or None before the second ping."""
        self.ping_mode = ANSWERED
        self.offline = False

    # -- time ---------------------------------------------------------------------------------------------------------

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let time pass. Waits for responses end, and the system connects again."""
        until_ms = self.now_ms + ms
        self.check_time(until_ms)
        while due := self._list_due(until_ms):
            self.now_ms, one = min(due, key=lambda each: each[0])
            if self.now_ms == one.ack_due_ms:
                self._expire_ack_wait(one)
            else:
                self._end_wait(one)
            self.check_time(until_ms)
        self.now_ms = until_ms
        self.answers.setdefault("answer", "done")

    def _list_due(self, until_ms: int) -> list[tuple[int, Destination]]:
        waits = [(due, one) for one in self.destinations.values() for due in (one.due_ms, one.ack_due_ms)]
        return [(due, one) for due, one in waits if due is not None and due <= until_ms]

    def check_time(self, until_ms: int) -> None:
        """Raise ImpossibleStep if a wait of the system ends at about the given time, because the order of the events is
        then uncertain.
        """
        for one in self.destinations.values():
            for due_ms in (one.due_ms, one.ack_due_ms):
                if due_ms is not None and abs(due_ms - until_ms) < TIMER_MARGIN_MS:
                    raise ImpossibleStep

    def _start_ack_wait(self, destination: Destination) -> None:
        self.cite_rules("MQQB-3.1.7.1.3-27", "MQQB-3.1.2.4-01")
        multiples = _MULTIPLES_BY_ROUTE[destination.name]
        reading = self.decide(f"multiple of AckWaitTimeout for a {destination.name} name", len(multiples))
        destination.ack_due_ms = self.now_ms + multiples[reading] * ACK_WAIT_MS

    def _expire_ack_wait(self, destination: Destination) -> None:
        """Handle the expiry of the Session Ack Wait Timer (3.1.6.3) while messages are unacknowledged. If the
        session received no packet in the last period of the timer, close the session. Otherwise, start the timer
        again.
        """
        self.cite_rules("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-02", "MQQB-3.1.6.3-03", "MQQB-3.1.7.1.3-27")
        destination.ack_due_ms = None
        received = destination.received_ack and (destination.was_acknowledged or not self.decide("E50"))
        if destination.sent and not received:
            self._end_session(destination, None)
        elif destination.sent:
            self._start_ack_wait(destination)
        destination.received_ack = False

    def _end_wait(self, destination: Destination) -> None:
        if destination.phase == PINGING:
            self.cite_rules("MQQB-3.1.7.6-09", "MQQB-3.1.7.6-11", "MQQB-3.1.2.9-D01", "MQQB-3.1.5.2.2-06")
            self._end_session(destination, "PingFailure")
        elif destination.phase is None:
            self.cite_rules(*RETRY_RULES)
            self._try_to_open(destination, again=True)
        else:
            self.cite_rules("MQQB-3.1.6.6-01", "MQQB-3.1.5.2.3-15")
            if any(
                one.phase in (ESTABLISHING, PARAMETERS) and one.due_ms is None for one in self.destinations.values()
            ):
                raise ImpossibleStep  # E13: the expiry of a shared timer may also end the set-up of that session
            destination.due_ms = None
            self._end_early(destination)

    # -- attempts -----------------------------------------------------------------------------------------------------

    def _try_to_open(self, destination: Destination, *, again: bool) -> None:
        """Let the system try to open a session to a destination."""
        destination.due_ms = None
        if destination.name == UNKNOWN:
            self.cite_rules("MQQB-3.1.5.2.1-08", "MQQB-3.1.5.2.1-10", "MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2-01")
            self._end_session(destination, "DnsFailure")
            return
        destination.tried = True
        when = self.decide("when the initiator pings", 3)
        pings = when == 1 or (when == 0 and not again)
        if pings:
            self._send_ping()
            if self.ping_mode == REFUSED:
                self.cite_rules("MQQB-3.1.7.6-13", "MQQB-3.1.5.2.2-06", "MQQB-3.1.5.2.2-07")
                self._end_session(destination, "PingFailure")
                return
            if self.ping_mode == IGNORED:
                destination.phase, destination.due_ms = PINGING, self.now_ms + PING_TIMEOUT_MS
                return
        self.cite_rules("MQQB-3.1.5.2.3-02", "MQQB-3.1.5.2.3-14", "MQQB-3.1.5.2.3-16", "MQQB-3.1.5.2.3-08")
        destination.phase, destination.closed = ESTABLISHING, False
        self._start_initialization_timer(destination)
        if destination.name == DIRECT:
            named = (pings or again) and self.decide("E11") == 1
            destination.server = ZERO if not named else PEER if pings else None
        destination.connections += 1
        destination.came.clear()
        destination.history.append("InProcess")

    def _start_initialization_timer(self, destination: Destination) -> None:
        others = self._list_others_with_timer(destination)
        for one in (destination, *(others if others and self.decide("E13") else ())):
            one.due_ms = self.now_ms + INITIALIZATION_MS

    def _stop_initialization_timer(self, destination: Destination, *choices: str) -> None:
        others = self._list_others_with_timer(destination)
        is_shared = others and all(self.decide(choice) for choice in ("E13", *choices))
        for one in (destination, *(others if is_shared else ())):
            one.due_ms = None

    def _list_others_with_timer(self, destination: Destination) -> list[Destination]:
        """Return the other sessions for which the Session Initialization Timer runs. Under the second reading of E13,
        they share their timer with the session of this destination.
        """
        others = [one for one in self.destinations.values() if one is not destination]
        return [one for one in others if one.phase in (ESTABLISHING, PARAMETERS) and one.due_ms is not None]

    def _send_ping(self) -> None:
        """Let the system send a Ping Request. Its cookie shows whether PingCookie is reset for each session (E15).
        Raise ImpossibleStep if the peer answers the request while a request with the same cookie waits for its
        response.
        """
        self.pings += 1
        self.cite_rules("MQQB-3.1.5.2.2-02", "MQQB-3.1.7.6-08", "MQQB-3.1.7.6-12")
        if self.pings > 1:
            self.cookies = COOKIES[self.decide("E15")]
        waiting = any(one.phase == PINGING for one in self.destinations.values())
        if self.cookies == COOKIES[1] and waiting and self.ping_mode != IGNORED:
            raise ImpossibleStep

    def _end_session(self, destination: Destination, status: str | None) -> None:
        """End an attempt or a session. If messages wait, the system tries again after the retry time."""
        if status is not None:
            self.cite_rules("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02")
            destination.history.append(status)
        if destination.phase in (ESTABLISHING, PARAMETERS) and destination.due_ms is not None:
            self._stop_initialization_timer(destination, "E13 at the end of a session")
        destination.waiting[:0] = destination.sent
        destination.sent.clear()
        destination.ack_due_ms, destination.closed = (
            None,
            destination.closed or destination.phase not in (None, PINGING),
        )
        destination.phase = None
        destination.due_ms = (
            self.now_ms + RETRY_MS if destination.waiting and not destination.paused and not self.offline else None
        )

    def _end_early(self, destination: Destination) -> None:
        """End the set-up of a session before the session is open. The documents define no Status of
        ConnectionHistory for this case (3.1.5.2).
        """
        recorded = self.decide("entry of a session that ends before it is open")
        self._end_session(destination, "UnknownFailure" if recorded else None)

    def _find_limit(self, destination: Destination) -> int:
        """Return the number of unacknowledged messages at which the system stops sending. The WindowSize may be that of
        the system or that of the peer (E25).
        """
        if len(destination.sent) < destination.window:
            return WINDOW_SIZE
        reading = self.decide("E25", 3)
        by_peer = reading == 1 or (reading == 2 and destination.was_acknowledged)
        return destination.window if by_peer else WINDOW_SIZE

    def _send_waiting(self, destination: Destination) -> None:
        """Let the system send as many of the waiting messages on an open session as the window permits."""
        while (
            destination.phase == OPEN
            and not destination.paused
            and destination.waiting
            and len(destination.sent) < self._find_limit(destination)
        ):
            self.cite_rules("MQQB-3.1.7.1-03", "MQQB-3.1.7.12-14")
            destination.sent.append(destination.waiting.pop(0))
            destination.came.append(destination.sent[-1])
            if destination.ack_due_ms is None:
                self._start_ack_wait(destination)

    # -- messages -----------------------------------------------------------------------------------------------------

    @transition(
        "MQQB-3.1.7.12-06",
        "MQQB-3.1.7.12-15",
        "MQQB-3.1.5.2.3-09",
        needs=NEEDED_CAPABILITIES,
        weight=6,
        delivery="express",
    )
    def send(self, message: str, to: str, delivery: str) -> None:
        """Let an application send a message to a queue of the peer, or to a queue on an unknown host."""
        one = self.destinations[to]
        if one.phase is None and one.due_ms is not None and to != UNKNOWN:
            raise ImpossibleStep  # the documents leave open whether a new message causes an attempt at once
        one.waiting.append(message)
        if one.phase is None and one.due_ms is None and not one.paused and not self.offline:
            self._try_to_open(one, again=False)
        self._send_waiting(one)
        self.settle()

    def draw_send(self, chance: Random) -> dict[str, Any]:
        return self._draw_send(chance, (DIRECT, DIRECT, DIRECT, UNKNOWN))

    def _draw_send(self, chance: Random, names: tuple[str, ...]) -> dict[str, Any]:
        one = self.destinations[chance.choice(names)]
        if len(one.waiting) + len(one.sent) >= MAX_MESSAGES:
            raise ImpossibleStep
        self.check_time(self.now_ms + REACTION_TIME_MS)
        delivery = chance.choice(("express", "recoverable"))
        return {"message": f"m{self.steps}", "to": one.name, "delivery": delivery}

    @transition(
        "MQQB-3.1.7.12-06",
        "MQQB-3.1.5.2.3-08",
        needs=(*NEEDED_CAPABILITIES, "private_names"),
        weight=4,
        delivery="express",
    )
    def send_private(self, message: str, to: str, delivery: str) -> None:
        """Let an application send a message to a queue of the peer by its private format name."""
        self.send(message, to, delivery)

    def draw_send_private(self, chance: Random) -> dict[str, Any]:
        return self._draw_send(chance, (PRIVATE,))

    @transition("MQQB-3.1.7.1-03", "MQQB-3.1.7.12-14", "MQQB-3.1.7.12-15", needs=NEEDED_CAPABILITIES, weight=1)
    def burst(self, messages: list[str], to: str) -> None:
        """Let applications send more messages on an open session than the window permits."""
        one = self.find(to, OPEN)
        one.waiting += messages
        self._send_waiting(one)
        self.settle()

    def draw_burst(self, chance: Random) -> dict[str, Any]:
        to = self._draw_in(chance, OPEN)
        number = chance.randint(WINDOW_SIZE, WINDOW_SIZE + 3)
        if len(self.destinations[to].waiting) > MAX_MESSAGES:
            raise ImpossibleStep
        return {"messages": [f"m{self.steps}-{each}" for each in range(number)], "to": to}

    @transition(
        "MQQB-3.1.5.5.1-01",
        "MQQB-3.1.5.5.1-02",
        "MQQB-3.1.5.5.2-01",
        "MQQB-3.1.7.1-03",
        needs=NEEDED_CAPABILITIES,
        weight=6,
    )
    def acknowledge(self, to: str, number: int) -> None:
        """Let the peer acknowledge the first messages of a session."""
        one = self.find(to, OPEN)
        if number > len(one.sent):
            raise ImpossibleStep
        del one.sent[:number]
        one.received_ack = one.was_acknowledged = True
        if one.sent:
            self._start_ack_wait(one)
        again = list(one.sent)
        self._send_waiting(one)
        if again and self.decide("E65"):
            if one.paused or len(one.sent) > len(again):
                raise ImpossibleStep  # open: the order of the messages, and which acknowledgments name waiting copies
            one.came += again
        self.settle()

    def draw_acknowledge(self, chance: Random) -> dict[str, Any]:
        one = draw_one(chance, (one for one in self.destinations.values() if one.phase == OPEN and one.sent))
        return {"to": one.name, "number": chance.choice((len(one.sent), chance.randint(1, len(one.sent))))}

    # -- answers of the peer -----------------------------------------------------------------------------------------

    def find(self, to: str, phase: str) -> Destination:
        """Return a destination; raise ImpossibleStep if its session is not in the given phase."""
        one = self.destinations[to]
        if one.phase != phase:
            raise ImpossibleStep
        return one

    @transition(
        "MQQB-3.1.5.3.2-D01",
        "MQQB-3.1.5.2.3-13",
        "MQQB-3.1.5.3.2-01",
        needs=NEEDED_CAPABILITIES,
        weight=10,
        how=VALID,
        unused=[],
    )
    def respond(self, to: str, how: str, unused: list[str]) -> None:
        """Let the peer answer an EstablishConnection request, or send another packet instead. ``unused``: the unused
        bits and fields that the peer sets in a valid response.
        """
        one = self.find(to, ESTABLISHING)
        self.cite_rules(*list_rules(unused))
        if how == VALID:
            self.cite_rules("MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-15", "MQQB-3.1.5.3.2-D02", "MQQB-3.1.5.3.2-12")
            one.phase = PARAMETERS
            if self.decide("whether the second request starts the Session Initialization Timer again"):
                self._start_initialization_timer(one)
            one.history.append("EstablishPacketReceived")
        elif how in (REFUSAL, WRONG_CLIENT):
            self._end_session(one, "ConnectionRefused" if how == REFUSAL else "UnknownFailure")
        else:
            self._cite_closing_packet(how)
            self._end_early(one)
        self.settle()

    def draw_respond(self, chance: Random) -> dict[str, Any]:
        how = chance.choice((*(VALID,) * 13, REFUSAL, WRONG_CLIENT, "parameters", *OTHER_PACKETS))
        unused = draw_unused(chance, BASE_FIELDS, INTERNAL_FIELDS, ESTABLISH_FIELDS) if how == VALID else []
        return {"to": self._draw_in(chance, ESTABLISHING), "how": how, "unused": unused}

    def _draw_in(self, chance: Random, *phases: str) -> str:
        self.check_time(self.now_ms + REACTION_TIME_MS)
        return str(draw_one(chance, (name for name, one in self.destinations.items() if one.phase in phases)))

    def _cite_closing_packet(self, how: str) -> None:
        rules = {
            "session ack": ("MQQB-3.1.5.5-01",),
            "order ack": ("MQQB-3.1.5.6-01",),
            "final ack": ("MQQB-3.1.5.7-01",),
            "message": ("MQQB-3.1.5.8-01",),
            "garbage": ("MQQB-3.1.5.1-05",),
            "parameters": ("MQQB-3.1.5.4-01",),
            "establish": ("MQQB-3.1.5.3-01",),
        }
        self.cite_rules(*rules[how])

    @transition(
        "MQQB-3.1.5.3.2-14", "MQQB-3.1.5.4.2-D01", needs=NEEDED_CAPABILITIES, weight=10, how=VALID, window=64, unused=[]
    )
    def parametrize(self, to: str, how: str, window: int, unused: list[str]) -> None:
        """Let the peer answer a ConnectionParameters request, or send another packet instead. ``unused``: the unused
        bits and fields that the peer sets in a valid response.
        """
        one = self.find(to, PARAMETERS)
        self.cite_rules(*list_rules(unused))
        if how == VALID:
            self.cite_rules("MQQB-3.1.5.4.2-01", "MQQB-3.1.5.4.2-06", "MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-08")
            self.cite_rules("MQQB-3.1.5.4.2-09", "MQQB-3.1.5.4.2-05")
            self._stop_initialization_timer(one)
            one.phase, one.received_ack, one.window = OPEN, True, window
            one.was_acknowledged = False
            one.history.append("Established")
            self._send_waiting(one)
        else:
            self._cite_closing_packet(how)
            self._end_early(one)
        self.settle()

    def draw_parametrize(self, chance: Random) -> dict[str, Any]:
        how = chance.choice((*(VALID,) * 13, "establish", *OTHER_PACKETS))
        unused = draw_unused(chance, BASE_FIELDS, INTERNAL_FIELDS, PARAMETERS_FIELDS) if how == VALID else []
        window = chance.choice((1, 2, 3, 64, 64))
        return {"to": self._draw_in(chance, PARAMETERS), "how": how, "window": window, "unused": unused}

    @transition("MQQB-3.1.7.3-01", "MQQB-3.1.5.9-04", "MQQB-3.1.5.9-03", needs=NEEDED_CAPABILITIES, weight=3)
    def hang_up(self, to: str) -> None:
        """Let the peer close the connection of a session, in any phase."""
        one = self.destinations[to]
        if one.phase not in (ESTABLISHING, PARAMETERS, OPEN):
            raise ImpossibleStep
        if one.phase == OPEN:
            self._end_session(one, None)
        else:
            self._end_early(one)
        self.settle()

    def draw_hang_up(self, chance: Random) -> dict[str, Any]:
        return {"to": self._draw_in(chance, ESTABLISHING, PARAMETERS, OPEN)}

    @transition("MQQB-3.1.7.8-05", "MQQB-3.1.7.6-12", "MQQB-3.1.7.8-06", needs=NEEDED_CAPABILITIES, weight=3, unused=[])
    def treat_pings(self, how: str, unused: list[str]) -> None:
        """Let the peer answer, refuse or ignore Ping Requests from now on. Before and after each Ping Response, the
        peer sends datagrams that the SUT must ignore. ``unused``: the unused bits that the peer sets in Ping Responses.
        """
        self.cite_rules(*list_rules(unused))
        self.ping_mode = how
        self.settle()

    def draw_treat_pings(self, chance: Random) -> dict[str, Any]:
        self.check_time(self.now_ms + REACTION_TIME_MS)
        usual = ANSWERED if self.ping_mode != ANSWERED else REFUSED
        return {"how": chance.choice((usual, usual, ANSWERED, IGNORED)), "unused": draw_unused(chance, PING_FIELDS)}

    # -- administrators, and time -----------------------------------------------------------------------------------

    @transition("MQQB-3.1.7.13-13", "MQQB-3.1.7.12-04", needs=(*NEEDED_CAPABILITIES, "pause"), weight=3)
    def pause(self, to: str) -> None:
        """Let an administrator pause an outgoing queue whose session is open."""
        one = self.find(to, OPEN)
        if one.paused:
            raise ImpossibleStep
        one.paused = True
        self.settle()

    def draw_pause(self, chance: Random) -> dict[str, Any]:
        self.check_time(self.now_ms + REACTION_TIME_MS)
        ready = (name for name, one in self.destinations.items() if one.phase == OPEN and not one.paused)
        return {"to": draw_one(chance, ready)}

    @transition("MQQB-3.1.7.1-02", "MQDMPR-3.1.4.15-03", needs=(*NEEDED_CAPABILITIES, "pause"), weight=4)
    def resume(self, to: str) -> None:
        """Let an administrator resume a paused outgoing queue whose session is still open."""
        one = self.find(to, OPEN)
        if not one.paused:
            raise ImpossibleStep
        one.paused = False
        self._send_waiting(one)
        self.settle()

    def draw_resume(self, chance: Random) -> dict[str, Any]:
        self.check_time(self.now_ms + REACTION_TIME_MS)
        paused = (name for name, one in self.destinations.items() if one.phase == OPEN and one.paused)
        return {"to": draw_one(chance, paused)}

    @transition("MQDMPR-3.1.2.4-01", "MQQB-3.1.6.1-01", needs=NEEDED_CAPABILITIES, weight=6)
    def wait(self, ms: int) -> None:
        """Let time pass."""
        self.settle(ms)

    def draw_wait(self, chance: Random) -> dict[str, Any]:
        ms = chance.choice(DRAWN_WAITS_MS)
        self.check_time(self.now_ms + ms)
        return {"ms": ms}

    # -- visible state -----------------------------------------------------------------------------------------------

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the outgoing queues and the sessions."""
        seen: dict[str, Any] = {"pings": self.pings, "wrong pings": 0}
        if self.cookies is not None:
            seen["cookies of pings"] = self.cookies
        for name, one in self.destinations.items():
            seen[name] = described = {
                "connections": one.connections,
                "history": one.history[-MAX_SHOWN_ENTRIES:],
                "waiting": len(one.waiting) + len(one.sent),
                **({} if one.state is None else {"state": one.state}),
            }
            if one.connections:
                described |= {"came": list(one.came), "closed": one.closed, "wrong packets": 0}
                described |= {} if one.server is None else {"server": one.server}
                packets = {ESTABLISHING: 1, PARAMETERS: 2}
                described |= {"set-up": packets[one.phase]} if one.phase in packets else {}
        return seen
