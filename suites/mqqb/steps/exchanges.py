"""Steps that send one message from the peer on its own session. The packets of the peer may contain values that the SUT
must ignore.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.capture.recorder import Frame
from harness.expectations import CLOSED_BY_SUT_TEXT, Expectation, facts, packet, packets
from harness.peer.conversation import RawConversation
from harness.peer.party import NO_CHANGED_FIELDS
from harness.peer.peer import Peer
from harness.peer.timeouts import ACK_TIMEOUT_MS, PEER_TIMEOUTS
from harness.sut.sut import Sut
from harness.wire import connection_parameters, establish_connection, session_ack


@dataclass(slots=True)
class Exchange:
    """The packets of an exchange. ``answers``: the SUT's packets in order, with None in place of a missing packet."""

    ALL_ANSWERED_EXPECTATION: ClassVar[Expectation] = facts(
        answers=packets(
            "EstablishConnection", "ConnectionParameters", packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
        ),
        connection_closed_by_the_SUT=False,
    )
    """The outcome in which the acceptor answers the request, the parameters and the message, and does
    not close the session.
    """

    connection: RawConversation
    answers: list[Frame | None]

    @property
    def outcome(self) -> dict[str, Any]:
        """Return the SUT's answers in order, and whether the SUT closed the connection. Echoes of the peer's request do
        not count as answers.
        """
        request = self.connection.sent[0].data
        answers = [frame for frame in self.answers if frame is not None and frame.data != request]
        return {"answers": answers, "connection_closed_by_the_SUT": self.connection.closed_by_sut}

    def answered(self, kind: str) -> Frame | None:
        """Return the first answer of the SUT of the given kind."""
        return next((frame for frame in self.answers if frame is not None and frame.kind == kind), None)

    @property
    def evidence(self) -> list[Frame]:
        """Return the packets of both directions."""
        return self.connection.record.frames


def exchange_message(
    peer: Peer,
    *,
    base: Mapping[str, Any] = NO_CHANGED_FIELDS,
    internal: Mapping[str, Any] = NO_CHANGED_FIELDS,
    establish: Mapping[str, Any] = NO_CHANGED_FIELDS,
    parameters: Mapping[str, Any] = NO_CHANGED_FIELDS,
    session: Mapping[str, Any] = NO_CHANGED_FIELDS,
) -> Exchange:
    """Open a session, send a session acknowledgment and a recoverable message, and wait for the
    message's acknowledgment.

    The arguments are fields of headers. The peer sets a field in every packet that contains the header
    of the field.
    """
    connection = peer.connect()
    groups = [
        [establish_connection(base=base, internal=internal, **{"ClientGuid": peer.identifier, **establish})],
        [connection_parameters(base=base, internal=internal, **PEER_TIMEOUTS, **parameters)],
        [
            session_ack(base=base, internal=internal, **{"WindowSize": 64, **session}),
            peer.recoverable_message(base=base),
        ],
    ]
    answers = []
    for number, group in enumerate(groups):
        for one in group:
            connection.send(one)
        answers.append(connection.poll_packet(number))
        if answers[-1] is None:
            break
    return Exchange(connection, answers)


@dataclass(slots=True)
class DeliveryOutcome:
    """The outcome of one message of the peer on its own session."""

    outcome: str
    """The outcome: the value of ``accepted_outcome``, or a text for "closed", "not acknowledged" or "acknowledged, but
    not in its queue".
    """
    accepted_outcome: str
    """The outcome of a message that the SUT accepted, as far as the control channel shows it."""
    frames: list[Frame]


def describe_accepted_outcome(sut: Sut) -> str:
    """Return the expected outcome of a message that the SUT accepts, as far as the control channel can show it."""
    return "acknowledged and stored in its queue" if sut.has("receive") else "acknowledged"


def deliver_message(peer: Peer, message: Any, label: str, queue: str = "plain") -> DeliveryOutcome:
    """Send a recoverable message on a new session; wait for its acknowledgment, and check whether the queue contains
    its label.
    """
    sut = peer.sut
    connection = peer.open_raw()
    sent = connection.send(message)
    within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    answer = connection.poll("SessionAck", within_ms=within_ms)
    if answer is None:
        outcome = CLOSED_BY_SUT_TEXT if connection.closed_by_sut else "not acknowledged"
        return DeliveryOutcome(outcome, describe_accepted_outcome(sut), [sent])
    outcome = "acknowledged"
    if sut.has("receive"):
        found = any(one["label"] == label for one in sut.messages(queue))
        outcome += f" and {'stored' if found else 'not stored'} in its queue"
    return DeliveryOutcome(outcome, describe_accepted_outcome(sut), [sent, answer])
