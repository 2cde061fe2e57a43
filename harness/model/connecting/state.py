"""Define the attempts of a system to open sessions, and their outcomes. Spec: MS-MQDMPR 3.1.1.3, MS-MQQB 3.1.5.2."""

from __future__ import annotations

from dataclasses import dataclass, field

DIRECT, PRIVATE, UNKNOWN = "direct", "private", "unknown"
"""The destinations: a queue of the peer by its address, one by the peer's identifier, and one on an unknown host."""
PINGING, ESTABLISHING, PARAMETERS, OPEN = "pinging", "establishing", "parameters", "open"
"""The phases of a session, named by what the system waits for; None without a session."""
ANSWERED, REFUSED, IGNORED = "answered", "refused", "ignored"
"""The ways in which the peer can treat Ping Requests."""
SHOWN_ENTRIES = 3
"""The number of entries, at the end of ConnectionHistory, that are compared."""


@dataclass(eq=False, slots=True)
class Destination:
    """A destination, its messages, and the session to it.

    ``waiting``: messages that were not sent on the session; ``sent``: unacknowledged messages of the session;
    ``came``: all messages that the peer received on the session; ``due_ms``: when the current wait ends: for the
    response to a ping, for the set-up of the session, or for the next attempt.
    """

    name: str
    waiting: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    came: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    phase: str | None = None
    tried: bool = False
    paused: bool = False
    connections: int = 0
    closed: bool = False
    due_ms: int | None = None
    ack_due_ms: int | None = None
    """int ms: when the Session Ack Wait Timer expires; None while it does not run."""
    received_ack: bool = True
    """ReceivedAck: whether a packet has arrived since the timer last expired."""

    @property
    def state(self) -> str | None:
        """The State of the outgoing queue; None where the documents leave the State open."""
        if self.paused:
            return "OnHold"
        if self.name == UNKNOWN:
            return "NeedValidation" if self.history else None
        if not self.tried or self.phase == PINGING:
            return None
        return {OPEN: "Connected", None: "Disconnected"}.get(self.phase, "Waiting")
