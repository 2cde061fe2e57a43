"""Faults that break rules of MS-MQMQ 2.2.7 QUEUE_FORMAT, written without knowledge of the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.queue_formats import QueueFormats, QueueFormatType, SuffixType
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening
from reference_qm.core.remote.client_steps import RemoteCallSequence, RpcBindingHandle
from reference_qm.core.remote.enums import ShareMode


@fault("server-queue-format-private-with-subqueue-suffix-accepted", breaks="MQMQ-2.2.7-12", blind=True)
class ServerQueueFormatPrivateWithSubqueueSuffixAccepted(QueueFormats):
    """The server accepts a QUEUE_FORMAT of type PRIVATE (0x02) with the suffix of a subqueue, and ignores the
    suffix.
    """

    def build_format_name(self, queue_format: dict[str, Any]) -> str | None:
        private = queue_format["m_qft"] == QueueFormatType.PRIVATE
        if private and queue_format["m_SuffixAndFlags"] == SuffixType.SUBQUEUE:
            queue_format = {**queue_format, "m_SuffixAndFlags": int(SuffixType.NONE)}
        return super().build_format_name(queue_format)


@fault("client-queue-format-direct-name-of-journal-with-prefix", breaks="MQMQ-2.2.7-D01", blind=True)
class ClientQueueFormatDirectNameOfJournalWithPrefix(ClientQueueOpening):
    """The client writes the prefix DIRECT= to m_pDirectID of the QUEUE_FORMAT of a journal or of a system queue."""

    def _open_with_both_interfaces(
        self, application: RpcBindingHandle, queue: RemoteQueue, queue_format: dict[str, Any], share: ShareMode
    ) -> RemoteCallSequence:
        if queue_format["m_qft"] == QueueFormatType.DIRECT and queue_format["m_SuffixAndFlags"]:
            queue_format = {**queue_format, "union": f"DIRECT={queue_format['union']}"}
        return super()._open_with_both_interfaces(application, queue, queue_format, share)
