"""Judge what a SessionAck says of the messages that its sender sent itself. Spec: MS-MQQB 3.1.6.4."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive

_WRAP = 0x10000
_PAUSED_WINDOW = 1


@passive("MQQB-3.1.6.4-06", "SessionAck", "UserMsgSequenceNumber is the count of messages sent on the session")
def messages_sent(packet: Any, context: Context) -> Finding:
    """Compare with the messages that the SUT sent before on the connection."""
    return _count_is("UserMsgSequenceNumber", packet, len(_sent(context, "UserMessage")))


@passive("MQQB-3.1.6.4-07", "SessionAck", "RecoverableMsgSeqNumber is the count of recoverable messages sent")
def recoverable_messages_sent(packet: Any, context: Context) -> Finding:
    """Compare with the recoverable ones among them."""
    return _count_is(
        "RecoverableMsgSeqNumber", packet, sum(record.UserHeader.DM == 1 for record in _sent(context, "UserMessage"))
    )


@passive("MQQB-3.1.6.4-09", "SessionAck", "WindowSize is that of the sender's ConnectionParameters")
def own_window(packet: Any, context: Context) -> Finding:
    """Compare with the window that the SUT named when the session was set up; 1 is that of a pause (3.1.7.13)."""
    named = _sent(context, "ConnectionParameters")
    value = packet.SessionHeader.WindowSize
    if not named or value == _PAUSED_WINDOW:
        return None
    window = named[-1].ConnectionParametersHeader.WindowSize
    return value == window, f"WindowSize {value}, after {window} in ConnectionParameters"


def _sent(context: Context, kind: str) -> list[Any]:
    return [frame.record for frame in context.earlier if frame.from_sut and frame.kind == kind]


def _count_is(field: str, packet: Any, count: int) -> Finding:
    value = getattr(packet.SessionHeader, field)
    return value == count % _WRAP, f"{field} {value} after {count} sent"
