"""Faults of a client after an answer without a message: MQQP-3.2.4.2-35, MQQP-3.2.4.3-35, MQQP-3.2.4.5-35,
MQQP-3.2.4.6-34.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import FormatError
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage


@fault(
    "client-reads-nothing-after-answer-without-message",
    breaks=("MQQP-3.2.4.2-35", "MQQP-3.2.4.3-35", "MQQP-3.2.4.5-35", "MQQP-3.2.4.6-34"),
)
class ClientReadsNothingAfterAnswerWithoutMessage(ClientMessageReading):
    """A client that received an answer with lpBuffer NULL delivers no message of a later answer."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.is_answered_without_message = False

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        if self.is_answered_without_message:
            raise FormatError("lpBuffer", 0, "a fault", "an earlier answer contained no message")
        try:
            return super().reconstruct_message(results, server)
        except FormatError:
            self.is_answered_without_message = True
            raise
