"""Faults of MS-MQMQ 2.2.7 QUEUE_FORMAT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.names.queue_formats import SYSTEM, QueueFormats, QueueFormatType, SuffixType
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_opening import ClientOpening
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import ShareMode

QueueFormat = dict[str, Any]

# -- types and suffixes -----------------------------------------------------------------------------------------------


@fault("format-machine-names-unknown", breaks="MQMQ-2.2.7-01")
class MachineNamesUnknown(QueueFormats):
    """QUEUE_FORMAT_TYPE_MACHINE is no type."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.MACHINE:
            return None
        return super().format_name_of(queue_format)


def _suffix_taken(kind: QueueFormatType, suffix: int, other: int) -> Install:
    """Take one suffix of a type for another."""

    class SuffixTaken(QueueFormats):
        def format_name_of(self, queue_format: QueueFormat) -> str | None:
            if (queue_format["m_qft"], queue_format["m_SuffixAndFlags"]) == (kind, suffix):
                queue_format = queue_format | {"m_SuffixAndFlags": other}
            return super().format_name_of(queue_format)

    return replace_part(SuffixTaken)


for _name, _rule, _says, _kind, _suffix, _other in (
    (
        "format-system-flag-ignored",
        "MQMQ-2.2.7-02",
        "A queue is opened as a system queue.",
        QueueFormatType.DIRECT,
        SYSTEM,
        SuffixType.NONE,
    ),
    (
        "format-bare-machine-opened",
        "MQMQ-2.2.7-03",
        "A machine name without suffix is its journal.",
        QueueFormatType.MACHINE,
        SuffixType.NONE,
        SYSTEM | SuffixType.JOURNAL,
    ),
    (
        "format-journal-without-flag",
        "MQMQ-2.2.7-04",
        "A journal is opened without the flag of system queues.",
        QueueFormatType.DIRECT,
        SuffixType.JOURNAL,
        SYSTEM | SuffixType.JOURNAL,
    ),
    (
        "format-dead-letters-without-flag",
        "MQMQ-2.2.7-06",
        "Dead letters are opened without the flag of system queues.",
        QueueFormatType.MACHINE,
        SuffixType.DEADLETTER,
        SYSTEM | SuffixType.DEADLETTER,
    ),
    (
        "format-transactional-dead-letters-without-flag",
        "MQMQ-2.2.7-08",
        "Transactional dead letters are opened without the flag of system queues.",
        QueueFormatType.MACHINE,
        SuffixType.DEADXACT,
        SYSTEM | SuffixType.DEADXACT,
    ),
    (
        "format-transactions-of-no-connector",
        "MQMQ-2.2.7-10",
        "Any queue may be opened for transactions only.",
        QueueFormatType.DIRECT,
        SuffixType.XACTONLY,
        SuffixType.NONE,
    ),
    (
        "format-subqueue-as-system-queue",
        "MQMQ-2.2.7-11",
        "A subqueue is opened as a system queue.",
        QueueFormatType.SUBQUEUE,
        SYSTEM | SuffixType.SUBQUEUE,
        SuffixType.SUBQUEUE,
    ),
    (
        "format-system-flag-of-public-names-ignored",
        "MQMQ-2.2.7-02",
        "A public queue is opened as a system queue.",
        QueueFormatType.PUBLIC,
        SYSTEM,
        SuffixType.NONE,
    ),
    (
        "format-public-journal-is-its-queue",
        "MQMQ-2.2.7-04",
        "The journal of a public queue is the queue itself.",
        QueueFormatType.PUBLIC,
        SYSTEM | SuffixType.JOURNAL,
        SuffixType.NONE,
    ),
):
    add(_name, _rule, _says, _suffix_taken(_kind, _suffix, _other))


def _taken_for_machine(kind: QueueFormatType, suffix: int) -> Install:
    """Take a suffix of another type for that of this machine."""

    class TakenForMachine(QueueFormats):
        def format_name_of(self, queue_format: QueueFormat) -> str | None:
            if (queue_format["m_qft"], queue_format["m_SuffixAndFlags"]) == (kind, suffix):
                queue_format = queue_format | {"m_qft": QueueFormatType.MACHINE, "union": self.qm.adm.Identifier}
            return super().format_name_of(queue_format)

    return replace_part(TakenForMachine)


for _name, _rule, _says, _kind, _suffix in (
    (
        "format-connector-journal",
        "MQMQ-2.2.7-05",
        "A connector has a journal.",
        QueueFormatType.CONNECTOR,
        SYSTEM | SuffixType.JOURNAL,
    ),
    (
        "format-public-dead-letters",
        "MQMQ-2.2.7-07",
        "A public name has dead letters.",
        QueueFormatType.PUBLIC,
        SYSTEM | SuffixType.DEADLETTER,
    ),
    (
        "format-public-transactional-dead-letters",
        "MQMQ-2.2.7-09",
        "A public name has transactional dead letters.",
        QueueFormatType.PUBLIC,
        SYSTEM | SuffixType.DEADXACT,
    ),
):
    add(_name, _rule, _says, _taken_for_machine(_kind, _suffix))


@fault("format-subqueue-of-any-type", breaks="MQMQ-2.2.7-12")
class SubqueueOfAnyType(QueueFormats):
    """A direct name has a subqueue."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        named = queue_format["m_qft"], queue_format["m_SuffixAndFlags"]
        if named == (QueueFormatType.DIRECT, SuffixType.SUBQUEUE):
            queue_format = queue_format | {"m_qft": QueueFormatType.SUBQUEUE}
        return super().format_name_of(queue_format)


@fault("format-public-guid-swapped", breaks="MQMQ-2.2.7-D02")
class PublicGuidSwapped(QueueFormats):
    """The GUID of a public queue is read in the order of its text."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PUBLIC:
            queue_format = queue_format | {"union": UUID(bytes=queue_format["union"].bytes_le)}
        return super().format_name_of(queue_format)


# -- other fields -----------------------------------------------------------------------------------------------------


@fault("format-reserved-sent", breaks="MQMQ-2.2.7-13")
class ReservedSent(ClientOpening):
    """m_reserved of a client is not 0."""

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: QueueFormat, share: ShareMode
    ) -> Sequence:
        return super().open_for_application(queue, host, queue_format | {"m_reserved": 0xA5A5}, share)


@fault("format-reserved-format-used", breaks="MQMQ-2.2.7-14")
class ReservedUsed(QueueFormats):
    """m_reserved makes a difference."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        return None if queue_format["m_reserved"] else super().format_name_of(queue_format)


@fault("format-lineage-ignored", breaks="MQMQ-2.2.7-15")
class LineageIgnored(QueueFormats):
    """Lineage is not looked at."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PRIVATE:
            queue_format = queue_format | {"union": queue_format["union"] | {"Lineage": self.qm.adm.Identifier}}
        return super().format_name_of(queue_format)


@fault("format-subqueue-without-name", breaks="MQMQ-2.2.7-16")
class SubqueueWithoutName(QueueFormats):
    """Without a subqueue the queue itself is opened."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.SUBQUEUE and ";" not in queue_format["union"]:
            queue_format = queue_format | {"m_qft": QueueFormatType.DIRECT, "m_SuffixAndFlags": SuffixType.NONE}
        return super().format_name_of(queue_format)


# -- names and members ------------------------------------------------------------------------------------------------


@fault("format-direct-with-prefix", breaks="MQMQ-2.2.7-D01")
class DirectWithPrefix(QueueFormats):
    """A direct name has to begin with DIRECT=."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.DIRECT and not queue_format["union"].startswith("DIRECT="):
            return None
        return super().format_name_of(queue_format)


@fault("format-nibbles-swapped", breaks="MQMQ-2.2.7-D03")
class NibblesSwapped(QueueFormats):
    """The suffix is in the upper four bits."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        suffix = queue_format["m_SuffixAndFlags"]
        return super().format_name_of(queue_format | {"m_SuffixAndFlags": (suffix & 0xF) << 4 | suffix >> 4})


@fault("format-private-by-guid-alone", breaks="MQMQ-2.2.7-D02")
class PrivateByGuid(QueueFormats):
    """A private name is read as the GUID of a machine."""

    def format_name_of(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PRIVATE:
            machine = {"m_qft": QueueFormatType.MACHINE, "union": queue_format["union"]["Lineage"]}
            queue_format = queue_format | machine
        return super().format_name_of(queue_format)


def _opened_as(change: Callable[[QueueFormat], QueueFormat], of: QueueFormatType | None = None) -> Install:
    """Name a queue of another queue manager in another way; ``of``: only one whose name is of this type."""

    class OpenedAs(ClientOpening):
        def open_for_application(
            self, queue: RemoteQueue, host: str | None, queue_format: QueueFormat, share: ShareMode
        ) -> Sequence:
            meant = of in (None, queue_format["m_qft"])
            return super().open_for_application(queue, host, change(queue_format) if meant else queue_format, share)

    return replace_part(OpenedAs)


add(
    "format-sent-with-prefix",
    "MQMQ-2.2.7-D01",
    "A client sends a direct name with DIRECT=.",
    _opened_as(lambda form: form | {"union": f"DIRECT={form['union']}"}),
)
add(
    "format-sent-as-subqueue",
    "MQMQ-2.2.7-D02",
    "A client sends a direct name as that of a subqueue.",
    _opened_as(lambda form: form | {"m_qft": QueueFormatType.SUBQUEUE}),
)
add(
    "format-sent-system-queue-without-flag",
    ("MQMQ-2.2.7-04", "MQMQ-2.2.7-06", "MQMQ-2.2.7-08"),
    "A client names a system queue by its suffix, without the flag.",
    _opened_as(lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] & 0x0F}),
)
add(
    "format-sent-flag-without-suffix",
    "MQMQ-2.2.7-02",
    "A client names every queue as one of the system.",
    _opened_as(lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] | SYSTEM}),
)
add(
    "format-sent-subqueue-of-the-system",
    "MQMQ-2.2.7-11",
    "A client names a subqueue as one of the system.",
    _opened_as(lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] | SYSTEM}, QueueFormatType.SUBQUEUE),
)
add(
    "format-sent-subqueue-as-direct",
    "MQMQ-2.2.7-12",
    "A client names a subqueue as any direct queue, with the suffix of subqueues.",
    _opened_as(lambda form: form | {"m_qft": QueueFormatType.DIRECT}, QueueFormatType.SUBQUEUE),
)
add(
    "format-sent-subqueue-without-name",
    "MQMQ-2.2.7-16",
    "A client names the queue instead of its subqueue.",
    _opened_as(lambda form: form | {"union": form["union"].partition(";")[0]}, QueueFormatType.SUBQUEUE),
)
add(
    "format-sent-private-as-public",
    "MQMQ-2.2.7-D02",
    "A client names a private queue as a public one.",
    _opened_as(
        lambda form: form | {"m_qft": QueueFormatType.PUBLIC, "union": form["union"]["Lineage"]},
        QueueFormatType.PRIVATE,
    ),
)
add(
    "format-sent-public-as-machine",
    "MQMQ-2.2.7-D02",
    "A client names a public queue as a computer.",
    _opened_as(lambda form: form | {"m_qft": QueueFormatType.MACHINE}, QueueFormatType.PUBLIC),
)
add(
    "format-sent-other-number",
    "MQMQ-2.2.7-15",
    "A client names the private queue after the one that is meant.",
    _opened_as(
        lambda form: form | {"union": form["union"] | {"Uniquifier": form["union"]["Uniquifier"] + 1}},
        QueueFormatType.PRIVATE,
    ),
)
