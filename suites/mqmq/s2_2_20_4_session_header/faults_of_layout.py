"""Faults in the layout of the SessionHeader of a SessionAck: MQMQ-2.2.20.4-D01."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.registry import add
from harness.faults.session_packets import change_session_header
from reference_qm.codec import SessionAckPacket

_SESSION_HEADER_SIZE = 16
"""The size of a SessionHeader in bytes."""
(
    _RECOVERABLE_ACK_NUMBER_END_OFFSET,
    _RECOVERABLE_ACK_FLAGS_END_OFFSET,
    _USER_MSG_NUMBER_END_OFFSET,
    _RECOVERABLE_MSG_NUMBER_END_OFFSET,
    _WINDOW_SIZE_END_OFFSET,
) = 4, 8, 10, 12, 14
"""The offsets at which fields of a SessionHeader end."""


def _make_field_exchanger(first: int, second: int, end: int) -> Callable[[bytes], bytes]:
    """Return a function that exchanges the bytes from ``first`` to ``second`` and from ``second`` to ``end``."""
    return lambda data: data[:first] + data[second:end] + data[first:second] + data[end:]


for _name, _broken_rules, _says, _install in (
    (
        "session-ack-message-number-before-flags",
        ("MQMQ-2.2.20.4-D01",),
        "The queue manager's SessionAck has UserMsgSequenceNumber before RecoverableMsgAckFlags.",
        change_session_header(
            SessionAckPacket,
            _make_field_exchanger(
                _RECOVERABLE_ACK_NUMBER_END_OFFSET, _RECOVERABLE_ACK_FLAGS_END_OFFSET, _USER_MSG_NUMBER_END_OFFSET
            ),
        ),
    ),
    (
        "session-ack-reserved-before-window-size",
        ("MQMQ-2.2.20.4-D01",),
        "The queue manager's SessionAck has Reserved before WindowSize.",
        change_session_header(
            SessionAckPacket,
            _make_field_exchanger(_RECOVERABLE_MSG_NUMBER_END_OFFSET, _WINDOW_SIZE_END_OFFSET, _SESSION_HEADER_SIZE),
        ),
    ),
):
    add(f"queue-manager-{_name}", _broken_rules, _says, _install, blind=True)
