"""MS-MQMQ 2.5.1, 2.5.2, 2.5.3 Message Properties for Digital Signatures: the messages that the SUT signs."""

from __future__ import annotations

from base64 import b64encode

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import SIG10, SIG20, SIG30, is_signature
from suites.mqmq.steps.outgoing import MessagesSentBySut

PROPERTIES_OF_UNCHANGED_MESSAGE = {
    "body": "signed",
    "delivery": "express",
    "priority": 0,
    "journal": [],
    "body_type": 0,
}
"""The properties of the first message. Each later message differs from this message in some properties."""
CHANGED_DELIVERY_PROPERTY = {"delivery": "recoverable"}
CHANGED_PRIORITY_PROPERTY = {"priority": 5}
POSITIVE_JOURNALING_PROPERTY = {"journal": ["positive"]}
NEGATIVE_JOURNALING_PROPERTY = {"journal": ["negative"]}
CHANGED_BODY_TYPE_PROPERTY = {"body_type": 0x1011}
EVERY_ACKNOWLEDGMENT_REQUEST = ["positive_arrival", "positive_receive", "negative_arrival", "negative_receive"]
SECOND_DESTINATION_CASE = "list of destinations"
SIGNATURE_TYPE_BY_NAME = {"sig10": SIG10, "sig20": SIG20, "sig30": SIG30}


def _list_signed_property_changes(peer, sut):
    """Return the changed properties that a signature of each type covers, by a description of the change."""
    answers = f"DIRECT=TCP:{peer.address}\\private$\\mqc-"
    changes = {
        "application tag": {"application_tag": 0xF102_0304},
        "label": {"label": "a label"},
        "response queue": {"response_queue": f"{answers}answers"},
        "administration queue": {"admin_queue": f"{answers}admin", "acks": EVERY_ACKNOWLEDGMENT_REQUEST},
    }
    if sut.has("send_extension"):
        changes["correlation identifier"] = {"correlation_id": bytes(range(1, 21)).hex()}
        changes["extension"] = {"extension_base64": b64encode(b"an extension").decode()}
    return changes


CHANGE_BY_PROPERTY_SIGNED_SINCE_MSMQ_2 = {
    "delivery": CHANGED_DELIVERY_PROPERTY,
    "priority": CHANGED_PRIORITY_PROPERTY,
    "positive journaling": POSITIVE_JOURNALING_PROPERTY,
    "negative journaling": NEGATIVE_JOURNALING_PROPERTY,
    "body type": CHANGED_BODY_TYPE_PROPERTY,
}
"""Changed properties that only signatures of MSMQ 2.0 and 3.0 cover, by their description."""
RULE_BY_SIGNATURE_TYPE_AND_CHANGE = {
    "sig20": {
        "delivery": "MQMQ-2.5.2-09",
        "priority": "MQMQ-2.5.2-10",
        "positive journaling": "MQMQ-2.5.2-11",
        "negative journaling": "MQMQ-2.5.2-11",
        "body type": "MQMQ-2.5.2-14",
    },
    "sig30": {
        "delivery": "MQMQ-2.5.3-11",
        "priority": "MQMQ-2.5.3-12",
        "positive journaling": "MQMQ-2.5.3-13",
        "negative journaling": "MQMQ-2.5.3-13",
        "body type": "MQMQ-2.5.3-16",
    },
}
CONTENT_RULE_BY_SIGNATURE_TYPE = {"sig10": "MQMQ-2.2.20.6-25", "sig20": "MQMQ-2.2.20.6-26", "sig30": "MQMQ-2.2.20.6-27"}


def is_signed_by_alice(frame, level):
    """Return whether the message has Alice's signature of the given type."""
    several = level == "sig30"
    if not frame["UserHeader"].SH or (several and not frame["UserHeader"].MQ):
        return False
    value = frame["MultiQueueFormatHeader"].Signature.Signature if several else frame["SecurityHeader"].Signature
    return is_signature(bytes(value), frame.data, SIGNATURE_TYPE_BY_NAME[level], ALICE.certificate)


@needs("security", "send")
@pytest.mark.parametrize(
    "level",
    [
        pytest.param(
            level,
            marks=covers(
                CONTENT_RULE_BY_SIGNATURE_TYPE[level], *RULE_BY_SIGNATURE_TYPE_AND_CHANGE.get(level, {}).values()
            ),
        )
        for level in SIGNATURE_TYPE_BY_NAME
    ],
)
def test_sender_signs_each_changed_property(peer, sut, judge, level):
    """The SUT signs a plain message, and then messages that each differ from the plain message in one property. Each
    message has a valid signature of the requested type. The last message with an MSMQ 3.0 signature has two
    destinations.
    """
    outgoing = MessagesSentBySut(peer, sut)
    changes = (
        {"": {}}
        | _list_signed_property_changes(peer, sut)
        | (CHANGE_BY_PROPERTY_SIGNED_SINCE_MSMQ_2 if level != "sig10" else {})
    )
    if level == "sig30":
        changes[SECOND_DESTINATION_CASE] = {}
    for name, properties in changes.items():
        if name == SECOND_DESTINATION_CASE:
            outgoing.sender.to += f",{peer.direct_name('mqc-second')}"
        frame = outgoing.send(
            **PROPERTIES_OF_UNCHANGED_MESSAGE | properties, authentication_level=level, sender=ALICE.name
        )
        signed = is_signed_by_alice(frame, level)
        if not (name or signed):
            raise ConformanceFailure(
                "the signature of a plain message is invalid: the SUT and the tester may hash different bytes (E81)"
            )
        rules = [rule for of, rule in RULE_BY_SIGNATURE_TYPE_AND_CHANGE.get(level, {}).items() if of == name]
        judge(
            CONTENT_RULE_BY_SIGNATURE_TYPE[level],
            *rules,
            expected=holds("valid", otherwise="invalid"),
            observed=signed,
            case=f"signature of a message with a changed {name}" if name else "signature of a plain message",
            evidence=frame,
        )
    outgoing.end()
