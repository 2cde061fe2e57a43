"""Faults of MS-MQQB 3.1.5.5.2, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.primitives import skip_during
from harness.faults.registry import add
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import SessionAcks

add(
    "sender-express-message-not-deleted-by-ack-in-user-message",
    "MQQB-3.1.5.5.2-01",
    "The sender does not delete express messages that are acknowledged by the SessionHeader of a UserMessage.",
    skip_during(Receiving.receive_user_message, SessionAcks.delete_acknowledged_express),
    blind=True,
)
