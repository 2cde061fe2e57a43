"""A fault that reproduces the bug that Microsoft article KB303405 describes."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from harness.faults.parts import fault
from reference_qm.codec import DirectQueueFormatName, UserMessagePacket, parse_packet
from reference_qm.core.enterprise.state_restoring import StateRestoring


@fault("regression-303405-local-message-forwarded-at-start", breaks="REGRESSIONS-303405-01")
class Regression303405LocalMessageForwardedAtStart(StateRestoring):
    """At its start the queue manager moves a message for its qualified computer name into an outgoing queue."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore({name: self._move_stored_message_to_outgoing_queue(value) for name, value in entries.items()})

    def _move_stored_message_to_outgoing_queue(self, value: object) -> object:
        if not isinstance(value, dict) or "packet" not in value:
            return value
        packet = parse_packet(base64.b64decode(value["packet"]))
        queue = packet.UserHeader.DestinationQueue if isinstance(packet, UserMessagePacket) else None
        qualified = f"OS:{self.qm.config.host_name}\\"
        if not isinstance(queue, DirectQueueFormatName) or not queue.DirectFormatName.startswith(qualified):
            return value
        return value | {"in": f"outgoing:DIRECT={queue.DirectFormatName}"}
