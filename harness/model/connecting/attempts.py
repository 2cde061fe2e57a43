"""Model the attempts of the system to open sessions. Spec: MS-MQQB 3.1.5.2, 3.1.5.9, 3.1.6.1, 3.1.6.3, 3.1.6.6,
3.1.7.6.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.model.connecting.state import (
    DIRECT_DESTINATION,
    PEER_SERVER_GUID,
    PING_COOKIE_ORDERS,
    PINGS_ANSWERED,
    PINGS_IGNORED,
    PINGS_REFUSED,
    PRIVATE_DESTINATION,
    SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE,
    SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE,
    SESSION_PHASE_OPEN,
    SESSION_PHASE_PINGING,
    UNKNOWN_HOST_DESTINATION,
    ZERO_SERVER_GUID,
    ModelDestination,
)
from harness.model.steps import ImpossibleStep, Model

REACTION_TIME_MS = 400
"""int ms: the duration of a step that does not wait for a timer of the system."""
TIMER_MARGIN_MS = 300
PING_TIMEOUT_MS, RETRY_WAIT_MS, INITIALIZATION_TIMEOUT_MS = 1_000, 5_000, 40_000
"""int ms: the durations of the Ping Response Timer, the Session Retry Connect Timer and the Session Initialization
Timer in this area.
"""
ACK_WAIT_TIMEOUT_MS = 20_000
"""int ms: AckWaitTimeout in this area. The Session Ack Wait Timer expires after a multiple of AckWaitTimeout
(MS-MQQB 3.1.2.4).
"""
_ACK_WAIT_TIMEOUT_FACTORS_BY_DESTINATION = {DIRECT_DESTINATION: (2, 1, 3), PRIVATE_DESTINATION: (1, 2, 3)}
"""For each kind of destination, the durations that the Session Ack Wait Timer may have, as multiples of AckWaitTimeout.
Note <46> names the first of these multiples.
"""
WINDOW_SIZE = 64
"""The number of unacknowledged messages at which a sender stops sending (MS-MQQB 3.1.3.2, which requires this only
with SHOULD).
"""
RETRY_RULES = ("MQQB-3.1.6.1-01", "MQQB-3.1.6.1-03", "MQQB-3.1.6.1-10", "MQQB-3.1.5.9-04", "MQQB-3.1.2.4-01")


class SessionAttempts(Model):
    """The attempts of the system to open sessions, its pings, its timers, and the messages that it sends."""

    def __init__(self, decisions: Mapping[str, int] | None = None) -> None:
        super().__init__(decisions)
        self.destinations = {
            name: ModelDestination(name) for name in (DIRECT_DESTINATION, PRIVATE_DESTINATION, UNKNOWN_HOST_DESTINATION)
        }
        self.pings = 0
        self.cookies: str | None = None
        """The order of the cookies of all pings, or None before the second ping."""
        self.ping_mode = PINGS_ANSWERED
        self.offline = False

    # -- time ---------------------------------------------------------------------------------------------------------

    def settle(self, ms: int = REACTION_TIME_MS) -> None:
        """Let time pass. When a timer of the system expires during this time, the system acts; for example, it connects
        again.
        """
        until_ms = self.now_ms + ms
        self.check_no_wait_ends_near(until_ms)
        while due := self._list_due_waits(until_ms):
            self.now_ms, one = min(due, key=lambda each: each[0])
            if self.now_ms == one.ack_wait_timer_expiry_ms:
                self._expire_ack_wait(one)
            else:
                self._handle_end_of_wait(one)
            self.check_no_wait_ends_near(until_ms)
        self.now_ms = until_ms
        self.answers.setdefault("answer", "done")

    def _list_due_waits(self, until_ms: int) -> list[tuple[int, ModelDestination]]:
        waits = [
            (due, one)
            for one in self.destinations.values()
            for due in (one.end_of_wait_ms, one.ack_wait_timer_expiry_ms)
        ]
        return [(due, one) for due, one in waits if due is not None and due <= until_ms]

    def check_no_wait_ends_near(self, until_ms: int) -> None:
        """Raise ImpossibleStep if a timer of the system expires at about the given time, because the order of the
        events is then uncertain.
        """
        for one in self.destinations.values():
            for due_ms in (one.end_of_wait_ms, one.ack_wait_timer_expiry_ms):
                if due_ms is not None and abs(due_ms - until_ms) < TIMER_MARGIN_MS:
                    raise ImpossibleStep

    def start_ack_wait(self, destination: ModelDestination) -> None:
        self.cite_rules("MQQB-3.1.7.1.3-27", "MQQB-3.1.2.4-01")
        multiples = _ACK_WAIT_TIMEOUT_FACTORS_BY_DESTINATION[destination.name]
        reading = self.choose_reading(f"multiple of AckWaitTimeout for a {destination.name} name", len(multiples))
        destination.ack_wait_timer_expiry_ms = self.now_ms + multiples[reading] * ACK_WAIT_TIMEOUT_MS

    def _expire_ack_wait(self, destination: ModelDestination) -> None:
        """Handle the expiry of the Session Ack Wait Timer (MS-MQQB 3.1.6.3) while messages are unacknowledged. If the
        session received no packet in the last period of the timer, close the session. Otherwise, start the timer
        again.
        """
        self.cite_rules("MQQB-3.1.6.3-01", "MQQB-3.1.6.3-02", "MQQB-3.1.6.3-03", "MQQB-3.1.7.1.3-27")
        destination.ack_wait_timer_expiry_ms = None
        if destination.unacknowledged_messages and not self._has_received_ack(destination):
            self.end_session(destination, None)
        elif destination.unacknowledged_messages:
            self.start_ack_wait(destination)
        destination.received_ack = False

    def _has_received_ack(self, destination: ModelDestination) -> bool:
        """Return the element ReceivedAck of a session. The documents leave open whether the packets that open the
        session set this element (erratum E50).
        """
        return destination.received_ack and (destination.was_acknowledged or not self.choose_reading("E50"))

    def _handle_end_of_wait(self, destination: ModelDestination) -> None:
        if destination.phase == SESSION_PHASE_PINGING:
            self.cite_rules("MQQB-3.1.7.6-09", "MQQB-3.1.7.6-11", "MQQB-3.1.2.9-D01", "MQQB-3.1.5.2.2-06")
            self.end_session(destination, "PingFailure")
        elif destination.phase is None:
            self.cite_rules(*RETRY_RULES)
            self.try_to_open_session(destination, again=True)
        else:
            self.cite_rules("MQQB-3.1.6.6-01", "MQQB-3.1.5.2.3-15")
            if any(
                one.phase in (SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE)
                and one.end_of_wait_ms is None
                for one in self.destinations.values()
            ):
                raise ImpossibleStep  # E13: the expiry of a shared timer may also end the set-up of that session
            destination.end_of_wait_ms = None
            self.end_session_setup(destination)

    # -- attempts -----------------------------------------------------------------------------------------------------

    def try_to_open_session(self, destination: ModelDestination, *, again: bool) -> None:
        """Let the system try to open a session to a destination."""
        destination.end_of_wait_ms = None
        if destination.name == UNKNOWN_HOST_DESTINATION:
            self.cite_rules("MQQB-3.1.5.2.1-08", "MQQB-3.1.5.2.1-10", "MQQB-3.1.5.2.1-11", "MQQB-3.1.5.2-01")
            self.end_session(destination, "DnsFailure")
            return
        destination.was_connection_tried = True
        when = self.choose_reading("when the initiator pings", 3)
        pings = when == 1 or (when == 0 and not again)
        if pings:
            self._send_ping()
            if self.ping_mode == PINGS_REFUSED:
                self.cite_rules("MQQB-3.1.7.6-13", "MQQB-3.1.5.2.2-06", "MQQB-3.1.5.2.2-07")
                self.end_session(destination, "PingFailure")
                return
            if self.ping_mode == PINGS_IGNORED:
                destination.phase, destination.end_of_wait_ms = SESSION_PHASE_PINGING, self.now_ms + PING_TIMEOUT_MS
                return
        self.cite_rules("MQQB-3.1.5.2.3-02", "MQQB-3.1.5.2.3-14", "MQQB-3.1.5.2.3-16", "MQQB-3.1.5.2.3-08")
        destination.phase, destination.closed = SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE, False
        self.start_initialization_timer(destination)
        if destination.name == DIRECT_DESTINATION:
            named = (pings or (again and self.pings > 0)) and self.choose_reading("E11") == 1
            destination.server_guid = ZERO_SERVER_GUID if not named else PEER_SERVER_GUID if pings else None
        destination.connection_count += 1
        destination.was_opened_without_ping = not pings
        destination.messages_sent_by_peer_count = destination.least_messages_acknowledged_by_system = 0
        destination.messages_received_by_peer.clear()
        destination.connection_history.append("InProcess")

    def start_initialization_timer(self, destination: ModelDestination) -> None:
        others = self._list_other_sessions_with_timer(destination)
        for one in (destination, *(others if others and self.choose_reading("E13") else ())):
            one.end_of_wait_ms = self.now_ms + INITIALIZATION_TIMEOUT_MS

    def stop_initialization_timer(self, destination: ModelDestination, *choices: str) -> None:
        others = self._list_other_sessions_with_timer(destination)
        stopped = (
            ("reading of E13 for a session whose timer was stopped",) if destination.end_of_wait_ms is None else ()
        )
        is_shared = others and all(self.choose_reading(choice) for choice in ("E13", *choices, *stopped))
        for one in (destination, *(others if is_shared else ())):
            one.end_of_wait_ms = None

    def _list_other_sessions_with_timer(self, destination: ModelDestination) -> list[ModelDestination]:
        """Return the sessions, except that of the given destination, for which the Session Initialization Timer runs.
        According to the second interpretation of erratum E13, all these sessions share one timer.
        """
        others = [one for one in self.destinations.values() if one is not destination]
        return [
            one
            for one in others
            if one.phase in (SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE)
            and one.end_of_wait_ms is not None
        ]

    def _send_ping(self) -> None:
        """Let the system send a Ping Request. The cookies of the requests show whether PingCookie is reset for each
        session (erratum E15). Raise ImpossibleStep if the peer would answer while two requests with the same cookie are
        unanswered.
        """
        self.pings += 1
        self.cite_rules("MQQB-3.1.5.2.2-02", "MQQB-3.1.7.6-08", "MQQB-3.1.7.6-12")
        if self.pings > 1:
            self.cookies = PING_COOKIE_ORDERS[self.choose_reading("E15")]
        waiting = any(one.phase == SESSION_PHASE_PINGING for one in self.destinations.values())
        if self.cookies == PING_COOKIE_ORDERS[1] and waiting and self.ping_mode != PINGS_IGNORED:
            raise ImpossibleStep

    def end_session(self, destination: ModelDestination, status: str | None) -> None:
        """End a session, or an attempt to open one. If messages wait, the system tries again when the Session Retry
        Connect Timer expires.
        """
        if status is not None:
            self.cite_rules("MQQB-3.1.5.2-01", "MQQB-3.1.5.2-02")
            destination.connection_history.append(status)
        if (
            destination.phase in (SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE, SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE)
            and destination.end_of_wait_ms is not None
        ):
            self.stop_initialization_timer(destination, "reading of E13 when a session ends")
        destination.waiting_messages[:0] = destination.unacknowledged_messages
        destination.unacknowledged_messages.clear()
        destination.ack_wait_timer_expiry_ms, destination.closed = (
            None,
            destination.closed or destination.phase not in (None, SESSION_PHASE_PINGING),
        )
        destination.phase = None
        destination.end_of_wait_ms = (
            self.now_ms + RETRY_WAIT_MS
            if destination.waiting_messages and not destination.paused and not self.offline
            else None
        )

    def end_session_setup(self, destination: ModelDestination) -> None:
        """End the set-up of a session before the session is open. The documents define no Status of
        ConnectionHistory for this case (MS-MQQB 3.1.5.2).
        """
        recorded = self.choose_reading("ConnectionHistory entry of a session that ends before it is open")
        self.end_session(destination, "UnknownFailure" if recorded else None)

    def _find_unacknowledged_limit(self, destination: ModelDestination) -> int:
        """Return the number of unacknowledged messages at which the system stops sending. The documents leave open
        whether this is the WindowSize of the system or that of the peer (erratum E25).
        """
        if len(destination.unacknowledged_messages) < destination.peer_window_size:
            return WINDOW_SIZE
        reading = self.choose_reading("E25", 3)
        by_peer = reading == 1 or (reading == 2 and destination.was_acknowledged)
        return destination.peer_window_size if by_peer else WINDOW_SIZE

    def send_waiting_messages(self, destination: ModelDestination) -> None:
        """Let the system send as many of the waiting messages on an open session as the window permits."""
        while (
            destination.phase == SESSION_PHASE_OPEN
            and not destination.paused
            and destination.waiting_messages
            and len(destination.unacknowledged_messages) < self._find_unacknowledged_limit(destination)
        ):
            self.cite_rules("MQQB-3.1.7.1-03", "MQQB-3.1.7.12-14")
            destination.unacknowledged_messages.append(destination.waiting_messages.pop(0))
            destination.messages_received_by_peer.append(destination.unacknowledged_messages[-1])
            if destination.ack_wait_timer_expiry_ms is None:
                self.start_ack_wait(destination)
