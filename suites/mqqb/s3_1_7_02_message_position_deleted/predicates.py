"""Judge each acknowledgment of a message that left its queue according to the message. Spec: MS-MQQB 3.1.7.2.1."""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from reference_qm.codec import MessageClass, MessagePropertiesHeader
from suites.mqqb.steps.administration_acks import USER_MESSAGE_KIND, apply_predicate_to_acknowledged_messages
from suites.mqqb.steps.received_messages import Message

_POSITIVE_RECEIVE_ACK_REQUEST_BIT_PR, _NEGATIVE_RECEIVE_ACK_REQUEST_BIT_NR = (
    MessagePropertiesHeader.flags(**{name: 1}) for name in ("PR", "NR")
)


def _make_delivery_predicate(wanted: int) -> Any:
    def judge_delivery(packet: Any, message: Message, answered: Any) -> Finding:
        if wanted != message.DM:
            return None
        return (
            wanted == packet.UserHeader.DM,
            f"DM is {packet.UserHeader.DM} in the acknowledgment, and {wanted} in the message",
        )

    return judge_delivery


for rule, wanted in (("MQQB-3.1.7.2.1-01", 1), ("MQQB-3.1.7.2.1-02", 0)):
    passive(rule, USER_MESSAGE_KIND, f"DM is {wanted} for a message with DM {wanted}", of_system=True)(
        apply_predicate_to_acknowledged_messages(_make_delivery_predicate(wanted), left_queue=True)
    )


def _check_request_for_ack(packet: Any, message: Message, answered: Any) -> Finding:
    """Check that PR is set in a message whose acknowledgment reports the receipt, and that NR is set in a message whose
    acknowledgment reports a removal without receipt.
    """
    received = packet.MessagePropertiesHeader.MessageClass == MessageClass.MQMSG_CLASS_ACK_RECEIVE
    name, bit = (
        ("PR", _POSITIVE_RECEIVE_ACK_REQUEST_BIT_PR) if received else ("NR", _NEGATIVE_RECEIVE_ACK_REQUEST_BIT_NR)
    )
    return bool(message.ack_request_bits & bit), f"{name} of the message is {int(bool(message.ack_request_bits & bit))}"


passive("MQQB-3.1.7.2.1-03", USER_MESSAGE_KIND, "the message requested this kind of acknowledgment", of_system=True)(
    apply_predicate_to_acknowledged_messages(_check_request_for_ack, left_queue=True)
)
