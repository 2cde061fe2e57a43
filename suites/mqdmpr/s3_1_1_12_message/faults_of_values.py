"""Faults of MS-MQDMPR 3.1.1.12 Message that only some values of messages reveal."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion
from reference_qm.model.message import INFINITE

add(
    "queue-manager-locked-message-with-time-limit-can-be-peeked",
    "MQDMPR-3.1.1.12-D03",
    "A reader can peek at a message with a TimeToBeReceived although a transaction has received the message.",
    change_insertion(lambda message: replace(message, AllowPeekWhenLocked=message.TimeToBeReceived != INFINITE)),
)
