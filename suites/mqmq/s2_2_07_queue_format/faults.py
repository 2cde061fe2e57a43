"""Faults that break rules of MS-MQMQ 2.2.7 QUEUE_FORMAT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.names.queue_formats import SYSTEM_QUEUE_FLAG, QueueFormats, QueueFormatType, SuffixType
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import ShareMode
from reference_qm.core.remote.object_properties import ObjectFormat, ObjectProperties
from reference_qm.model.adm import Queue
from suites.mqmq.s2_2_07_queue_format.fault_steps import misread_queue_format_suffix

QueueFormat = dict[str, Any]


@fault("server-refuses-queue-format-of-type-machine", breaks="MQMQ-2.2.7-01")
class ServerRefusesQueueFormatOfTypeMachine(QueueFormats):
    """The server refuses a QUEUE_FORMAT of type MACHINE."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.MACHINE:
            return None
        return super().build_format_name(queue_format)


for _name, _rule, _says, _kind, _suffix, _other in (
    (
        "server-queue-format-direct-with-flags-0x80-opened",
        "MQMQ-2.2.7-02",
        "The server opens a direct QUEUE_FORMAT without a suffix and with Flags 0x80.",
        QueueFormatType.DIRECT,
        SYSTEM_QUEUE_FLAG,
        SuffixType.NONE,
    ),
    (
        "server-queue-format-machine-without-suffix-opened",
        "MQMQ-2.2.7-03",
        "The server opens the journal for a machine QUEUE_FORMAT without a suffix.",
        QueueFormatType.MACHINE,
        SuffixType.NONE,
        SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL,
    ),
    (
        "server-queue-format-journal-without-flags-opened",
        "MQMQ-2.2.7-04",
        "The server opens a QUEUE_FORMAT with the suffix of a journal and Flags 0x00.",
        QueueFormatType.DIRECT,
        SuffixType.JOURNAL,
        SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL,
    ),
    (
        "server-queue-format-deadletter-without-flags-opened",
        "MQMQ-2.2.7-06",
        "The server opens a QUEUE_FORMAT with the suffix of the dead-letter queue and Flags 0x00.",
        QueueFormatType.MACHINE,
        SuffixType.DEADLETTER,
        SYSTEM_QUEUE_FLAG | SuffixType.DEADLETTER,
    ),
    (
        "server-queue-format-deadxact-without-flags-opened",
        "MQMQ-2.2.7-08",
        "The server opens a QUEUE_FORMAT with the suffix of the transactional dead-letter queue and Flags 0x00.",
        QueueFormatType.MACHINE,
        SuffixType.DEADXACT,
        SYSTEM_QUEUE_FLAG | SuffixType.DEADXACT,
    ),
    (
        "server-queue-format-direct-with-xactonly-opened",
        "MQMQ-2.2.7-10",
        "The server opens a direct QUEUE_FORMAT with the suffix XACTONLY.",
        QueueFormatType.DIRECT,
        SuffixType.XACTONLY,
        SuffixType.NONE,
    ),
    (
        "server-queue-format-subqueue-with-flags-0x80-opened",
        "MQMQ-2.2.7-11",
        "The server opens a QUEUE_FORMAT of a subqueue with Flags 0x80.",
        QueueFormatType.SUBQUEUE,
        SYSTEM_QUEUE_FLAG | SuffixType.SUBQUEUE,
        SuffixType.SUBQUEUE,
    ),
    (
        "server-queue-format-public-with-flags-0x80-opened",
        "MQMQ-2.2.7-02",
        "The server opens a public QUEUE_FORMAT without a suffix and with Flags 0x80.",
        QueueFormatType.PUBLIC,
        SYSTEM_QUEUE_FLAG,
        SuffixType.NONE,
    ),
    (
        "server-queue-format-public-journal-opens-queue",
        "MQMQ-2.2.7-04",
        "The server opens the main queue for a public QUEUE_FORMAT with the suffix of a journal.",
        QueueFormatType.PUBLIC,
        SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL,
        SuffixType.NONE,
    ),
):
    add(_name, _rule, _says, misread_queue_format_suffix(_kind, _suffix, _other))


def _change_opened_queue_format(
    change: Callable[[QueueFormat], QueueFormat], of: QueueFormatType | None = None
) -> Install:
    """Change the QUEUE_FORMAT that the client sends to open a remote queue; with `of`, only a QUEUE_FORMAT of that
    type.
    """

    class OpenedQueueFormatChanger(ClientQueueOpening):
        def open_for_application(
            self, queue: RemoteQueue, host: str | None, queue_format: QueueFormat, share: ShareMode
        ) -> RemoteCallSequence:
            meant = of in (None, queue_format["m_qft"])
            return super().open_for_application(queue, host, change(queue_format) if meant else queue_format, share)

    return replace_part(OpenedQueueFormatChanger)


add(
    "client-queue-format-flags-0x80-without-suffix",
    "MQMQ-2.2.7-02",
    "The client's QUEUE_FORMAT of every queue carries Flags 0x80.",
    _change_opened_queue_format(lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] | SYSTEM_QUEUE_FLAG}),
)


add(
    "client-queue-format-system-queue-without-flags",
    ("MQMQ-2.2.7-04", "MQMQ-2.2.7-06", "MQMQ-2.2.7-08"),
    "The client's QUEUE_FORMAT of a system queue carries Flags 0x00.",
    _change_opened_queue_format(lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] & 0x0F}),
)


@fault("server-accepts-direct-name-with-journal-suffix-and-flags-0", breaks="MQMQ-2.2.7-04")
class ServerAcceptsDirectNameWithJournalSuffixAndFlags0(QueueFormats):
    """The server accepts the suffix of a journal with Flags 0x00 in a QUEUE_FORMAT of a direct name."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 3 and queue_format["m_SuffixAndFlags"] == 1:
            queue_format = queue_format | {"m_SuffixAndFlags": 0x81}
        return super().build_format_name(queue_format)


def _read_suffix_like_suffix_of_machine_format(kind: QueueFormatType, suffix: int) -> Install:
    """Let the server read a suffix of any QUEUE_FORMAT type as a suffix of type MACHINE."""

    class MachineSuffixMisreader(QueueFormats):
        def build_format_name(self, queue_format: QueueFormat) -> str | None:
            if (queue_format["m_qft"], queue_format["m_SuffixAndFlags"]) == (kind, suffix):
                queue_format = queue_format | {"m_qft": QueueFormatType.MACHINE, "union": self.qm.adm.Identifier}
            return super().build_format_name(queue_format)

    return replace_part(MachineSuffixMisreader)


for _name, _rule, _says, _kind, _suffix in (
    (
        "server-queue-format-connector-journal-opened",
        "MQMQ-2.2.7-05",
        "The server opens its own journal for a connector QUEUE_FORMAT with the suffix of a journal.",
        QueueFormatType.CONNECTOR,
        SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL,
    ),
    (
        "server-queue-format-public-deadletter-opened",
        "MQMQ-2.2.7-07",
        "The server opens its dead-letter queue for a public QUEUE_FORMAT with the suffix of the dead-letter queue.",
        QueueFormatType.PUBLIC,
        SYSTEM_QUEUE_FLAG | SuffixType.DEADLETTER,
    ),
    (
        "server-queue-format-public-deadxact-opened",
        "MQMQ-2.2.7-09",
        "The server opens its transactional dead-letter queue for a public QUEUE_FORMAT with the suffix of that queue.",
        QueueFormatType.PUBLIC,
        SYSTEM_QUEUE_FLAG | SuffixType.DEADXACT,
    ),
):
    add(_name, _rule, _says, _read_suffix_like_suffix_of_machine_format(_kind, _suffix))


@fault("server-queue-format-dead-letter-suffix-of-public-name-accepted", breaks="MQMQ-2.2.7-07")
class ServerQueueFormatDeadLetterSuffixOfPublicNameAccepted(QueueFormats):
    """The server ignores the suffix of the dead-letter queue in a QUEUE_FORMAT of a public name."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 1 and queue_format["m_SuffixAndFlags"] == 0x82:
            queue_format = queue_format | {"m_SuffixAndFlags": 0}
        return super().build_format_name(queue_format)


add(
    "client-queue-format-subqueue-with-flags-0x80",
    "MQMQ-2.2.7-11",
    "The client's QUEUE_FORMAT of a subqueue carries Flags 0x80.",
    _change_opened_queue_format(
        lambda form: form | {"m_SuffixAndFlags": form["m_SuffixAndFlags"] | SYSTEM_QUEUE_FLAG}, QueueFormatType.SUBQUEUE
    ),
)


@fault("server-queue-format-direct-with-subqueue-suffix-opened", breaks="MQMQ-2.2.7-12")
class ServerQueueFormatDirectWithSubqueueSuffixOpened(QueueFormats):
    """The server opens a direct QUEUE_FORMAT with the suffix of a subqueue."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        named = queue_format["m_qft"], queue_format["m_SuffixAndFlags"]
        if named == (QueueFormatType.DIRECT, SuffixType.SUBQUEUE):
            queue_format = queue_format | {"m_qft": QueueFormatType.SUBQUEUE}
        return super().build_format_name(queue_format)


add(
    "client-queue-format-subqueue-as-direct",
    "MQMQ-2.2.7-12",
    "The client's QUEUE_FORMAT of a subqueue carries m_qft DIRECT.",
    _change_opened_queue_format(lambda form: form | {"m_qft": QueueFormatType.DIRECT}, QueueFormatType.SUBQUEUE),
)


@fault("server-queue-format-subqueue-suffix-of-direct-name-accepted", breaks="MQMQ-2.2.7-12")
class ServerQueueFormatSubqueueSuffixOfDirectNameAccepted(QueueFormats):
    """The server accepts the suffix of a subqueue in a QUEUE_FORMAT of a direct name."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 3 and queue_format["m_SuffixAndFlags"] == 5:
            queue_format = queue_format | {"m_SuffixAndFlags": 0}
        return super().build_format_name(queue_format)


@fault("client-queue-format-reserved-not-zero", breaks="MQMQ-2.2.7-13")
class ClientQueueFormatReservedNotZero(ClientQueueOpening):
    """The client sends m_reserved 0xA5A5 in its QUEUE_FORMAT."""

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: QueueFormat, share: ShareMode
    ) -> RemoteCallSequence:
        return super().open_for_application(queue, host, queue_format | {"m_reserved": 0xA5A5}, share)


@fault("server-queue-format-nonzero-reserved-refused", breaks="MQMQ-2.2.7-14")
class ServerQueueFormatNonzeroReservedRefused(QueueFormats):
    """The server refuses a QUEUE_FORMAT with a nonzero m_reserved."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        return None if queue_format["m_reserved"] else super().build_format_name(queue_format)


@fault("server-refuses-machine-queue-format-with-nonzero-m-reserved", breaks="MQMQ-2.2.7-14", blind=True)
class ServerRefusesMachineQueueFormatWithNonzeroMReserved(QueueFormats):
    """The server refuses a QUEUE_FORMAT of a machine whose m_reserved is not zero."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.MACHINE and queue_format["m_reserved"]:
            return None
        return super().build_format_name(queue_format)


@fault("server-queue-format-reserved-above-0x7fff-refused", breaks="MQMQ-2.2.7-14")
class ServerQueueFormatReservedAbove0x7fffRefused(QueueFormats):
    """The server refuses a QUEUE_FORMAT whose m_reserved is greater than 0x7FFF."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        return None if queue_format["m_reserved"] > 0x7FFF else super().build_format_name(queue_format)


@fault("server-ignores-lineage-of-private-queue-format", breaks="MQMQ-2.2.7-15")
class ServerIgnoresLineageOfPrivateQueueFormat(QueueFormats):
    """The server opens a private QUEUE_FORMAT with any Lineage."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PRIVATE:
            queue_format = queue_format | {"union": queue_format["union"] | {"Lineage": self.qm.adm.Identifier}}
        return super().build_format_name(queue_format)


add(
    "client-queue-format-uniquifier-one-too-high",
    "MQMQ-2.2.7-15",
    "The client's QUEUE_FORMAT of a private queue carries a Uniquifier that is one too high.",
    _change_opened_queue_format(
        lambda form: form | {"union": form["union"] | {"Uniquifier": form["union"]["Uniquifier"] + 1}},
        QueueFormatType.PRIVATE,
    ),
)


@fault("server-queue-format-uniquifier-cut-to-16-bits", breaks="MQMQ-2.2.7-15")
class ServerQueueFormatUniquifierCutTo16Bits(QueueFormats):
    """The server reads only the lower 16 bits of Uniquifier."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == 2:
            value = queue_format["union"]
            queue_format = queue_format | {"union": value | {"Uniquifier": value["Uniquifier"] & 0xFFFF}}
        return super().build_format_name(queue_format)


@fault("server-queue-format-subqueue-without-name-opened", breaks="MQMQ-2.2.7-16")
class ServerQueueFormatSubqueueWithoutNameOpened(QueueFormats):
    """The server opens the main queue for a QUEUE_FORMAT of type SUBQUEUE whose name contains no subqueue."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.SUBQUEUE and ";" not in queue_format["union"]:
            queue_format = queue_format | {"m_qft": QueueFormatType.DIRECT, "m_SuffixAndFlags": SuffixType.NONE}
        return super().build_format_name(queue_format)


add(
    "client-queue-format-subqueue-without-name",
    "MQMQ-2.2.7-16",
    "The client's QUEUE_FORMAT of a subqueue carries the name of the queue without the subqueue.",
    _change_opened_queue_format(
        lambda form: form | {"union": form["union"].partition(";")[0]}, QueueFormatType.SUBQUEUE
    ),
)


@fault("server-opens-main-queue-for-empty-subqueue-name", breaks="MQMQ-2.2.7-16")
class ServerOpensMainQueueForEmptySubqueueName(QueueFormats):
    """The server opens the main queue when the name of the subqueue in a QUEUE_FORMAT is empty."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        name = queue_format["union"]
        if queue_format["m_qft"] == 8 and isinstance(name, str) and name.endswith(";"):
            queue_format = queue_format | {"m_qft": 3, "m_SuffixAndFlags": 0, "union": name[:-1]}
        return super().build_format_name(queue_format)


@fault("server-refuses-direct-queue-format-without-prefix", breaks="MQMQ-2.2.7-D01")
class ServerRefusesDirectQueueFormatWithoutPrefix(QueueFormats):
    """The server refuses a direct QUEUE_FORMAT whose name does not begin with DIRECT=."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.DIRECT and not queue_format["union"].startswith("DIRECT="):
            return None
        return super().build_format_name(queue_format)


add(
    "client-queue-format-direct-with-prefix",
    "MQMQ-2.2.7-D01",
    "The client's direct QUEUE_FORMAT carries a name that begins with DIRECT=.",
    _change_opened_queue_format(lambda form: form | {"union": f"DIRECT={form['union']}"}),
)


@fault("server-reads-guid-of-public-queue-format-as-big-endian", breaks="MQMQ-2.2.7-D02")
class ServerReadsGuidOfPublicQueueFormatAsBigEndian(QueueFormats):
    """The server reads the GUID of a public QUEUE_FORMAT in big-endian order."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PUBLIC:
            queue_format = queue_format | {"union": UUID(bytes=queue_format["union"].bytes_le)}
        return super().build_format_name(queue_format)


@fault("server-reads-private-queue-format-as-type-machine", breaks="MQMQ-2.2.7-D02")
class ServerReadsPrivateQueueFormatAsTypeMachine(QueueFormats):
    """The server reads a private QUEUE_FORMAT as a QUEUE_FORMAT of type MACHINE."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        if queue_format["m_qft"] == QueueFormatType.PRIVATE:
            machine = {"m_qft": QueueFormatType.MACHINE, "union": queue_format["union"]["Lineage"]}
            queue_format = queue_format | machine
        return super().build_format_name(queue_format)


add(
    "client-queue-format-direct-as-subqueue",
    "MQMQ-2.2.7-D02",
    "The client's QUEUE_FORMAT of a direct queue carries m_qft SUBQUEUE.",
    _change_opened_queue_format(lambda form: form | {"m_qft": QueueFormatType.SUBQUEUE}),
)


add(
    "client-queue-format-private-as-public",
    "MQMQ-2.2.7-D02",
    "The client's QUEUE_FORMAT of a private queue carries m_qft PUBLIC.",
    _change_opened_queue_format(
        lambda form: form | {"m_qft": QueueFormatType.PUBLIC, "union": form["union"]["Lineage"]},
        QueueFormatType.PRIVATE,
    ),
)


add(
    "client-queue-format-public-as-machine",
    "MQMQ-2.2.7-D02",
    "The client's QUEUE_FORMAT of a public queue carries m_qft MACHINE.",
    _change_opened_queue_format(lambda form: form | {"m_qft": QueueFormatType.MACHINE}, QueueFormatType.PUBLIC),
)


@fault("server-reads-queue-format-suffix-from-upper-bits", breaks="MQMQ-2.2.7-D03")
class ServerReadsQueueFormatSuffixFromUpperBits(QueueFormats):
    """The server reads the suffix of a QUEUE_FORMAT from the upper four bits of m_SuffixAndFlags."""

    def build_format_name(self, queue_format: QueueFormat) -> str | None:
        suffix = queue_format["m_SuffixAndFlags"]
        return super().build_format_name(queue_format | {"m_SuffixAndFlags": (suffix & 0xF) << 4 | suffix >> 4})


@fault("server-queue-format-suffix-read-from-three-bits", breaks="MQMQ-2.2.7-D03", blind=True)
class ServerQueueFormatSuffixReadFromThreeBits(QueueFormats):
    """The server reads the suffix from the lower three bits of m_SuffixAndFlags, and accepts a suffix of 8 or more."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        suffix = queue_format["m_SuffixAndFlags"] & 0xF7
        return super().build_format_name({**queue_format, "m_SuffixAndFlags": suffix})


@fault("server-returns-properties-for-direct-name-with-subqueue-suffix", breaks="MQMQ-2.2.7-12", blind=True)
class ServerReturnsPropertiesForDirectNameWithSubqueueSuffix(ObjectProperties):
    """The server returns the properties of a subqueue whose QUEUE_FORMAT has the type DIRECT and the suffix of a
    subqueue.
    """

    def find_queue_of_property_request(self, described: ObjectFormat) -> Queue | None:
        name = described["union"]
        if name is not None and (name["m_qft"], name["m_SuffixAndFlags"]) == (
            QueueFormatType.DIRECT,
            SuffixType.SUBQUEUE,
        ):
            described = {**described, "union": {**name, "m_qft": QueueFormatType.SUBQUEUE}}
        return super().find_queue_of_property_request(described)


@fault("server-ignores-machine-guid-of-queue-format", breaks="MQMQ-2.2.7-D02", blind=True)
class ServerIgnoresMachineGuidOfQueueFormat(QueueFormats):
    """The server does not read m_gMachineID: every QUEUE_FORMAT of type MACHINE identifies the server's own queues."""

    def _format_machine(self, value: Any, suffix: SuffixType) -> str:
        return super()._format_machine(self.qm.adm.Identifier, suffix)
