"""Faults of MS-MQDMPR 3.1.7.1.9 Enqueue Message that only some values reveal."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion

HIGHEST_U32 = 0xFFFF_FFFF


add(
    "queue-manager-label-of-traced-message-with-highest-application-tag-lost",
    "MQDMPR-3.1.7.1.9-26",
    "The queue manager stores a traced message without its label if its ApplicationTag is 0xFFFFFFFF.",
    change_insertion(
        lambda message: (
            replace(message, Label="") if message.TracingRequested and message.AppSpecific == HIGHEST_U32 else message
        )
    ),
)
