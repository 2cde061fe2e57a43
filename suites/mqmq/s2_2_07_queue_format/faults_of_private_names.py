"""Faults that break rules of MS-MQMQ 2.2.7 QUEUE_FORMAT for the names of private queues."""

from __future__ import annotations

from harness.faults.registry import add
from reference_qm.core.names.queue_formats import SYSTEM_QUEUE_FLAG, QueueFormatType, SuffixType
from suites.mqmq.s2_2_07_queue_format.fault_steps import misread_queue_format_suffix

add(
    "server-private-queue-opened-with-dead-letter-suffix",
    "MQMQ-2.2.7-07",
    "The server ignores the suffix of the dead-letter queue in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SYSTEM_QUEUE_FLAG | SuffixType.DEADLETTER, SuffixType.NONE),
)


add(
    "server-private-queue-opened-with-dead-letter-suffix-without-flag",
    "MQMQ-2.2.7-07",
    "The server ignores the suffix of the dead-letter queue without Flags 0x80 in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SuffixType.DEADLETTER, SuffixType.NONE),
)


add(
    "server-private-queue-opened-with-transactional-dead-letter-suffix",
    "MQMQ-2.2.7-09",
    "The server ignores the suffix of the transactional dead-letter queue in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SYSTEM_QUEUE_FLAG | SuffixType.DEADXACT, SuffixType.NONE),
)


add(
    "server-private-queue-opened-with-flags-0x80",
    "MQMQ-2.2.7-02",
    "The server ignores Flags 0x80 without a suffix in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SYSTEM_QUEUE_FLAG, SuffixType.NONE),
)


add(
    "server-journal-of-private-queue-opened-without-flags",
    "MQMQ-2.2.7-04",
    "The server opens the journal for a private QUEUE_FORMAT with the suffix of a journal and Flags 0x00.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SuffixType.JOURNAL, SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL),
)


add(
    "server-private-queue-opened-with-xactonly",
    "MQMQ-2.2.7-10",
    "The server ignores the suffix XACTONLY in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SuffixType.XACTONLY, SuffixType.NONE),
)


add(
    "server-private-queue-opened-with-subqueue-suffix",
    "MQMQ-2.2.7-12",
    "The server ignores the suffix of a subqueue in the QUEUE_FORMAT of a private queue.",
    misread_queue_format_suffix(QueueFormatType.PRIVATE, SuffixType.SUBQUEUE, SuffixType.NONE),
)
