"""Reading of a queue of the SUT by the peer: messages for it, and what each read brings."""

from __future__ import annotations

from harness.peer.association import Call
from harness.peer.remote import BODY, Remote, described, packet_of
from harness.wire.rpc_stub import octets
from suites import messages

FIRST, SECOND, THIRD, FOURTH = "first", "second", "third", "fourth"
WAITING = "still waits"
FAILURE = "a failure HRESULT"
INVALID_PARAMETER = "MQ_ERROR_INVALID_PARAMETER"
LOW_7_BYTES = (1 << 56) - 1
"""A SequentialId has these bytes of the LookupIdentifier."""
UNKNOWN_HANDLE = 0x7F6D_7163
"""No queue or cursor has it: handles are small or many bits apart."""


def fill(remote: Remote, kind: str, *labels: str) -> None:
    """Send messages to a plain or transactional queue of the SUT."""
    if kind != "transactional":
        remote.deliver(labels, kind)
        return
    sequence = messages.Sequence(remote.peer)
    remote.send_all([sequence.message(label=label, body=BODY) for label in labels])


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
