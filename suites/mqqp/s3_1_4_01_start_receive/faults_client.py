"""Faults that break rules of MS-MQQP 3.1.4.1 and 3.1.4.10 about the requests of a client, and the treatment of
responses by the client.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import omit_step
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError
from reference_qm.core.remote.enums import ReadAction, RemoteReadAck
from reference_qm.core.remote.server_bindings import ServerBindings

PEEK_PREVIOUS_ACTION = 0x80000002
"""An ulAction that MS-MQQP does not define."""


class _FailedReadEnder(ClientMessageReading):
    def read_remote_message(self, read: RemoteRead) -> RemoteCallSequence:
        try:
            return (yield from super().read_remote_message(read))
        except RemoteError:
            assert read.entry is not None
            yield from self.call_end_receive(read.entry, RemoteReadAck.RR_NACK)
            raise


add(
    "client-end-receive-after-failed-receive",
    ("MQQP-3.1.4.1-07", "MQQP-3.1.4.10-04", "MQQP-3.1.4.11-04", "MQQP-3.1.4.2-04"),
    "The client calls RemoteQMEndReceive after a receive that failed.",
    replace_part(_FailedReadEnder),
)


def _change_read_description(change: Callable[[RemoteRead], dict[str, Any]]) -> Install:
    """Build a fault that changes fields of the REMOTEREADDESC that the client sends."""

    class ReadDescriptionChanger(ClientMessageReading):
        def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
            return super().build_start_receive_description(read) | change(read)

    return replace_part(ReadDescriptionChanger)


def _replace_peek_current_by_previous(read: RemoteRead) -> dict[str, Any]:
    return {"ulAction": PEEK_PREVIOUS_ACTION} if read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT else {}


def _clear_cursor_of_peek_next(read: RemoteRead) -> dict[str, Any]:
    return {"hCursor": 0} if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT else {}


add(
    "client-read-with-unlisted-action",
    ("MQQP-3.1.4.1-08", "MQQP-3.1.4.10-07"),
    "The client sends a peek with an ulAction that MS-MQQP does not define.",
    _change_read_description(_replace_peek_current_by_previous),
)
add(
    "client-peek-next-without-cursor",
    ("MQQP-3.1.4.1-09", "MQQP-3.1.4.10-08"),
    "The client sends hCursor 0 in a PEEK_NEXT.",
    _change_read_description(_clear_cursor_of_peek_next),
)
add(
    "client-read-dw-request-id-zero",
    ("MQQP-3.1.4.10-06", "MQQP-3.1.4.11-05"),
    "The client sends dwRequestID 0 in every read.",
    _change_read_description(lambda read: {"dwRequestID": 0}),
)


@fault(
    "client-failures-of-other-facilities-ignored",
    breaks=(
        "MQQP-3.1.4.1-10",
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.3-12",
        "MQQP-3.1.4.4-03",
        "MQQP-3.1.4.5-03",
        "MQQP-3.1.4.6-05",
        "MQQP-3.1.4.7-03",
        "MQQP-3.1.4.10-10",
        "MQQP-3.1.4.11-18",
    ),
)
class ClientFailuresOfOtherFacilitiesIgnored(ServerBindings):
    """The client treats a failure HRESULT as a failure only if its facility is message queuing."""

    def is_failure(self, status: int) -> bool:
        return status >> 16 == 0xC00E


add(
    "client-treats-failures-as-success",
    (
        *("MQQP-3.1.4.1-10", "MQQP-3.1.4.10-10", "MQQP-3.1.4.11-18"),
        *("MQQP-3.1.4.3-12", "MQQP-3.1.4.7-03"),
    ),
    "The client treats every returned status as a success.",
    omit_step(ServerBindings.check),
)
