"""The SUT made to send: asked for it where it can be asked, else by messages whose arrival it has to acknowledge.

An acknowledgment is a message of the SUT's own (MS-MQQB 3.1.7.15), with the delivery of the message that it
acknowledges, to an administration queue that the peer chooses. So a system that nobody can command opens sessions, too.
"""

from __future__ import annotations

from uuid import UUID

from harness.capture.recorder import Frame
from harness.peer.conversation import RawConversation
from harness.peer.handshake import shake_hands
from harness.peer.peer import Peer
from harness.peer.timeouts import TIMEOUTS
from harness.sut.sut import Sut
from harness.wire import connection_parameters, establish_connection
from reference_qm.surface.entropy import new_guid

NORMAL = 0x0000
RECOVERABLE = {"express": 0, "recoverable": 1}
"""UserHeader.Flags.DM of the deliveries that an acknowledgment can have."""
LINEAGE_SIZE = 16
LIFE_S = 60
"""TimeToBeReceived of what provokes, so that it does not stay in the SUT's queue."""


class Provoker:
    """Another queue manager than the peer, which asks the SUT for acknowledgments to a queue of the peer."""

    def __init__(self, peer: Peer, to: str) -> None:
        self.peer = peer
        self.to = to.removeprefix("DIRECT=")
        self.identifier: UUID = new_guid(peer.entropy)
        self.connection: RawConversation | None = None

    def send(self, tag: int, delivery: str = "express") -> str:
        """Let the SUT send a message whose tag (``tags`` in sender.py) is this; return the tag's message id."""
        connection = self.connection = self.connection or self._opened()
        user = {"SourceQueueManager": self.identifier, "MessageID": tag, "DM": RECOVERABLE[delivery]}
        limits = {"AdminQueue": self.to, "TimeToBeReceived": LIFE_S}
        connection.send(self.peer.message(user | limits, properties={"PA": 1}))
        return f"{{{self.identifier}}}\\{tag}"

    def _opened(self) -> RawConversation:
        connection = self.peer.connect(from_another_address=True)
        return shake_hands(
            connection, establish_connection(ClientGuid=self.identifier), connection_parameters(**TIMEOUTS)
        )


def let_send(peer: Peer, sut: Sut, to: str, *, tag: int = 1, delivery: str = "express") -> None:
    """Let the SUT send one message to a direct format name of the peer; it matters only that it does."""
    if sut.has("send"):
        sut.send(to, body="opening", label="opening", application_tag=tag, delivery=delivery)
    else:
        Provoker(peer, to).send(tag, delivery)


def tag_of(frame: Frame) -> int:
    """Return the ApplicationTag of a message, or what stands for it in an acknowledgment that was provoked."""
    properties = frame.message or frame["MessagePropertiesHeader"]
    if properties.MessageClass == NORMAL:
        return int(properties.ApplicationTag)
    return int.from_bytes(bytes(properties.CorrelationID)[LINEAGE_SIZE:], "little")
