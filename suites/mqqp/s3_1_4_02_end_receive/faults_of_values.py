"""Faults in single values of dwAck that the server accepts: MQQP-3.1.4.2-D02."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.registry import Install, add
from harness.faults.rpc_calls import change_qm2qm_request_stub

_STUB_SIZE_BYTES, _DW_ACK_OFFSET = 24, 20
_RR_NACK, _RR_ACK = 1, 2


def _misread_ack_of_end_receive(change: Callable[[int], int]) -> Install:
    """Let the server read a dwAck that differs from the dwAck that the client sent."""
    return change_qm2qm_request_stub(
        "RemoteQMEndReceive",
        _STUB_SIZE_BYTES,
        lambda stub: (
            stub[:_DW_ACK_OFFSET] + change(int.from_bytes(stub[_DW_ACK_OFFSET:], "little")).to_bytes(4, "little")
        ),
    )


for _name, _says, _change in (
    ("server-end-receive-dwack-0-taken-as-ack", "dwAck 0 as RR_ACK", lambda ack: ack or _RR_ACK),
    ("server-end-receive-dwack-3-taken-as-ack", "dwAck 3 as RR_ACK", lambda ack: _RR_ACK if ack == 3 else ack),
    (
        "server-end-receive-dwack-read-in-low-16-bits",
        "only the low 16 bits of dwAck",
        lambda ack: ack & 0xFFFF,
    ),
    (
        "server-end-receive-largest-dwack-taken-as-nack",
        "dwAck 0xFFFFFFFF as RR_NACK",
        lambda ack: _RR_NACK if ack == 0xFFFFFFFF else ack,
    ),
):
    add(
        _name,
        "MQQP-3.1.4.2-D02",
        f"RemoteQMEndReceive reads {_says}.",
        _misread_ack_of_end_receive(_change),
        blind=True,
    )
