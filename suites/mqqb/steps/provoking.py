"""Make the SUT send messages: with the control verb ``send``, or by sending it messages whose arrival it must
acknowledge.

Such an acknowledgment is a message that the SUT itself sends (MS-MQQB 3.1.7.15). It has the delivery of the
acknowledged message, and is sent to the administration queue, which the peer chooses. In this way, a SUT without a
control channel also opens sessions.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.capture.recorder import Frame
from harness.peer.conversation import RawConversation
from harness.peer.handshake import shake_hands
from harness.peer.peer import Peer
from harness.peer.timeouts import PEER_TIMEOUTS
from harness.sut.sut import Sut
from harness.wire import connection_parameters, establish_connection
from harness.wire.queues import PrivateQueueFormatName
from reference_qm.surface.entropy import generate_guid

NORMAL_MESSAGE_CLASS = 0x0000
DELIVERY_MODE_FIELD_DM_BY_DELIVERY = {"express": 0, "recoverable": 1}
"""The deliveries that an acknowledgment can have, with their values of UserHeader.Flags.DM."""
CORRELATION_GUID_BYTES = 16
PROVOKING_MESSAGE_LIFETIME_S = 60
"""TimeToBeReceived of a message that the SUT must acknowledge, in seconds. The message expires, so that it does not
stay in the SUT's queue.
"""


class SecondQueueManager:
    """Send messages to the SUT as a second queue manager, in addition to the peer. The SUT sends the acknowledgments of
    these messages to a queue of the peer.

    ``to``: the direct or private format name of that queue.
    """

    def __init__(self, peer: Peer, to: str) -> None:
        self.peer = peer
        self.to = _choose_queue(to)
        self.identifier: UUID = generate_guid(peer.entropy)
        self.connection: RawConversation | None = None

    def send(self, tag: int, delivery: str = "express", **message: Any) -> str:
        """Let the SUT send a message with the given tag (see ``tags`` in sender.py); return the identifier of that
        message. ``message``: label, body and other parts of the message that the SUT acknowledges.
        """
        connection = self.connection = self.connection or self._open_session_with_sut()
        user = {
            "SourceQueueManager": self.identifier,
            "MessageID": tag,
            "DM": DELIVERY_MODE_FIELD_DM_BY_DELIVERY[delivery],
        }
        limits = {"AdminQueue": self.to, "TimeToBeReceived": PROVOKING_MESSAGE_LIFETIME_S}
        connection.send(self.peer.message(user | limits, properties={"PA": 1}, **message))
        return f"{{{self.identifier}}}\\{tag}"

    def _open_session_with_sut(self) -> RawConversation:
        connection = self.peer.connect(from_another_address=True)
        return shake_hands(
            connection, establish_connection(ClientGuid=self.identifier), connection_parameters(**PEER_TIMEOUTS)
        )


def _choose_queue(name: str) -> str | PrivateQueueFormatName:
    """Return the queue of a direct or private format name, as a field of the UserHeader."""
    if not name.startswith("PRIVATE="):
        return name.removeprefix("DIRECT=")
    host, _, number = name.removeprefix("PRIVATE=").partition("\\")
    return PrivateQueueFormatName(SourceQueueManager=UUID(host), PrivateQueueIdentifier=int(number, 16))


def make_sut_send_message(peer: Peer, sut: Sut, to: str, *, tag: int = 1, delivery: str = "express") -> None:
    """Let the SUT send one message of any kind to a format name of the peer."""
    if sut.has("send"):
        sut.send(to, body="opening", label="opening", application_tag=tag, delivery=delivery)
    else:
        SecondQueueManager(peer, to).send(tag, delivery)


def read_application_tag(frame: Frame) -> int:
    """Return the ApplicationTag of a message, or, in an acknowledgment that this module caused, the tag
    in the CorrelationID.
    """
    properties = frame.message or frame["MessagePropertiesHeader"]
    if properties.MessageClass == NORMAL_MESSAGE_CLASS:
        return int(properties.ApplicationTag)
    return int.from_bytes(bytes(properties.CorrelationID)[CORRELATION_GUID_BYTES:], "little")
