"""The area `connecting`, in which the system opens sessions to the peer, and the peer answers correctly or
incorrectly.

Spec: MS-MQQB 3.1.5.2, 3.1.5.3.2, 3.1.5.4.2, 3.1.5.9, 3.1.6.1, 3.1.6.6, 3.1.7.6, 3.1.7.8.
"""

from __future__ import annotations

from random import Random
from typing import Any

from harness.model.agreement import ExpectedNumberBetweenBounds
from harness.model.connecting.attempts import REACTION_TIME_MS, WINDOW_SIZE, SessionAttempts
from harness.model.connecting.state import (
    DIRECT_DESTINATION,
    MAX_COMPARED_HISTORY_ENTRIES,
    PINGS_ANSWERED,
    PINGS_IGNORED,
    PINGS_REFUSED,
    PRIVATE_DESTINATION,
    SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE,
    SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE,
    SESSION_PHASE_OPEN,
    UNKNOWN_HOST_DESTINATION,
    ModelDestination,
)
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition
from harness.model.unused_fields import (
    RULE_BY_UNUSED_BASE_HEADER_FIELD,
    RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD,
    RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD,
    RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
    RULE_BY_UNUSED_PING_FIELD,
    draw_unused_fields,
    list_rules_about_unused_fields,
)

NEEDED_CAPABILITIES = ("send", "queue_control", "set_timers")
WAITS_TO_DRAW_FROM_MS = (2_000, 6_500, 6_500, 14_000, 26_000, 45_000, 90_000)
MAX_MESSAGES_PER_DESTINATION = 6
MAX_MESSAGES_NAMED_BY_ACK = 32
"""The maximum number of recoverable messages that one acknowledgment can name (MS-MQMQ 2.2.20.4)."""
VALID_RESPONSE, RESPONSE_WITH_REFUSAL, RESPONSE_WITH_WRONG_CLIENT_GUID = "valid", "refusal", "wrong client"
"""The possible responses from the peer to a request for a session: a valid response, a response with CS set, and a
response with a wrong ClientGuid.
"""
PACKETS_FORBIDDEN_DURING_SESSION_SETUP = ("session ack", "order ack", "final ack", "message", "garbage")
"""Packets that the peer must not send while a session is set up."""


class ConnectingModel(SessionAttempts):
    """The model of the sessions that the system opens."""

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
        if one.phase is None and one.end_of_wait_ms is not None and to != UNKNOWN_HOST_DESTINATION:
            raise ImpossibleStep  # the documents leave open whether a new message causes an attempt at once
        one.waiting_messages.append(message)
        if one.phase is None and one.end_of_wait_ms is None and not one.paused and not self.offline:
            self.try_to_open_session(one, again=False)
        self.send_waiting_messages(one)
        self.settle()

    def draw_send(self, chance: Random) -> dict[str, Any]:
        return self._draw_send_arguments(
            chance, (DIRECT_DESTINATION, DIRECT_DESTINATION, DIRECT_DESTINATION, UNKNOWN_HOST_DESTINATION)
        )

    def _draw_send_arguments(self, chance: Random, names: tuple[str, ...]) -> dict[str, Any]:
        one = self.destinations[chance.choice(names)]
        if len(one.waiting_messages) + len(one.unacknowledged_messages) >= MAX_MESSAGES_PER_DESTINATION:
            raise ImpossibleStep
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
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
        return self._draw_send_arguments(chance, (PRIVATE_DESTINATION,))

    @transition("MQQB-3.1.7.1-03", "MQQB-3.1.7.12-14", "MQQB-3.1.7.12-15", needs=NEEDED_CAPABILITIES, weight=1)
    def burst(self, messages: list[str], to: str) -> None:
        """Let applications send more messages on an open session than the window permits."""
        one = self.find(to, SESSION_PHASE_OPEN)
        one.waiting_messages += messages
        self.send_waiting_messages(one)
        self.settle()

    def draw_burst(self, chance: Random) -> dict[str, Any]:
        to = self._draw_destination_in_phase(chance, SESSION_PHASE_OPEN)
        number = chance.randint(WINDOW_SIZE, WINDOW_SIZE + 3)
        if len(self.destinations[to].waiting_messages) > MAX_MESSAGES_PER_DESTINATION:
            raise ImpossibleStep
        return {"messages": [f"m{self.steps}-{each}" for each in range(number)], "to": to}

    @transition(
        "MQQB-3.1.5.5.1-01",
        "MQQB-3.1.5.5.1-02",
        "MQQB-3.1.5.5.2-01",
        "MQQB-3.1.7.1-03",
        needs=NEEDED_CAPABILITIES,
        weight=6,
        unused=[],
    )
    def acknowledge(self, to: str, number: int, unused: list[str]) -> None:
        """Let the peer acknowledge the first messages of a session. ``unused``: the unused bits and fields that the
        peer sets in the SessionAck.
        """
        one = self.find(to, SESSION_PHASE_OPEN)
        self.cite_rules(*list_rules_about_unused_fields(unused))
        if number > len(one.unacknowledged_messages):
            raise ImpossibleStep
        del one.unacknowledged_messages[:number]
        one.received_ack = one.was_acknowledged = True
        if one.unacknowledged_messages:
            self.start_ack_wait(one)
        again = list(one.unacknowledged_messages)
        self.send_waiting_messages(one)
        if again and self.choose_reading("E65"):
            if one.paused or len(one.unacknowledged_messages) > len(again):
                raise ImpossibleStep  # open: the order of the messages, and which acknowledgments name waiting copies
            one.messages_received_by_peer += again
        self.settle()

    def draw_acknowledge(self, chance: Random) -> dict[str, Any]:
        one = draw_one_value_or_refuse_step(
            chance,
            (
                one
                for one in self.destinations.values()
                if one.phase == SESSION_PHASE_OPEN and one.unacknowledged_messages
            ),
        )
        number = chance.choice((len(one.unacknowledged_messages), chance.randint(1, len(one.unacknowledged_messages))))
        return {
            "to": one.name,
            "number": number,
            "unused": draw_unused_fields(
                chance, RULE_BY_UNUSED_BASE_HEADER_FIELD, RULE_BY_UNUSED_INTERNAL_HEADER_FIELD
            ),
        }

    @transition(
        *("MQQB-3.1.5.8.7-02", "MQQB-3.1.5.8.7-03", "MQQB-3.1.5.8.7-04", "MQQB-3.1.5.8.7-05"),
        needs=NEEDED_CAPABILITIES,
        weight=2,
    )
    def offer_burst(self, to: str, number: int) -> None:
        """Let the peer send, on a session that the system opened, more recoverable messages than one acknowledgment can
        name.
        """
        one = self.find(to, SESSION_PHASE_OPEN)
        if not one.was_acknowledged:
            raise ImpossibleStep  # E50: the documents leave open which packets set ReceivedAck
        one.received_ack = True
        one.messages_sent_by_peer_count += number
        one.least_messages_acknowledged_by_system = one.messages_sent_by_peer_count - MAX_MESSAGES_NAMED_BY_ACK
        self.settle()

    def draw_offer_burst(self, chance: Random) -> dict[str, Any]:
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
        to = draw_one_value_or_refuse_step(
            chance,
            (
                one.name
                for one in self.destinations.values()
                if one.phase == SESSION_PHASE_OPEN and one.was_acknowledged
            ),
        )
        return {"to": to, "number": MAX_MESSAGES_NAMED_BY_ACK + chance.randint(1, 8)}

    # -- answers of the peer -----------------------------------------------------------------------------------------

    def find(self, to: str, phase: str) -> ModelDestination:
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
        how=VALID_RESPONSE,
        unused=[],
    )
    def respond(self, to: str, how: str, unused: list[str]) -> None:
        """Let the peer answer an EstablishConnection request, or send another packet instead. ``unused``: the unused
        bits and fields that the peer sets in a valid response.
        """
        one = self.find(to, SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE)
        self.cite_rules(*list_rules_about_unused_fields(unused))
        if how == VALID_RESPONSE:
            self.cite_rules("MQQB-3.1.5.3.2-07", "MQQB-3.1.5.3.2-15", "MQQB-3.1.5.3.2-D02", "MQQB-3.1.5.3.2-12")
            one.phase = SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE
            if self.choose_reading("whether the second request starts the Session Initialization Timer again"):
                self.start_initialization_timer(one)
            one.connection_history.append("EstablishPacketReceived")
        elif how in (RESPONSE_WITH_REFUSAL, RESPONSE_WITH_WRONG_CLIENT_GUID):
            self.end_session(one, "ConnectionRefused" if how == RESPONSE_WITH_REFUSAL else "UnknownFailure")
        else:
            self._cite_closing_packet(how)
            self.end_session_setup(one)
        self.settle()

    def draw_respond(self, chance: Random) -> dict[str, Any]:
        how = chance.choice(
            (
                *(VALID_RESPONSE,) * 13,
                RESPONSE_WITH_REFUSAL,
                RESPONSE_WITH_WRONG_CLIENT_GUID,
                "parameters",
                *PACKETS_FORBIDDEN_DURING_SESSION_SETUP,
            )
        )
        unused = (
            draw_unused_fields(
                chance,
                RULE_BY_UNUSED_BASE_HEADER_FIELD,
                RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
                RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD,
            )
            if how == VALID_RESPONSE
            else []
        )
        return {
            "to": self._draw_destination_in_phase(chance, SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE),
            "how": how,
            "unused": unused,
        }

    def _draw_destination_in_phase(self, chance: Random, *phases: str) -> str:
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
        return str(
            draw_one_value_or_refuse_step(
                chance, (name for name, one in self.destinations.items() if one.phase in phases)
            )
        )

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
        "MQQB-3.1.5.3.2-14",
        "MQQB-3.1.5.4.2-D01",
        needs=NEEDED_CAPABILITIES,
        weight=10,
        how=VALID_RESPONSE,
        window=64,
        unused=[],
    )
    def parametrize(self, to: str, how: str, window: int, unused: list[str]) -> None:
        """Let the peer answer a ConnectionParameters request, or send another packet instead. ``unused``: the unused
        bits and fields that the peer sets in a valid response.
        """
        one = self.find(to, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE)
        self.cite_rules(*list_rules_about_unused_fields(unused))
        if how == VALID_RESPONSE:
            self.cite_rules("MQQB-3.1.5.4.2-01", "MQQB-3.1.5.4.2-06", "MQQB-3.1.5.4.2-07", "MQQB-3.1.5.4.2-08")
            self.cite_rules("MQQB-3.1.5.4.2-09", "MQQB-3.1.5.4.2-05")
            self.stop_initialization_timer(one)
            one.phase, one.received_ack, one.peer_window_size = SESSION_PHASE_OPEN, True, window
            one.was_acknowledged = False
            one.connection_history.append("Established")
            self.send_waiting_messages(one)
        else:
            self._cite_closing_packet(how)
            self.end_session_setup(one)
        self.settle()

    def draw_parametrize(self, chance: Random) -> dict[str, Any]:
        how = chance.choice((*(VALID_RESPONSE,) * 13, "establish", *PACKETS_FORBIDDEN_DURING_SESSION_SETUP))
        unused = (
            draw_unused_fields(
                chance,
                RULE_BY_UNUSED_BASE_HEADER_FIELD,
                RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
                RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD,
            )
            if how == VALID_RESPONSE
            else []
        )
        window = chance.choice((1, 2, 3, 64, 64))
        return {
            "to": self._draw_destination_in_phase(chance, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE),
            "how": how,
            "window": window,
            "unused": unused,
        }

    @transition("MQQB-3.1.7.3-01", "MQQB-3.1.5.9-04", "MQQB-3.1.5.9-03", needs=NEEDED_CAPABILITIES, weight=3)
    def hang_up(self, to: str) -> None:
        """Let the peer close the connection of a session, in any phase."""
        one = self.destinations[to]
        if one.phase not in (
            SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE,
            SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE,
            SESSION_PHASE_OPEN,
        ):
            raise ImpossibleStep
        if one.phase == SESSION_PHASE_OPEN:
            self.end_session(one, None)
        else:
            self.end_session_setup(one)
        self.settle()

    def draw_hang_up(self, chance: Random) -> dict[str, Any]:
        return {
            "to": self._draw_destination_in_phase(
                chance,
                SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE,
                SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE,
                SESSION_PHASE_OPEN,
            )
        }

    @transition("MQQB-3.1.7.8-05", "MQQB-3.1.7.6-12", "MQQB-3.1.7.8-06", needs=NEEDED_CAPABILITIES, weight=3, unused=[])
    def treat_pings(self, how: str, unused: list[str]) -> None:
        """Let the peer answer, refuse or ignore Ping Requests from now on. Before and after each Ping Response, the
        peer sends datagrams that the SUT must ignore. ``unused``: the unused bits that the peer sets in Ping Responses.
        """
        self.cite_rules(*list_rules_about_unused_fields(unused))
        self.ping_mode = how
        self.settle()

    def draw_treat_pings(self, chance: Random) -> dict[str, Any]:
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
        usual = PINGS_ANSWERED if self.ping_mode != PINGS_ANSWERED else PINGS_REFUSED
        return {
            "how": chance.choice((usual, usual, PINGS_ANSWERED, PINGS_IGNORED)),
            "unused": draw_unused_fields(chance, RULE_BY_UNUSED_PING_FIELD),
        }

    # -- administrators, and time -----------------------------------------------------------------------------------

    @transition("MQQB-3.1.7.13-13", "MQQB-3.1.7.12-04", needs=(*NEEDED_CAPABILITIES, "pause"), weight=3)
    def pause(self, to: str) -> None:
        """Let an administrator pause an outgoing queue whose session is open."""
        one = self.find(to, SESSION_PHASE_OPEN)
        if one.paused:
            raise ImpossibleStep
        one.paused = True
        self.settle()

    def draw_pause(self, chance: Random) -> dict[str, Any]:
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
        ready = (name for name, one in self.destinations.items() if one.phase == SESSION_PHASE_OPEN and not one.paused)
        return {"to": draw_one_value_or_refuse_step(chance, ready)}

    @transition("MQQB-3.1.7.1-02", "MQDMPR-3.1.4.15-03", needs=(*NEEDED_CAPABILITIES, "pause"), weight=4)
    def resume(self, to: str) -> None:
        """Let an administrator resume a paused outgoing queue whose session is open, or whose session was lost while
        messages waited.
        """
        one = self.destinations[to]
        if not self._is_resumable(one):
            raise ImpossibleStep
        one.paused = False
        if one.phase is None:
            self.cite_rules("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-03", "MQQB-3.1.5.9-02")
            self.try_to_open_session(one, again=False)
        self.send_waiting_messages(one)
        self.settle()

    def _is_resumable(self, one: ModelDestination) -> bool:
        return one.paused and (
            one.phase == SESSION_PHASE_OPEN or (one.phase is None and bool(one.waiting_messages) and not self.offline)
        )

    def draw_resume(self, chance: Random) -> dict[str, Any]:
        self.check_no_wait_ends_near(self.now_ms + REACTION_TIME_MS)
        return {
            "to": draw_one_value_or_refuse_step(
                chance, (name for name, one in self.destinations.items() if self._is_resumable(one))
            )
        }

    @transition("MQDMPR-3.1.2.4-01", "MQQB-3.1.6.1-01", needs=NEEDED_CAPABILITIES, weight=6)
    def wait(self, ms: int) -> None:
        """Let time pass."""
        self.settle(ms)

    def draw_wait(self, chance: Random) -> dict[str, Any]:
        ms = chance.choice(WAITS_TO_DRAW_FROM_MS)
        self.check_no_wait_ends_near(self.now_ms + ms)
        return {"ms": ms}

    # -- visible state -----------------------------------------------------------------------------------------------

    def describe_visible_state(self) -> dict[str, Any]:
        """Return the outgoing queues and the sessions."""
        seen: dict[str, Any] = {"pings": self.pings, "wrong pings": 0}
        if self.cookies is not None:
            seen["cookies of pings"] = self.cookies
        for name, one in self.destinations.items():
            seen[name] = described = {
                "connections": one.connection_count,
                "history": one.connection_history[-MAX_COMPARED_HISTORY_ENTRIES:],
                "waiting": len(one.waiting_messages) + len(one.unacknowledged_messages),
                **({} if one.state is None else {"state": one.state}),
            }
            if one.connection_count:
                described |= {"came": list(one.messages_received_by_peer), "closed": one.closed, "wrong packets": 0}
                described |= {} if one.server_guid is None else {"server": one.server_guid}
                if one.was_opened_without_ping:
                    self.cite_rules("MQQB-3.1.5.2.3-11")
                    described["se"] = 1
                if one.phase == SESSION_PHASE_OPEN:
                    described["acknowledged"] = ExpectedNumberBetweenBounds(
                        one.least_messages_acknowledged_by_system, one.messages_sent_by_peer_count
                    )
                packets = {SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE: 1, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE: 2}
                described |= {"set-up": packets[one.phase]} if one.phase in packets else {}
        return seen
