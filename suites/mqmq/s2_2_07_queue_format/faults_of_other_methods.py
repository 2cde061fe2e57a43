"""Faults in the use of a QUEUE_FORMAT that appear only in one method, or only with one access mode (MS-MQMQ 2.2.7)."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.queue_formats import QueueFormats
from reference_qm.core.queueing.queue_opening import OpenQueueResult
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import DesiredAccess, ShareMode
from reference_qm.core.remote.object_properties import ObjectFormat, ObjectProperties
from reference_qm.core.remote.qmcomm_methods import QmcommMethods
from reference_qm.model.adm import Queue
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now

(
    _PRIVATE_QUEUE_FORMAT_TYPE,
    _MACHINE_QUEUE_FORMAT_TYPE,
    _CONNECTOR_QUEUE_FORMAT_TYPE,
    _MULTICAST_QUEUE_FORMAT_TYPE,
    _SUBQUEUE_QUEUE_FORMAT_TYPE,
) = 2, 4, 5, 7, 8
_SYSTEM_JOURNAL_SUFFIX = 0x81


def _has_type_and_suffix(queue_format: Any, kind: int, suffix: int) -> bool:
    return (
        queue_format is not None and queue_format["m_qft"] == kind and queue_format["m_SuffixAndFlags"] & 0x0F == suffix
    )


@fault("server-returns-properties-for-machine-format-without-suffix", breaks="MQMQ-2.2.7-03", blind=True)
class ServerReturnsPropertiesForMachineFormatWithoutSuffix(ObjectProperties):
    """R_QMGetObjectProperties returns the properties of the computer's journal for a QUEUE_FORMAT of a machine without
    a suffix.
    """

    def find_queue_of_property_request(self, described: ObjectFormat) -> Queue | None:
        inner = described["union"]
        if _has_type_and_suffix(inner, _MACHINE_QUEUE_FORMAT_TYPE, 0) and inner["union"] == self.qm.adm.Identifier:
            described = {**described, "union": {**inner, "m_SuffixAndFlags": _SYSTEM_JOURNAL_SUFFIX}}
        return super().find_queue_of_property_request(described)


@fault("server-opens-machine-queue-format-without-suffix-to-peek", breaks="MQMQ-2.2.7-03", blind=True)
class ServerOpensMachineQueueFormatWithoutSuffixToPeek(QmcommMethods):
    """R_QMOpenRemoteQueue opens the computer's journal to peek for a QUEUE_FORMAT of a machine without a suffix."""

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        given = call.arguments["pQueueFormat"]
        if (
            _has_type_and_suffix(given, _MACHINE_QUEUE_FORMAT_TYPE, 0)
            and call.arguments["dwDesiredAccess"] == DesiredAccess.MQ_PEEK_ACCESS
        ):
            call.arguments["pQueueFormat"] = {**given, "m_SuffixAndFlags": _SYSTEM_JOURNAL_SUFFIX}
        return super().open_remote_queue(call, now)


@fault("server-returns-properties-for-connector-journal-format", breaks="MQMQ-2.2.7-05", blind=True)
class ServerReturnsPropertiesForConnectorJournalFormat(ObjectProperties):
    """R_QMGetObjectProperties returns the properties of the computer's journal for a QUEUE_FORMAT of a connector with
    the suffix of a journal.
    """

    def find_queue_of_property_request(self, described: ObjectFormat) -> Queue | None:
        inner = described["union"]
        if _has_type_and_suffix(inner, _CONNECTOR_QUEUE_FORMAT_TYPE, 1):
            machine = {**inner, "m_qft": _MACHINE_QUEUE_FORMAT_TYPE, "union": self.qm.adm.Identifier}
            described = {**described, "union": machine}
        return super().find_queue_of_property_request(described)


@fault("server-opens-multicast-journal-queue-format-to-peek", breaks="MQMQ-2.2.7-05", blind=True)
class ServerOpensMulticastJournalQueueFormatToPeek(QmcommMethods):
    """R_QMOpenRemoteQueue opens the computer's journal to peek for a QUEUE_FORMAT of a multicast address with the
    suffix of a journal.
    """

    def open_remote_queue(self, call: Call, now: Now) -> OpenQueueResult:
        given = call.arguments["pQueueFormat"]
        peeks = call.arguments["dwDesiredAccess"] == DesiredAccess.MQ_PEEK_ACCESS
        if _has_type_and_suffix(given, _MULTICAST_QUEUE_FORMAT_TYPE, 1) and peeks:
            call.arguments["pQueueFormat"] = {
                **given,
                "m_qft": _MACHINE_QUEUE_FORMAT_TYPE,
                "union": self.qm.adm.Identifier,
            }
        return super().open_remote_queue(call, now)


@fault("server-queue-format-subqueue-flag-0x10-accepted", breaks="MQMQ-2.2.7-11", blind=True)
class ServerQueueFormatSubqueueFlag0x10Accepted(QueueFormats):
    """The server ignores the Flags 0x10 to 0x70 of a QUEUE_FORMAT with the suffix of a subqueue."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if _has_type_and_suffix(queue_format, _SUBQUEUE_QUEUE_FORMAT_TYPE, 5):
            queue_format = {**queue_format, "m_SuffixAndFlags": queue_format["m_SuffixAndFlags"] & 0x8F}
        return super().build_format_name(queue_format)


@fault("client-queue-format-subqueue-flags-0x80-when-peeking", breaks="MQMQ-2.2.7-11", blind=True)
class ClientQueueFormatSubqueueFlags0x80WhenPeeking(ClientQueueOpening):
    """The client opens a subqueue to peek with the Flags 0x80 in m_SuffixAndFlags."""

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        if _has_type_and_suffix(queue_format, _SUBQUEUE_QUEUE_FORMAT_TYPE, 5) and not queue.may_receive:
            queue_format = {**queue_format, "m_SuffixAndFlags": 0x85}
        return super().open_for_application(queue, host, queue_format, share)


@fault("client-queue-format-m-reserved-is-number-of-open-queues", breaks="MQMQ-2.2.7-13", blind=True)
class ClientQueueFormatMReservedIsNumberOfOpenQueues(ClientQueueOpening):
    """The client sets m_reserved to the number of its open remote queues."""

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        opened = len(self.qm.remote_client.queues)
        return super().open_for_application(queue, host, {**queue_format, "m_reserved": opened}, share)


@fault("client-queue-format-m-reserved-copied-from-suffix-and-flags", breaks="MQMQ-2.2.7-13", blind=True)
class ClientQueueFormatMReservedCopiedFromSuffixAndFlags(ClientQueueOpening):
    """The client sets m_reserved to m_SuffixAndFlags."""

    def open_for_application(
        self, queue: RemoteQueue, host: str | None, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        changed = {**queue_format, "m_reserved": queue_format["m_SuffixAndFlags"]}
        return super().open_for_application(queue, host, changed, share)


@fault("server-queue-format-private-uniquifier-above-ffff-truncated", breaks="MQMQ-2.2.7-15", blind=True)
class ServerQueueFormatPrivateUniquifierAboveFfffTruncated(QueueFormats):
    """The server uses only the lower 16 bits of Uniquifier in a QUEUE_FORMAT of a private queue."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if queue_format["m_qft"] == _PRIVATE_QUEUE_FORMAT_TYPE:
            value = queue_format["union"]
            queue_format = {**queue_format, "union": {**value, "Uniquifier": value["Uniquifier"] & 0xFFFF}}
        return super().build_format_name(queue_format)


@fault("server-queue-format-private-journal-lineage-ignored", breaks="MQMQ-2.2.7-15", blind=True)
class ServerQueueFormatPrivateJournalLineageIgnored(QueueFormats):
    """The server ignores Lineage in a QUEUE_FORMAT of the journal of a private queue."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        if _has_type_and_suffix(queue_format, _PRIVATE_QUEUE_FORMAT_TYPE, 1):
            value = queue_format["union"]
            queue_format = {**queue_format, "union": {**value, "Lineage": self.qm.adm.Identifier}}
        return super().build_format_name(queue_format)


@fault("server-queue-format-subqueue-direct-prefix-accepted", breaks="MQMQ-2.2.7-16", blind=True)
class ServerQueueFormatSubqueueDirectPrefixAccepted(QueueFormats):
    """The server accepts a QUEUE_FORMAT of a subqueue whose name begins with DIRECT=."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        value = queue_format["union"]
        if _has_type_and_suffix(queue_format, _SUBQUEUE_QUEUE_FORMAT_TYPE, 5) and value is not None:
            queue_format = {**queue_format, "union": value.removeprefix("DIRECT=")}
        return super().build_format_name(queue_format)


@fault("server-queue-format-subqueue-without-computer-accepted", breaks="MQMQ-2.2.7-16", blind=True)
class ServerQueueFormatSubqueueWithoutComputerAccepted(QueueFormats):
    """The server accepts a QUEUE_FORMAT of a subqueue whose name has no protocol and computer."""

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        value = queue_format["union"]
        if (
            _has_type_and_suffix(queue_format, _SUBQUEUE_QUEUE_FORMAT_TYPE, 5)
            and value is not None
            and ":" not in value
        ):
            queue_format = {**queue_format, "union": f"OS:localhost\\{value}"}
        return super().build_format_name(queue_format)
