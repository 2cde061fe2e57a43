"""Reading of a queue of the SUT by the peer: messages for it, and what each read brings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.association import Call
from harness.peer.remote import Remote, RemoteQueue, described, no_handle, packet_of
from harness.peer.timeouts import ACK_MS
from harness.wire.rpc_stub import octets
from suites import messages

FIRST, SECOND, THIRD, FOURTH = "first", "second", "third", "fourth"
BODY = b"of the peer"
WAITING = "still waits"
FAILURE = "a failure HRESULT"
INVALID_PARAMETER = "MQ_ERROR_INVALID_PARAMETER"
LOW_7_BYTES = (1 << 56) - 1
"""A SequentialId has these bytes of the LookupIdentifier."""
UNKNOWN_HANDLE = 0x7F6D_7163
"""No queue or cursor has it: handles are small or many bits apart."""


def filled(remote: Remote, *labels: str, **how: Any) -> RemoteQueue:
    """Open the plain queue and let it hold messages with these labels, in this order; ``how``: of ``Remote.open``."""
    queue = remote.open(**how)
    deliver(remote, labels)
    return queue


def deliver(remote: Remote, labels: Iterable[str], queue: str = "plain", **user: Any) -> None:
    """Send messages to a queue of the SUT; ConformanceFailure when it does not acknowledge them."""
    send_all(remote, [remote.peer.recoverable_message(user, queue=queue, label=label, body=BODY) for label in labels])


def fill(remote: Remote, kind: str, *labels: str) -> None:
    """Send messages to a plain or transactional queue of the SUT."""
    if kind != "transactional":
        deliver(remote, labels, kind)
        return
    sequence = messages.Sequence(remote.peer)
    send_all(remote, [sequence.message(label=label, body=BODY) for label in labels])


def send_all(remote: Remote, packets: Sequence[Any]) -> None:
    """Send messages to queues of the SUT; ConformanceFailure when it does not acknowledge them."""
    if not packets:
        return
    connection = remote.peer.open_raw()
    for packet in packets:
        connection.send(packet)
    within_ms = remote.sut.duration_ms(ACK_MS) + remote.sut.slack_ms(ACK_MS)
    for _ in packets:  # one acknowledgment may be for several
        frame = connection.poll("SessionAck", within_ms=within_ms)
        if frame is None:
            raise ConformanceFailure("the SUT did not acknowledge the messages that were to be read")
        if frame["SessionHeader"].AckSequenceNumber >= len(packets):
            break
    connection.close()


def brought(call: Call) -> str:
    """Describe what a read brought: the label of a message of this check, or what was returned instead."""
    if call.outcome != "MQ_OK":
        return call.outcome
    packet = packet_of(call)
    if packet is None:
        return "MQ_OK without a message"
    label = str(packet["MessagePropertiesHeader"].Label)
    source = packet["UserHeader"].SourceQueueManager
    return label if source == call.association.peer.identifier else f"{label!r} of another check, from {source}"


def failed(call: Call) -> str:
    """Describe a failure HRESULT that a read returned, or what it brought instead."""
    return FAILURE if call.failed else brought(call)


def contents(call: Call) -> str:
    """Describe what the buffer of an answer holds: a packet with a label and a body."""
    packet = packet_of(call)
    if packet is None:
        return "no UserMessage packet"
    properties = packet["MessagePropertiesHeader"]
    return f"{properties.Label}: {bytes(properties.MessageBody)!r}"


def frames(calls: Iterable[Call]) -> list[Frame]:
    """Return the frames that show some calls."""
    return [frame for call in calls for frame in call.evidence]


def handle_of(call: Call) -> str:
    """Return whether an answer has a context handle."""
    return "NULL" if no_handle(call) else "a handle"


def sizes(call: Call) -> tuple[int | None, int | None]:
    """Return dwSize of an answer, and PacketSize of the packet that it brought (MS-MQMQ 2.2.19.1); None for none."""
    description = described(call)
    if description is None:
        return None, None
    data = octets(description.lpBuffer)
    return description.dwSize, int.from_bytes(data[8:12], "little") if data else None


def waiting(call: Call) -> str:
    """Return whether a call is still not answered, a while after it was made; or what came."""
    remote_peer = call.association.peer
    call.wait(remote_peer.sut.quiet_ms)
    return brought(call) if call.answered or call.association.over else WAITING
