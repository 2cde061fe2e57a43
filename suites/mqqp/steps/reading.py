"""Steps of the peer as a remote reader of a queue of the SUT: send messages to the queue, and show the result of each
read.
"""

from __future__ import annotations

from harness.peer.association import Call
from harness.peer.remote import BODY_OF_MESSAGES_FROM_PEER, RemoteReaderOfSut
from suites import messages

LOW_7_BYTES_MASK = (1 << 56) - 1
"""The mask of the bytes of a LookupIdentifier that form the SequentialId."""


def send_messages_to_queue(remote: RemoteReaderOfSut, kind: str, *labels: str) -> None:
    """Send messages to a plain or transactional queue of the SUT."""
    if kind != "transactional":
        remote.deliver(labels, kind)
        return
    sequence = messages.Sequence(remote.peer)
    remote.send_messages_and_require_acks(
        [sequence.message(label=label, body=BODY_OF_MESSAGES_FROM_PEER) for label in labels]
    )


def read_sizes_of_response(read: Call) -> tuple[int | None, int | None]:
    """Return dwSize of a response, and PacketSize of the packet in it (MS-MQMQ 2.2.19.1), or None if there is no
    packet.
    """
    if read.description is None:
        return None, None
    data = read.packet_bytes
    return read.description.dwSize, int.from_bytes(data[8:12], "little") if data else None
