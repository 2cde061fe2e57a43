"""Judge the first bytes of every packet of a session. Spec: MS-MQQB 2.1.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Context, Finding, passive
from reference_qm.codec import FormatError
from suites.mqmq.steps.base_bytes import FIELD_OF_ERROR_AFTER_PACKET, STREAM_PACKET_KINDS, has_no_packet


@passive("MQQB-2.1.1-01", STREAM_PACKET_KINDS, "the packet begins with a BaseHeader", decisive=True)
def check_base_header_at_start(packet: Any, context: Context) -> Finding:
    """Check that a packet begins with a valid BaseHeader. The packets that follow an invalid packet are not judged."""
    frame = context.frame
    if frame.transport != "tcp" or (frame.error is not None and frame.error.field == FIELD_OF_ERROR_AFTER_PACKET):
        return None
    if isinstance(packet, FormatError):
        return (False, str(packet)) if has_no_packet(frame) else None
    return True, "the packet begins with a BaseHeader"
