"""Faults that break rules of MS-MQMQ 2.2.12 PROPVARIANT Type Constants."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.codec import MessageClass, UserMessagePacket
from reference_qm.core.remote.object_properties import ObjectProperties
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.order_acks import is_final_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import MessagePosition
from reference_qm.rpc import Call, FaultStatus
from reference_qm.rpc.interfaces.propvariant import VarType
from reference_qm.surface.clock import Now

_VARIANTS = VarType.VT_VECTOR | VarType.VT_VARIANT


@fault("server-variants-of-different-types-in-array-faulted", breaks="MQMQ-2.2.12-06", blind=True)
class ServerVariantsOfDifferentTypesInArrayFaulted(ObjectProperties):
    """The server reads every element of an array of PROPVARIANTs with the type of the first element, so an array with
    elements of different types ends in an RPC fault.
    """

    def r_qm_get_object_properties(self, call: Call, now: Now) -> None:
        if any(_has_different_types(one) for one in call.arguments["apVar"]):
            self.qm.remote.note(call.fault(FaultStatus.RPC_X_BAD_STUB_DATA))
        else:
            super().r_qm_get_object_properties(call, now)


def _has_different_types(variant: dict[str, Any]) -> bool:
    if variant["vt"] != _VARIANTS or variant["_varUnion"] is None:
        return False
    elements = variant["_varUnion"]["pElems"] or ()
    return len({one["vt"] for one in elements}) > 1


class _NotingBodyTypes(FinalAcks):
    def acknowledge_final(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        self.__dict__["body_type"] = position.MessageReference.BodyType
        super().acknowledge_final(position, reason, now)
        self.__dict__["body_type"] = 0


class _CopyingBodyTypes(Sending):
    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        body_type = vars(self.qm.final_acks).get("body_type", 0)
        if not body_type or not is_final_ack(packet):
            return packet
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, BodyType=body_type))


add(
    "receiver-final-ack-body-type-of-message",
    "MQMQ-2.2.12-D01",
    "The receiver copies the BodyType of a message that has left its queue to the FinalAck.",
    both(replace_part(_NotingBodyTypes), replace_part(_CopyingBodyTypes)),
    blind=True,
)
