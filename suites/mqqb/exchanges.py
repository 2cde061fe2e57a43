"""An ordinary exchange in which the peer's packets may carry oddities that make no difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.conversation import RawConversation
from harness.peer import Peer
from harness.recorder import Frame
from harness.wire import connection_parameters, establish_connection, session_ack, user_message
from suites.mqqb.opening import ACK_MS, RECOVERABLE_ACK_MS, packet_at

NONE: Mapping[str, Any] = {}
ORDINARY = "EstablishConnection, ConnectionParameters, SessionAck of 1"
"""What an acceptor answers: to the request, to the parameters, to a message."""


@dataclass(slots=True)
class Exchange:
    """What was sent and what came; ``answers``: the SUT's packets in order, None for one that did not come."""

    connection: RawConversation
    answers: list[Frame | None]

    @property
    def outcome(self) -> str:
        """Name the SUT's packets in order, an acknowledgment with what it acknowledges.

        What only repeats the peer's request or acknowledges nothing shows no exchange: an echo would do that.
        """
        names = [self._name(frame) for frame in self.answers if frame is not None]
        ended = ["closed"] if self.connection.closed_by_sut else []
        return ", ".join([*names, *ended]) or "nothing"

    def _name(self, frame: Frame) -> str:
        if frame.kind == "SessionAck":
            return f"SessionAck of {frame['SessionHeader'].AckSequenceNumber}"
        if frame.kind == "EstablishConnection" and frame.data == self.connection.sent[0].data:
            return "the peer's own request"
        return frame.kind

    @property
    def evidence(self) -> list[Frame]:
        """Give the packets of both directions."""
        return self.connection.record.frames


def exchange(
    peer: Peer,
    *,
    base: Mapping[str, Any] = NONE,
    internal: Mapping[str, Any] = NONE,
    establish: Mapping[str, Any] = NONE,
    parameters: Mapping[str, Any] = NONE,
    session: Mapping[str, Any] = NONE,
) -> Exchange:
    """Open a session, send a session acknowledgment and a recoverable message, wait for its acknowledgment.

    The arguments are fields of the headers in every packet of the peer that has them.
    """
    connection = peer.connect()
    packets = [
        [establish_connection(base=base, internal=internal, **{"ClientGuid": peer.identifier, **establish})],
        [connection_parameters(base=base, internal=internal, **_timeouts(), **parameters)],
        [
            session_ack(base=base, internal=internal, **{"WindowSize": 64, **session}),
            recoverable_message(peer, base=base),
        ],
    ]
    answers = []
    for number, group in enumerate(packets):
        for packet in group:
            connection.send(packet)
        answers.append(packet_at(connection, number))
        if answers[-1] is None:
            break
    return Exchange(connection, answers)


def _timeouts() -> dict[str, int]:
    return {"RecoverableAckTimeout": RECOVERABLE_ACK_MS, "AckTimeout": ACK_MS}


def recoverable_message(peer: Peer, **headers: Any) -> Any:
    """Make a recoverable message to the SUT's plain queue: it is acknowledged soon."""
    return a_message(peer, user={"DM": 1}, **headers)


def a_message(peer: Peer, user: Mapping[str, Any] = NONE, **headers: Any) -> Any:
    """Make a message to the SUT's plain queue that it has not seen; express unless ``user`` says else."""
    own = {
        "SourceQueueManager": peer.identifier,
        "MessageID": peer.message_id(),
        "SentTime": peer.world.now().utc_s,
    }
    destination = peer.sut.format_name("plain").removeprefix("DIRECT=")
    return user_message(destination=destination, user=own | dict(user), **{"body": b"exchange", **headers})
