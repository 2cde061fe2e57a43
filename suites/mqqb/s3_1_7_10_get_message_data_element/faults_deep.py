"""Faults of MS-MQQB 3.1.7.10 Get Message Data Element From Buffer that only special cases reveal: second occurrences,
other causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.registry import add
from harness.faults.sent_messages import change_insertion
from reference_qm.model.adm import Message


def _remove_extension_without_body(message: Message) -> Message:
    return message if message.Body else replace(message, Extension=b"")


add(
    "receiver-extension-of-empty-body-lost",
    "MQQB-3.1.7.10-03",
    "The receiver loses the extension of a message without a body.",
    change_insertion(_remove_extension_without_body),
    blind=True,
)
add(
    "receiver-application-tag-of-31-bits",
    "MQQB-3.1.7.10-03",
    "The receiver clears the highest bit of ApplicationTag.",
    change_insertion(lambda message: replace(message, AppSpecific=message.AppSpecific & 0x7FFFFFFF)),
    blind=True,
)
add(
    "receiver-label-of-longest-length-cut",
    "MQQB-3.1.7.10-03",
    "The receiver keeps at most 248 characters of a label.",
    change_insertion(lambda message: replace(message, Label=message.Label[:248])),
    blind=True,
)
add(
    "receiver-correlation-id-cut-at-zero",
    "MQQB-3.1.7.10-03",
    "The receiver sets all bytes of CorrelationID after the first zero byte to zero.",
    change_insertion(
        lambda message: replace(
            message, CorrelationIdentifier=message.CorrelationIdentifier.partition(b"\0")[0].ljust(20, b"\0")
        )
    ),
    blind=True,
)
add(
    "receiver-body-cut-at-1-mb",
    "MQQB-3.1.7.10-03",
    "The receiver keeps at most 1 MB of a body.",
    change_insertion(lambda message: replace(message, Body=message.Body[: 1 << 20])),
    blind=True,
)
