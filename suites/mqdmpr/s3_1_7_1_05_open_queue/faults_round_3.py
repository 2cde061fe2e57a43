"""Faults that break rules of MS-MQDMPR 3.1.7.1.5 Open Queue."""

from __future__ import annotations

from ipaddress import IPv4Address

from harness.faults.parts import fault
from reference_qm.codec.format_names import MultipleElementName
from reference_qm.core.names.queue_formats import QueueFormatType
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.core.remote.enums import DesiredAccess
from reference_qm.core.remote.qmcomm import QUEUE_SHARE_MODES, Qmcomm
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("queue-manager-sharing-of-several-queues-checked-first", breaks="MQDMPR-3.1.7.1.5-09", blind=True)
class QueueManagerSharingOfSeveralQueuesCheckedFirst(QueueOpening):
    """For a receiver that opens several queues with DenyReceive, Open Queue returns
    MQ_ERROR_UNSUPPORTED_ACCESS_MODE.
    """

    def _open_several(
        self,
        name: MultipleElementName,
        required_access: QueueAccessType,
        shared_mode: QueueShareMode,
        now: Now,
    ) -> Opened:
        if shared_mode is not QueueShareMode.DENY_NONE:
            return Status.MQ_ERROR_UNSUPPORTED_ACCESS_MODE, None
        return super()._open_several(name, required_access, shared_mode, now)


@fault("server-multicast-name-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-46", blind=True)
class ServerMulticastNameOpenedToPeek(Qmcomm):
    """The server opens the outgoing queue of a multicast format name for a remote reader with PeekAccess."""

    def open_remote_queue(self, call: Call, now: Now) -> Opened:
        given = call.arguments
        wanted, share = given["pQueueFormat"], QUEUE_SHARE_MODES.get(given["dwShareMode"])
        peek = given["dwDesiredAccess"] == DesiredAccess.MQ_PEEK_ACCESS
        if not peek or share is None or wanted is None or wanted["m_qft"] != QueueFormatType.MULTICAST:
            return super().open_remote_queue(call, now)
        address, port = wanted["union"]["m_address"], wanted["union"]["m_port"]
        for group in (IPv4Address(address), IPv4Address(address.to_bytes(4, "little"))):
            if group.is_multicast and port <= 0xFFFF:
                name = f"MULTICAST={group}:{port}"
                queue = self.qm.destinations.open_outgoing(name, now)
                return self.qm.queue_opening.open_found_queue(queue, name, QueueAccessType.PEEK, share)
        return super().open_remote_queue(call, now)
