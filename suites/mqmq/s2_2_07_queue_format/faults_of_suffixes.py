"""Faults in the types, suffixes and flags that the server accepts: MQMQ-2.2.7-01 to MQMQ-2.2.7-D03."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.names.queue_formats import SYSTEM_QUEUE_FLAG, QueueFormats, QueueFormatType, SuffixType
from suites.mqmq.s2_2_07_queue_format.fault_steps import misread_queue_format_suffix

QueueFormat = dict[str, Any]
_PUBLIC_QUEUE_FORMAT_TYPE, _PRIVATE_QUEUE_FORMAT_TYPE, _DIRECT_QUEUE_FORMAT_TYPE = (
    QueueFormatType.PUBLIC,
    QueueFormatType.PRIVATE,
    QueueFormatType.DIRECT,
)
_MACHINE_QUEUE_FORMAT_TYPE, _SUBQUEUE_QUEUE_FORMAT_TYPE = QueueFormatType.MACHINE, QueueFormatType.SUBQUEUE
_JOURNAL_SUFFIX = SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL
_DEAD_LETTER_SUFFIX = SYSTEM_QUEUE_FLAG | SuffixType.DEADLETTER
_TRANSACTIONAL_DEAD_LETTER_SUFFIX = SYSTEM_QUEUE_FLAG | SuffixType.DEADXACT
_TRANSACTIONAL_ONLY_SUFFIX = SYSTEM_QUEUE_FLAG | SuffixType.XACTONLY


def _refuse_queue_formats(is_refused: Callable[[QueueFormat], bool]) -> Install:
    """Let the server refuse a QUEUE_FORMAT for which a condition is true."""

    class FormatRefused(QueueFormats):
        def build_format_name(self, queue_format: QueueFormat) -> str | None:
            return None if is_refused(queue_format) else super().build_format_name(queue_format)

    return replace_part(FormatRefused)


for _name, _rule, _says, _install in (
    (
        "subqueue-refused",
        "MQMQ-2.2.7-01",
        "The server refuses a QUEUE_FORMAT of type SUBQUEUE.",
        _refuse_queue_formats(lambda one: one["m_qft"] == _SUBQUEUE_QUEUE_FORMAT_TYPE),
    ),
    (
        "private-name-refused",
        "MQMQ-2.2.7-01",
        "The server refuses a QUEUE_FORMAT of type PRIVATE.",
        _refuse_queue_formats(lambda one: one["m_qft"] == _PRIVATE_QUEUE_FORMAT_TYPE),
    ),
    (
        "public-name-refused",
        "MQMQ-2.2.7-01",
        "The server refuses a QUEUE_FORMAT of type PUBLIC.",
        _refuse_queue_formats(lambda one: one["m_qft"] == _PUBLIC_QUEUE_FORMAT_TYPE),
    ),
    (
        "machine-dead-letter-suffix-with-flags-0x00-opened",
        "MQMQ-2.2.7-06",
        "The server opens a machine QUEUE_FORMAT with the suffix of the dead-letter queue and Flags 0x00.",
        misread_queue_format_suffix(_MACHINE_QUEUE_FORMAT_TYPE, SuffixType.DEADLETTER, _DEAD_LETTER_SUFFIX),
    ),
    (
        "dead-letter-suffix-with-flags-0x40-opened",
        "MQMQ-2.2.7-06",
        "The server opens a direct QUEUE_FORMAT with the suffix of the dead-letter queue and Flags 0x40.",
        misread_queue_format_suffix(_DIRECT_QUEUE_FORMAT_TYPE, 0x40 | SuffixType.DEADLETTER, _DEAD_LETTER_SUFFIX),
    ),
    (
        "machine-transactional-dead-letter-suffix-with-flags-0x00-opened",
        "MQMQ-2.2.7-08",
        "The server opens a machine QUEUE_FORMAT with the suffix of the transactional dead-letter queue and Flags "
        "0x00.",
        misread_queue_format_suffix(_MACHINE_QUEUE_FORMAT_TYPE, SuffixType.DEADXACT, _TRANSACTIONAL_DEAD_LETTER_SUFFIX),
    ),
    (
        "transactional-dead-letter-suffix-of-machine-refused",
        "MQMQ-2.2.7-08",
        "The server refuses a machine QUEUE_FORMAT with the suffix of the transactional dead-letter queue and Flags "
        "0x80.",
        _refuse_queue_formats(
            lambda one: (
                (one["m_qft"], one["m_SuffixAndFlags"])
                == (_MACHINE_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_DEAD_LETTER_SUFFIX)
            )
        ),
    ),
    (
        "public-name-with-transactional-dead-letter-suffix-opened",
        "MQMQ-2.2.7-09",
        "The server opens a public QUEUE_FORMAT with the suffix of the transactional dead-letter queue.",
        misread_queue_format_suffix(_PUBLIC_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_DEAD_LETTER_SUFFIX, SuffixType.NONE),
    ),
    (
        "private-name-with-transactional-dead-letter-suffix-opened-as-journal",
        "MQMQ-2.2.7-09",
        "The server opens the journal for a private QUEUE_FORMAT with the suffix of the transactional dead-letter "
        "queue.",
        misread_queue_format_suffix(_PRIVATE_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_DEAD_LETTER_SUFFIX, _JOURNAL_SUFFIX),
    ),
    (
        "subqueue-with-transactional-dead-letter-suffix-opened",
        "MQMQ-2.2.7-09",
        "The server opens a subqueue QUEUE_FORMAT with the suffix of the transactional dead-letter queue.",
        misread_queue_format_suffix(
            _SUBQUEUE_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_DEAD_LETTER_SUFFIX, SuffixType.SUBQUEUE
        ),
    ),
    (
        "machine-with-xactonly-opened",
        "MQMQ-2.2.7-10",
        "The server opens the journal for a machine QUEUE_FORMAT with the suffix XACTONLY.",
        misread_queue_format_suffix(_MACHINE_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_ONLY_SUFFIX, _JOURNAL_SUFFIX),
    ),
    (
        "public-name-with-xactonly-opened",
        "MQMQ-2.2.7-10",
        "The server opens a public QUEUE_FORMAT with the suffix XACTONLY.",
        misread_queue_format_suffix(_PUBLIC_QUEUE_FORMAT_TYPE, SuffixType.XACTONLY, SuffixType.NONE),
    ),
    (
        "direct-name-with-xactonly-and-flags-0x80-opened",
        "MQMQ-2.2.7-10",
        "The server opens a direct QUEUE_FORMAT with the suffix XACTONLY and Flags 0x80.",
        misread_queue_format_suffix(_DIRECT_QUEUE_FORMAT_TYPE, _TRANSACTIONAL_ONLY_SUFFIX, SuffixType.NONE),
    ),
    (
        "subqueue-suffix-with-flags-0x40-opened",
        "MQMQ-2.2.7-11",
        "The server opens a subqueue QUEUE_FORMAT with the suffix of a subqueue and Flags 0x40.",
        misread_queue_format_suffix(_SUBQUEUE_QUEUE_FORMAT_TYPE, 0x40 | SuffixType.SUBQUEUE, SuffixType.SUBQUEUE),
    ),
    (
        "highest-bit-of-suffix-ignored",
        "MQMQ-2.2.7-D03",
        "The server ignores bit 3 of the suffix of a direct QUEUE_FORMAT.",
        misread_queue_format_suffix(_DIRECT_QUEUE_FORMAT_TYPE, 0x08, SuffixType.NONE),
    ),
    (
        "lowest-bit-of-flags-ignored",
        "MQMQ-2.2.7-D03",
        "The server ignores bit 4 of m_SuffixAndFlags of a direct QUEUE_FORMAT.",
        misread_queue_format_suffix(_DIRECT_QUEUE_FORMAT_TYPE, 0x10, SuffixType.NONE),
    ),
):
    add(f"server-queue-format-{_name}", _rule, _says, _install, blind=True)


@fault("server-reads-m-reserved-of-queue-format-as-part-of-suffix", breaks="MQMQ-2.2.7-14", blind=True)
class ServerReadsMReservedOfQueueFormatAsPartOfSuffix(QueueFormats):
    """The server reads m_reserved of QUEUE_FORMAT as a part of the suffix, and refuses a suffix that is not known."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_SuffixAndFlags"] and queue_format["m_reserved"]:
            return None
        return super().build_format_name(queue_format)
