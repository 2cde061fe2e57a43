from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

from reference_qm.codec import FormatError, parse_format_name
from reference_qm.core.part import QueueManagerPart
from reference_qm.directory.enums import PrivacyLevel
from reference_qm.model.adm import Queue
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

ObjectFormat = dict[str, Any]
Propvariant = dict[str, Any]
"""A PROPVARIANT structure as it was read from a stub."""


class RpcQueueProperty(NamedTuple):
    """A queue property: the type of its value, and the function that returns its value for a queue."""

    vt: VarType
    of: Callable[[Queue], Any]


PROPERTY_BY_IDENTIFIER = MappingProxyType(
    {
        101: RpcQueueProperty(VarType.VT_CLSID, lambda queue: queue.Identifier),
        102: RpcQueueProperty(VarType.VT_CLSID, lambda queue: queue.Type),
        103: RpcQueueProperty(VarType.VT_LPWSTR, lambda queue: queue.Pathname),
        104: RpcQueueProperty(VarType.VT_UI1, lambda queue: int(queue.Journaling)),
        105: RpcQueueProperty(VarType.VT_UI4, lambda queue: queue.Quota),
        106: RpcQueueProperty(VarType.VT_I2, lambda queue: queue.BasePriority & 0xFFFF),
        107: RpcQueueProperty(VarType.VT_UI4, lambda queue: queue.JournalQuota),
        108: RpcQueueProperty(VarType.VT_LPWSTR, lambda queue: queue.Label),
        109: RpcQueueProperty(VarType.VT_I4, lambda queue: queue.CreateTime),
        110: RpcQueueProperty(VarType.VT_I4, lambda queue: queue.ModifyTime),
        111: RpcQueueProperty(VarType.VT_UI1, lambda queue: int(queue.Authentication)),
        112: RpcQueueProperty(VarType.VT_UI4, lambda queue: list(PrivacyLevel).index(queue.PrivacyLevel)),
        113: RpcQueueProperty(VarType.VT_UI1, lambda queue: int(queue.Transactional)),
        124: RpcQueueProperty(VarType.VT_LPWSTR, lambda queue: queue.QualifiedPathname),
        125: RpcQueueProperty(VarType.VT_LPWSTR, lambda queue: queue.MulticastAddress or ""),
        126: RpcQueueProperty(VarType.VT_LPWSTR, lambda queue: queue.DirectoryPath),
    }
)
"""The queue properties (PROPID_Q_*) that a client can request. Spec: MS-MQMP 3.1.1.12, MS-MQMQ 2.3.1."""


class ObjectProperties(QueueManagerPart):
    """Returns the properties of a queue to a client. Spec: MS-MQMP 3.1.4.9, 3.1.1.12; MS-MQMQ 2.3.1.

    The document leaves two points open, which this class resolves as follows. Properties are returned for every local
    queue that a QUEUE_FORMAT can identify, not only for private queues, because the document's check concerns the
    directory, which remote clients can also read. The status for an unknown property identifier is MQ_ERROR_PROPERTY.
    """

    __slots__ = ()

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        """Answer a call with the requested properties of a queue. Spec: MS-MQMP 3.1.4.9."""
        given = call.arguments
        wanted = list(zip(given["aProp"], given["apVar"], strict=True))
        queue = self.find_queue_of_property_request(given["pObjectFormat"])
        if queue is None:
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_QUEUE_NOT_FOUND))
        elif not all(self.check_property_type(identifier, one["vt"]) for identifier, one in wanted):
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_ERROR_PROPERTY))
        else:
            found = [self.get_queue_property(queue, identifier) for identifier, _ in wanted]
            self.qm.remote.carry_out_outputs(call.respond(Return=Status.MQ_OK, apVar=found))

    def find_queue_of_property_request(self, described: ObjectFormat) -> Queue | None:
        """Return the local queue that an OBJECT_FORMAT identifies, or None. Spec: MS-MQMP 3.1.4.9."""
        text = None if described["union"] is None else self.qm.queue_formats.build_format_name(described["union"])
        if text is None:
            return None
        try:
            return self.qm.queue_names.find_queue_by_format_name(parse_format_name(text))
        except FormatError:
            return None

    def check_property_type(self, identifier: int, vt: int) -> bool:
        """Return whether a property is supported and ``vt`` is the type of the property or VT_NULL.

        Spec: MS-MQMP 3.1.4.9.
        """
        known = PROPERTY_BY_IDENTIFIER.get(identifier)
        return known is not None and vt in (known.vt, VarType.VT_NULL)

    def get_queue_property(self, queue: Queue, identifier: int) -> Propvariant:
        """Return the value of a queue property as a PROPVARIANT. Spec: MS-MQMQ 2.3.1, 2.2.13."""
        vt, of = PROPERTY_BY_IDENTIFIER[identifier]
        return {"vt": vt, "wReserved1": 0, "wReserved2": 0, "wReserved3": 0, "_varUnion": of(queue)}
