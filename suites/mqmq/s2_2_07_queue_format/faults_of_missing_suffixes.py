"""Faults in the suffixes that the server accepts in a QUEUE_FORMAT (MS-MQMQ 2.2.7)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.names.queue_formats import SYSTEM_QUEUE_FLAG, QueueFormats, QueueFormatType, SuffixType
from suites.mqmq.s2_2_07_queue_format.fault_steps import misread_queue_format_suffix

add(
    "server-queue-format-machine-with-system-flag-and-no-suffix-accepted",
    "MQMQ-2.2.7-03",
    "The server reads a QUEUE_FORMAT of a machine that has the flag SYSTEM and no suffix as the machine's journal.",
    misread_queue_format_suffix(QueueFormatType.MACHINE, SYSTEM_QUEUE_FLAG, SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL),
    blind=True,
)


@fault("server-queue-format-connector-journal-read-as-machine-journal", breaks="MQMQ-2.2.7-05", blind=True)
class ServerQueueFormatConnectorJournalReadAsMachineJournal(QueueFormats):
    """The server reads a QUEUE_FORMAT of a connector with the suffix of a journal as the journal of the machine."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        kind, suffix = queue_format["m_qft"], queue_format["m_SuffixAndFlags"]
        if kind == QueueFormatType.CONNECTOR and suffix & 0x0F == SuffixType.JOURNAL:
            return self._format_machine(self.qm.adm.Identifier, SuffixType.JOURNAL)
        return super().build_format_name(queue_format)
