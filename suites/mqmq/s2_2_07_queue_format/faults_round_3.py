"""Faults that break rules of MS-MQMQ 2.2.7 QUEUE_FORMAT."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.names.queue_formats import QueueFormats, QueueFormatType, SuffixType
from reference_qm.core.remote.object_properties import ObjectFormat, ObjectProperties
from reference_qm.model.adm import Queue


@fault("server-properties-of-direct-name-with-subqueue-suffix", breaks="MQMQ-2.2.7-12", blind=True)
class ServerPropertiesOfDirectNameWithSubqueueSuffix(ObjectProperties):
    """The server returns the properties of a subqueue whose QUEUE_FORMAT has the type DIRECT and the suffix of a
    subqueue.
    """

    def find_described_queue(self, described: ObjectFormat) -> Queue | None:
        name = described["union"]
        if name is not None and (name["m_qft"], name["m_SuffixAndFlags"]) == (
            QueueFormatType.DIRECT,
            SuffixType.SUBQUEUE,
        ):
            described = {**described, "union": {**name, "m_qft": QueueFormatType.SUBQUEUE}}
        return super().find_described_queue(described)


@fault("server-machine-guid-not-read", breaks="MQMQ-2.2.7-D02", blind=True)
class ServerMachineGuidNotRead(QueueFormats):
    """The server does not read m_gMachineID: every QUEUE_FORMAT of type MACHINE identifies the server's own queues."""

    def _format_machine(self, value: Any, suffix: SuffixType) -> str:
        return super()._format_machine(self.qm.adm.Identifier, suffix)
