"""Faults of MS-MQMQ 2.2.7 QUEUE_FORMAT, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.queue_formats import QueueFormats, QueueFormatType


@fault("server-queue-format-of-machine-reserved-refused", breaks="MQMQ-2.2.7-14", blind=True)
class ServerQueueFormatOfMachineReservedRefused(QueueFormats):
    """The server refuses a QUEUE_FORMAT of a machine whose m_reserved is not zero."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.MACHINE and queue_format["m_reserved"]:
            return None
        return super().format_name_of(queue_format)


@fault("server-queue-format-suffix-read-from-three-bits", breaks="MQMQ-2.2.7-D03", blind=True)
class ServerQueueFormatSuffixReadFromThreeBits(QueueFormats):
    """The server reads the suffix from the lower three bits of m_SuffixAndFlags, and accepts a suffix of 8 or more."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        suffix = queue_format["m_SuffixAndFlags"] & 0xF7
        return super().format_name_of({**queue_format, "m_SuffixAndFlags": suffix})
