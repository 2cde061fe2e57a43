"""Reading of a queue of the SUT by the peer: messages for it, and the result of each read."""

from __future__ import annotations

from harness.peer.association import Call
from harness.peer.remote import BODY, Remote, RemoteQueue
from suites import messages

FIRST, SECOND, THIRD, FOURTH = "first", "second", "third", "fourth"
WAITING = Call.WAITING
FAILURE = Call.FAILURE
INVALID_PARAMETER = "MQ_ERROR_INVALID_PARAMETER"
LOW_7_BYTES = (1 << 56) - 1
"""A SequentialId has these bytes of the LookupIdentifier."""
UNKNOWN_HANDLE = RemoteQueue.UNKNOWN_HANDLE


def fill_queue(remote: Remote, kind: str, *labels: str) -> None:
    """Send messages to a plain or transactional queue of the SUT."""
    if kind != "transactional":
        remote.deliver(labels, kind)
        return
    sequence = messages.Sequence(remote.peer)
    remote.send_all([sequence.message(label=label, body=BODY) for label in labels])


fill = fill_queue


def brought(call: Call) -> str:
    """Describe what a read brought: the label of a message of this check, or what was returned instead."""
    return call.label_or_outcome


def failed(call: Call) -> str:
    """Describe a failure HRESULT that a read returned, or what it brought instead."""
    return call.label_or_failure


def sizes_of(read: Call) -> tuple[int | None, int | None]:
    """Return dwSize of an answer, and PacketSize of the packet in it (MS-MQMQ 2.2.19.1); None for none."""
    if read.description is None:
        return None, None
    data = read.packet_bytes
    return read.description.dwSize, int.from_bytes(data[8:12], "little") if data else None


def waiting(call: Call) -> str:
    """Return whether a call is still not answered, a while after it was made; or what came."""
    return call.state_after_silence()
