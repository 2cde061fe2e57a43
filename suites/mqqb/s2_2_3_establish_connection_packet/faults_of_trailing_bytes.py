"""Faults that break MQQB-2.2.3-D01: some EstablishConnection packets have trailing bytes."""

from __future__ import annotations

from typing import Any

from harness.faults.registry import add
from harness.faults.sent_messages import correct_packet_size
from harness.faults.session_packets import (
    change_sent_packet,
    has_earlier_request,
    has_other_session,
    was_session_refused,
)
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session


def _append_4_bytes_to_establish_packet(data: bytes) -> bytes:
    return correct_packet_size(data + bytes(4))


def _is_response_while_other_session_exists(qm: QueueManager, session: Session, packet: Any) -> bool:
    return not session.initiator and has_other_session(qm, session, packet)


for _words, _condition, _says in (
    ("refusal", was_session_refused, "response that refuses the session"),
    ("later-request", has_earlier_request, "request of a second connection to the same destination"),
    (
        "response-beside-other-session",
        _is_response_while_other_session_exists,
        "response while another session is open",
    ),
):
    add(
        f"establish-connection-{_words}-4-trailing-bytes",
        "MQQB-2.2.3-D01",
        f"The queue manager appends 4 bytes to the EstablishConnection {_says}.",
        change_sent_packet(EstablishConnectionPacket, _append_4_bytes_to_establish_packet, _condition),
        blind=True,
    )
