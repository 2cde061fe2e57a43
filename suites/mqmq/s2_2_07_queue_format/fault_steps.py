"""Steps that faults of MS-MQMQ 2.2.7 QUEUE_FORMAT share."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import replace_part
from harness.faults.registry import Install
from reference_qm.core.names.queue_formats import QueueFormats, QueueFormatType


def misread_queue_format_suffix(kind: QueueFormatType, suffix: int, other: int) -> Install:
    """Let the server read one m_SuffixAndFlags of a QUEUE_FORMAT type as a different value."""

    class QueueFormatSuffixMisreader(QueueFormats):
        def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
            if (queue_format["m_qft"], queue_format["m_SuffixAndFlags"]) == (kind, suffix):
                queue_format = queue_format | {"m_SuffixAndFlags": other}
            return super().build_format_name(queue_format)

    return replace_part(QueueFormatSuffixMisreader)
