"""Faults of MS-MQQP 3.2.4.8 Closing a Cursor."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import skip_sequence
from harness.faults.registry import Install, add
from reference_qm.core.commands.client_commands import ClientCommands
from reference_qm.core.remote.client_cancelling import ClientCancelling
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.surface.clock import Now
from reference_qm.surface.remote_commands import RemoteCloseCursor

add(
    "client-close-cursor-not-called",
    ("MQQP-3.2.4.8-02", "MQQP-3.1.4.5-01"),
    "The client does not call RemoteQMCloseCursor.",
    skip_sequence(ClientCancelling.close_remote_cursor),
)


@fault("client-closed-cursor-still-usable", breaks=("MQQP-3.2.4.8-02", "MQQP-3.1.4.5-01"))
class ClientClosedCursorStillUsable(ClientCommands):
    """The client continues to use a closed cursor in later commands."""

    def remote_close_cursor(self, request: RemoteCloseCursor, token: int, now: Now) -> None:
        cursor = self.qm.remote_client.cursors.get(request.cursor)
        super().remote_close_cursor(request, token, now)
        if cursor is not None:
            self.qm.remote_client.cursors[request.cursor] = cursor


def _increment_close_cursor_parameter(parameter: str) -> Install:
    """Build a fault in which the client adds one to a parameter of RemoteQMCloseCursor."""

    class OneMore(ClientCancelling):
        def build_close_cursor(self, queue: RemoteQueue, cursor: int) -> dict[str, Any]:
            values = super().build_close_cursor(queue, cursor)
            return values | {parameter: values[parameter] + 1}

    return replace_part(OneMore)


for _name, _rule, _parameter in (
    ("client-close-cursor-h-queue-one-too-high", "MQQP-3.2.4.8-03", "hQueue"),
    ("client-close-cursor-h-cursor-one-too-high", "MQQP-3.2.4.8-04", "hCursor"),
):
    add(
        _name,
        _rule,
        f"The client calls RemoteQMCloseCursor with a {_parameter} that is greater by 1 than the right value.",
        _increment_close_cursor_parameter(_parameter),
    )
