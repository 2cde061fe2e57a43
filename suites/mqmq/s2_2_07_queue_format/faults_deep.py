"""Faults of MS-MQMQ 2.2.7 that only special cases reveal: undefined flags, other types of names, and numbers compared
in part.
"""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.queue_formats import QueueFormats


@fault("server-queue-format-journal-without-flag-accepted-for-direct-name", breaks="MQMQ-2.2.7-04")
class ServerQueueFormatJournalWithoutFlagAcceptedForDirectName(QueueFormats):
    """The server accepts the suffix of a journal with Flags 0x00 in a QUEUE_FORMAT of a direct name."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 3 and queue_format["m_SuffixAndFlags"] == 1:
            queue_format = queue_format | {"m_SuffixAndFlags": 0x81}
        return super().format_name_of(queue_format)


@fault("server-queue-format-dead-letter-suffix-of-public-name-accepted", breaks="MQMQ-2.2.7-07")
class ServerQueueFormatDeadLetterSuffixOfPublicNameAccepted(QueueFormats):
    """The server ignores the suffix of the dead-letter queue in a QUEUE_FORMAT of a public name."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 1 and queue_format["m_SuffixAndFlags"] == 0x82:
            queue_format = queue_format | {"m_SuffixAndFlags": 0}
        return super().format_name_of(queue_format)


@fault("server-queue-format-subqueue-suffix-of-direct-name-accepted", breaks="MQMQ-2.2.7-12")
class ServerQueueFormatSubqueueSuffixOfDirectNameAccepted(QueueFormats):
    """The server accepts the suffix of a subqueue in a QUEUE_FORMAT of a direct name."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 3 and queue_format["m_SuffixAndFlags"] == 5:
            queue_format = queue_format | {"m_SuffixAndFlags": 0}
        return super().format_name_of(queue_format)


@fault("server-queue-format-reserved-above-0x7fff-refused", breaks="MQMQ-2.2.7-14")
class ServerQueueFormatReservedAbove0x7fffRefused(QueueFormats):
    """The server refuses a QUEUE_FORMAT whose m_reserved is greater than 0x7FFF."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        return None if queue_format["m_reserved"] > 0x7FFF else super().format_name_of(queue_format)


@fault("server-queue-format-uniquifier-cut-to-16-bits", breaks="MQMQ-2.2.7-15")
class ServerQueueFormatUniquifierCutTo16Bits(QueueFormats):
    """The server reads only the lower 16 bits of Uniquifier."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 2:
            value = queue_format["union"]
            queue_format = queue_format | {"union": value | {"Uniquifier": value["Uniquifier"] & 0xFFFF}}
        return super().format_name_of(queue_format)


@fault("server-queue-format-subqueue-cut-at-semicolon", breaks="MQMQ-2.2.7-16")
class ServerQueueFormatSubqueueCutAtSemicolon(QueueFormats):
    """The server opens the main queue when the name of the subqueue in a QUEUE_FORMAT is empty."""

    def format_name_of(self, queue_format: dict[str, Any]) -> str | None:
        name = queue_format["union"]
        if queue_format["m_qft"] == 8 and isinstance(name, str) and name.endswith(";"):
            queue_format = queue_format | {"m_qft": 3, "m_SuffixAndFlags": 0, "union": name[:-1]}
        return super().format_name_of(queue_format)
