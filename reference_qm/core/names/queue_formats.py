from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

from reference_qm.codec import PrivateName, PublicName
from reference_qm.codec.format_names import MachineName
from reference_qm.core.part import QueueManagerPart

SYSTEM_QUEUE_FLAG = 0x80
"""The flag QUEUE_FORMAT_FLAG_SYSTEM."""


class QueueFormatType(IntEnum):
    """The values of QUEUE_FORMAT_TYPE. Spec: MS-MQMQ 2.2.6."""

    UNKNOWN = 0
    PUBLIC = 1
    PRIVATE = 2
    DIRECT = 3
    MACHINE = 4
    CONNECTOR = 5
    DL = 6
    MULTICAST = 7
    SUBQUEUE = 8


class SuffixType(IntEnum):
    """The values of the suffix type in m_SuffixAndFlags of a QUEUE_FORMAT. Spec: MS-MQMQ 2.2.7."""

    NONE = 0
    JOURNAL = 1
    DEADLETTER = 2
    DEADXACT = 3
    XACTONLY = 4
    SUBQUEUE = 5


_READABLE_SUFFIXES_BY_QUEUE_FORMAT_TYPE: dict[QueueFormatType, frozenset[int]] = {
    QueueFormatType.PUBLIC: frozenset({SuffixType.NONE, SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL}),
    QueueFormatType.PRIVATE: frozenset({SuffixType.NONE, SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL}),
    QueueFormatType.DIRECT: frozenset(
        {
            SuffixType.NONE,
            *(SYSTEM_QUEUE_FLAG | one for one in (SuffixType.JOURNAL, SuffixType.DEADLETTER, SuffixType.DEADXACT)),
        }
    ),
    QueueFormatType.MACHINE: frozenset(
        SYSTEM_QUEUE_FLAG | one for one in (SuffixType.JOURNAL, SuffixType.DEADLETTER, SuffixType.DEADXACT)
    ),
    QueueFormatType.SUBQUEUE: frozenset({SuffixType.SUBQUEUE}),
}
"""For each type of QUEUE_FORMAT: the values of m_SuffixAndFlags with which a queue can be opened for reading.

Connectors, distribution lists and multicast names cannot be opened for reading (MS-MQMP 3.1.4.2).
"""


class QueueFormats(QueueManagerPart):
    """Converts a QUEUE_FORMAT to a format name. Spec: MS-MQMQ 2.2.6, 2.2.7."""

    __slots__ = ()

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        """Return the format name of the queue that a QUEUE_FORMAT identifies for reading, or None if the structure
        is invalid.

        A direct name already contains its suffix, and the suffix type repeats the suffix. System queues of a
        computer and the journal of a public queue have no format name of these types, so their direct names are
        returned.
        """
        kind = queue_format["m_qft"]
        suffix = queue_format["m_SuffixAndFlags"]
        if (
            kind not in _READABLE_SUFFIXES_BY_QUEUE_FORMAT_TYPE
            or suffix not in _READABLE_SUFFIXES_BY_QUEUE_FORMAT_TYPE[QueueFormatType(kind)]
        ):
            return None
        return _FORMATTER_BY_QUEUE_FORMAT_TYPE[QueueFormatType(kind)](self)(
            queue_format["union"], SuffixType(suffix & 0x0F)
        )

    def _format_public_queue(self, value: Any, suffix: SuffixType) -> str | None:
        if suffix is SuffixType.NONE:
            return str(PublicName(value))
        queue = self.qm.adm.QueueCollection.find_public_queue(value)
        return None if queue is None else f"DIRECT=OS:{self.qm.config.host_name}\\{queue.Pathname};JOURNAL"

    def _format_private_queue(self, value: Any, suffix: SuffixType) -> str:
        return str(PrivateName(value["Lineage"], value["Uniquifier"], suffix is SuffixType.JOURNAL))

    def _format_direct(self, value: Any, suffix: SuffixType) -> str | None:
        return None if value is None else f"DIRECT={value}"

    def _format_subqueue(self, value: Any, suffix: SuffixType) -> str | None:
        """Return the format name of a subqueue, or None if the value is not a direct name with a subqueue."""
        return self._format_direct(value, suffix) if value is not None and ";" in value else None

    def _format_machine(self, value: Any, suffix: SuffixType) -> str:
        if value != self.qm.adm.Identifier:
            return str(MachineName(value))
        return f"DIRECT=OS:{self.qm.config.host_name}\\SYSTEM$;{suffix.name}"


_FORMATTER_BY_QUEUE_FORMAT_TYPE: Mapping[
    QueueFormatType, Callable[[QueueFormats], Callable[[Any, SuffixType], str | None]]
] = {
    QueueFormatType.PUBLIC: lambda part: part._format_public_queue,
    QueueFormatType.PRIVATE: lambda part: part._format_private_queue,
    QueueFormatType.DIRECT: lambda part: part._format_direct,
    QueueFormatType.MACHINE: lambda part: part._format_machine,
    QueueFormatType.SUBQUEUE: lambda part: part._format_subqueue,
}
