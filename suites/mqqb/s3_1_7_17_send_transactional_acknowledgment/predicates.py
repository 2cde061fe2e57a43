"""Judge the message properties of OrderAcks and FinalAcks, and compare their bodies with the messages that they
acknowledge. Spec: MS-MQQB 3.1.7.17.
"""

from __future__ import annotations

from typing import Any

from harness.judging.passive import Finding, passive
from suites.mqqb.steps.order_and_final_acks import (
    ORDERING_ACK_LABEL,
    USER_MESSAGE_KIND,
    apply_predicate_to_order_and_final_acks,
    is_final_ack,
    is_order_ack,
)
from suites.mqqb.steps.transactional_acks import (
    apply_predicate_to_order_acks_of_receiver,
    check_sequence_was_received,
    make_field_of_message_predicate,
)

EXPECTATION_OF_MESSAGE_WITHOUT_REQUESTS = (
    f"PR, TR, JN, JP, AQ, RQ, SH and BodyType are 0, and Label is {ORDERING_ACK_LABEL!a}"
)


def _is_order_or_final_ack(packet: Any) -> bool:
    return is_order_ack(packet) or is_final_ack(packet)


@passive(
    "MQQB-3.1.7.17-05",
    USER_MESSAGE_KIND,
    EXPECTATION_OF_MESSAGE_WITHOUT_REQUESTS,
    of_system=True,
)
@apply_predicate_to_order_and_final_acks(_is_order_or_final_ack)
def check_message_requests_nothing(packet: Any) -> Finding:
    """Check that a message requests no service, such as acknowledgments or journaling."""
    base, user, properties = packet.BaseHeader, packet.UserHeader, packet.MessagePropertiesHeader
    values = {name: getattr(base, name) for name in ("PR", "TR")}
    values |= {name: getattr(user, name) for name in ("JN", "JP", "AQ", "RQ", "SH")}
    values["BodyType"] = properties.BodyType
    wrong = [f"{name} is {value}" for name, value in values.items() if value]
    wrong += [] if properties.Label == ORDERING_ACK_LABEL else [f"Label is {properties.Label!a}"]
    return not wrong, ", ".join(wrong) or EXPECTATION_OF_MESSAGE_WITHOUT_REQUESTS


@passive("MQQB-3.1.7.17-D01", USER_MESSAGE_KIND, "DM of a FinalAck is 1", of_system=True)
@apply_predicate_to_order_and_final_acks(is_final_ack)
def check_recoverable_final_ack(packet: Any) -> Finding:
    """Check that a FinalAck is recoverable; erratum E36 is about OrderAcks."""
    return packet.UserHeader.DM == 1, f"DM is {packet.UserHeader.DM}"


@passive("MQQB-3.1.7.17-D02", USER_MESSAGE_KIND, "PrivacyLevel is 0, and EB of a SecurityHeader is 0", of_system=True)
@apply_predicate_to_order_and_final_acks(_is_order_or_final_ack)
def check_body_in_clear(packet: Any) -> Finding:
    """Check that the body is not encrypted."""
    security, level = packet.SecurityHeader, packet.MessagePropertiesHeader.PrivacyLevel
    encrypted = security is not None and security.EB
    return not encrypted and level == 0, f"EB is {int(bool(encrypted))}, and PrivacyLevel is {level}"


passive(
    "MQQB-3.1.7.17-D03", USER_MESSAGE_KIND, "TxSequenceID equals TxSequenceID of received messages", of_system=True
)(apply_predicate_to_order_acks_of_receiver(check_sequence_was_received))
passive(
    "MQQB-3.1.7.17-D08",
    USER_MESSAGE_KIND,
    "TxPreviousSequenceNumber equals PreviousTxSequenceNumber of the message",
    of_system=True,
)(make_field_of_message_predicate("TxPreviousSequenceNumber", "PreviousTxSequenceNumber"))
