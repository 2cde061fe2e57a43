"""Faults of MS-MQMQ 2.2.12 PROPVARIANT Type Constants, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.primitives import during, set_fields
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.part import QM
from reference_qm.core.remote.object_properties import PROPERTY_BY_IDENTIFIER, ObjectProperties
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition
from reference_qm.rpc.interfaces.propvariant import VarType

Construct = Callable[[QM, MessagePosition], UserMessagePacket]


def _with_body_type_of(original: Construct, qm: QM, received: MessagePosition, *_: object) -> Construct:
    def construct_with_body_type(qm: QM, position: MessagePosition) -> UserMessagePacket:
        body_type = received.MessageReference.BodyType
        packet: UserMessagePacket = set_fields(original(qm, position), {"MessagePropertiesHeader.BodyType": body_type})
        return packet

    return construct_with_body_type


add(
    "receiver-final-ack-body-type-copied-from-message",
    "MQMQ-2.2.12-D01",
    "A queue manager sends a FinalAck whose BodyType is the BodyType of the acknowledged message.",
    during(FinalAcks.acknowledge_final, Sending.construct_user_message, _with_body_type_of),
    blind=True,
)


@fault("server-vt-null-refused-for-guid-property", breaks="MQMQ-2.2.12-02", blind=True)
class ServerVtNullRefusedForGuidProperty(ObjectProperties):
    """The server refuses a request with VT_NULL for a property of type VT_CLSID."""

    def check_property_type(self, identifier: int, vt: int) -> bool:
        known = PROPERTY_BY_IDENTIFIER.get(identifier)
        if known is not None and known.vt is VarType.VT_CLSID and vt == VarType.VT_NULL:
            return False
        return super().check_property_type(identifier, vt)
