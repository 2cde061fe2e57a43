"""Faults of MS-MQQP 3.2.4.8 Closing a Cursor."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import replaced
from harness.faults.primitives import skip_sequence
from harness.faults.registry import Install, add
from reference_qm.core.remote_client.cancelling import ClientCancelling
from reference_qm.core.remote_client.model import RemoteQueue

add(
    "remote-cursor-not-closed",
    ("MQQP-3.2.4.8-02", "MQQP-3.1.4.5-01"),
    "RemoteQMCloseCursor is not called.",
    skip_sequence(ClientCancelling.close_remote_cursor),
)


def _one_more(parameter: str) -> Install:
    """Add one to a parameter of RemoteQMCloseCursor."""

    class OneMore(ClientCancelling):
        def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
            values = super().build_close_cursor(queue, cursor)
            return values | {parameter: values[parameter] + 1}

    return replaced(OneMore)


for _name, _rule, _parameter in (
    ("remote-cursor-other-queue", "MQQP-3.2.4.8-03", "hQueue"),
    ("remote-cursor-other-cursor", "MQQP-3.2.4.8-04", "hCursor"),
):
    add(_name, _rule, f"{_parameter} of RemoteQMCloseCursor is another number.", _one_more(_parameter))
