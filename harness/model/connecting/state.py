"""Define the system's attempts to open sessions, and the outcomes of these attempts. Spec: MS-MQDMPR 3.1.1.3,
MS-MQQB 3.1.5.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DIRECT_DESTINATION, PRIVATE_DESTINATION, UNKNOWN_HOST_DESTINATION = "direct", "private", "unknown"
"""The destinations. Two are queues of the peer, one named by the peer's address and one by the peer's identifier. The
third is a queue on an unknown host.
"""
(
    SESSION_PHASE_PINGING,
    SESSION_PHASE_AWAITING_ESTABLISH_RESPONSE,
    SESSION_PHASE_AWAITING_PARAMETERS_RESPONSE,
    SESSION_PHASE_OPEN,
) = "pinging", "establishing", "parameters", "open"
"""The phases of a session, named by the event or packet for which the system waits. If there is no session, the phase
is None.
"""
PINGS_ANSWERED, PINGS_REFUSED, PINGS_IGNORED = "answered", "refused", "ignored"
"""The ways in which the peer can treat Ping Requests."""
ZERO_SERVER_GUID, PEER_SERVER_GUID = "zero", "the peer's identifier"
"""The values of ServerGuid in a request for a session to a direct name (erratum E11)."""
PING_COOKIE_ORDERS = ("each cookie is one more than the previous cookie", "every cookie is 1")
"""The orders in which the cookies of Ping Requests may appear, one for each interpretation (reading) of E15."""
MAX_COMPARED_HISTORY_ENTRIES = 3
"""The number of entries at the end of ConnectionHistory that are compared."""


@dataclass(eq=False, slots=True)
class ModelDestination:
    """A destination, its messages, and the session to it.

    ``waiting_messages``: the messages that were not sent on the session yet. ``unacknowledged_messages``: the
    unacknowledged messages of the session. ``messages_received_by_peer``: all messages that the peer received on the
    session. ``end_of_wait_ms``: the time at which the current wait ends. The system waits for the response to a ping,
    for the set-up of the session, or for the next attempt.
    """

    name: str
    waiting_messages: list[str] = field(default_factory=list)
    unacknowledged_messages: list[str] = field(default_factory=list)
    messages_received_by_peer: list[str] = field(default_factory=list)
    connection_history: list[str] = field(default_factory=list)
    phase: str | None = None
    was_connection_tried: bool = False
    paused: bool = False
    connection_count: int = 0
    closed: bool = False
    end_of_wait_ms: int | None = None
    ack_wait_timer_expiry_ms: int | None = None
    """int ms: the time at which the Session Ack Wait Timer expires, or None while the timer does not run."""
    received_ack: bool = True
    """The element ReceivedAck: whether a packet has arrived since the Session Ack Wait Timer last expired."""
    server_guid: str | None = None
    """ServerGuid of the last request to a direct name, or None if the documents leave ServerGuid open."""
    peer_window_size: int = 64
    """The WindowSize of the peer."""
    was_acknowledged: bool = False
    """Whether the peer has sent a SessionHeader on the session."""
    was_opened_without_ping: bool = False
    """Whether the system sent no ping before the request for the last session."""
    messages_sent_by_peer_count: int = 0
    """The number of messages that the peer sent on the session."""
    least_messages_acknowledged_by_system: int = 0
    """The minimum number of the peer's messages that the system has acknowledged."""

    @property
    def state(self) -> str | None:
        """The State of the outgoing queue, or None if the documents leave the State open."""
        if self.paused:
            return "OnHold"
        if self.name == UNKNOWN_HOST_DESTINATION:
            return "NeedValidation" if self.connection_history else None
        if not self.was_connection_tried or self.phase == SESSION_PHASE_PINGING:
            return None
        return {SESSION_PHASE_OPEN: "Connected", None: "Disconnected"}.get(self.phase, "Waiting")
