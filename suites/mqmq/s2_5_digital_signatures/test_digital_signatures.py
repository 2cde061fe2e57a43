"""MS-MQMQ 2.5.1, 2.5.2, 2.5.3 Message Properties for Digital Signatures.

Each check changes the value of one property, before or after the signature is computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from harness.expectations import facts
from harness.run.marks import covers, malforms, needs
from harness.wire import (
    MQFDirectQueueFormatName,
    MQFFormatNameElement,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from harness.wire.protection import SIG10, SIG20, SIG30
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.secured import SecuredMessageSender, add_signature, sign_message

ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
CONNECTOR_GUID = "6d71636f-6e66-4f72-8d00-0000000000c0"


class CheckedProperty(NamedTuple):
    """A property of a message: the layer and the field that contain the property, and the value to which the check
    changes it.
    """

    header_name: str
    field: str
    value: Any


CORRELATION_ID_PROPERTY = CheckedProperty("MessagePropertiesHeader", "CorrelationID", bytes(range(20)))
APPLICATION_TAG_PROPERTY = CheckedProperty("MessagePropertiesHeader", "ApplicationTag", 0xF102_0304)
BODY_PROPERTY = CheckedProperty("MessagePropertiesHeader", "MessageBody", b"a body")
LONG_BODY_PROPERTY = CheckedProperty("MessagePropertiesHeader", "MessageBody", bytes(range(256)) * 257 + b"odd")
"""A body of more than 64 KiB whose size is odd."""
LABEL_PROPERTY = CheckedProperty("MessagePropertiesHeader", "Label", "A l\u00e4bel")
LONG_LABEL_PROPERTY = CheckedProperty("MessagePropertiesHeader", "Label", "n" * 248 + "e")
RESPONSE_QUEUE_PROPERTY = CheckedProperty("UserHeader", "ResponseQueue", "TCP:{peer}\\private$\\mqc-answers")
SOURCE_RESPONSE_QUEUE_PROPERTY = CheckedProperty(
    "UserHeader", "ResponseQueue", PrivateQueueFormatNameId(PrivateQueueIdentifier=7)
)
REMOTE_RESPONSE_QUEUE_PROPERTY = CheckedProperty(
    "UserHeader", "ResponseQueue", PrivateQueueFormatName(SourceQueueManager=OTHER_GUID, PrivateQueueIdentifier=7)
)
PUBLIC_RESPONSE_QUEUE_PROPERTY = CheckedProperty(
    "UserHeader", "ResponseQueue", PublicQueueFormatName(PublicQueueIdentifier=OTHER_GUID)
)
ADMIN_QUEUE_PROPERTY = CheckedProperty("UserHeader", "AdminQueue", "TCP:{peer}\\PRIVATE$\\MQC-PEER")
SOURCE_ADMIN_QUEUE_PROPERTY = CheckedProperty(
    "UserHeader", "AdminQueue", PrivateQueueFormatNameId(PrivateQueueIdentifier=7)
)
EXTENSION_DATA_PROPERTY = CheckedProperty("MessagePropertiesHeader", "ExtensionData", b"ext")
LONG_EXTENSION_PROPERTY = CheckedProperty("MessagePropertiesHeader", "ExtensionData", bytes(range(256)) * 17)
DESTINATIONS_PROPERTY = CheckedProperty("MultiQueueFormatHeader", "Destination", "another")
SOURCE_QUEUE_MANAGER_PROPERTY = CheckedProperty("UserHeader", "SourceQueueManager", OTHER_GUID)
DELIVERY_MODE_PROPERTY = CheckedProperty("UserHeader", "DM", 1)
PRIORITY_PROPERTY = CheckedProperty("BaseHeader", "PR", 5)
DEAD_LETTER_FLAG_PROPERTY = CheckedProperty("UserHeader", "JN", 1)
JOURNAL_FLAG_PROPERTY = CheckedProperty("UserHeader", "JP", 1)
NEGATIVE_RECEIVE_ACK_PROPERTY = CheckedProperty("MessagePropertiesHeader", "NR", 1)
POSITIVE_RECEIVE_ACK_PROPERTY = CheckedProperty("MessagePropertiesHeader", "PR", 1)
REPORT_CLASS_PROPERTY = CheckedProperty("MessagePropertiesHeader", "MessageClass", 1)
ACK_CLASS_PROPERTY = CheckedProperty("MessagePropertiesHeader", "MessageClass", 0x4000)
BODY_TYPE_PROPERTY = CheckedProperty("MessagePropertiesHeader", "BodyType", 0x1011)
CONNECTOR_TYPE_PROPERTY = CheckedProperty("UserHeader", "ConnectorType", CONNECTOR_GUID)
DESTINATION_QUEUE_PROPERTY = CheckedProperty("UserHeader", "DestinationQueue", "TCP:{sut}\\{QUEUE}")

RULES_AND_PROPERTIES_COVERED_BY_SIG10 = (
    ("MQMQ-2.5.1-02", CORRELATION_ID_PROPERTY),
    ("MQMQ-2.5.1-03", APPLICATION_TAG_PROPERTY),
    ("MQMQ-2.5.1-04", BODY_PROPERTY),
    ("MQMQ-2.5.1-04", LONG_BODY_PROPERTY),
    ("MQMQ-2.5.1-05", LABEL_PROPERTY),
    ("MQMQ-2.5.1-05", LONG_LABEL_PROPERTY),
    ("MQMQ-2.5.1-06", RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.1-06", SOURCE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.1-06", REMOTE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.1-06", PUBLIC_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.1-07", ADMIN_QUEUE_PROPERTY),
)
RULES_AND_PROPERTIES_COVERED_BY_SIG20 = (
    ("MQMQ-2.5.2-02", CORRELATION_ID_PROPERTY),
    ("MQMQ-2.5.2-03", APPLICATION_TAG_PROPERTY),
    ("MQMQ-2.5.2-04", BODY_PROPERTY),
    ("MQMQ-2.5.2-04", LONG_BODY_PROPERTY),
    ("MQMQ-2.5.2-05", LABEL_PROPERTY),
    ("MQMQ-2.5.2-05", LONG_LABEL_PROPERTY),
    ("MQMQ-2.5.2-06", RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.2-06", SOURCE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.2-06", REMOTE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.2-06", PUBLIC_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.2-07", ADMIN_QUEUE_PROPERTY),
    ("MQMQ-2.5.2-08", SOURCE_QUEUE_MANAGER_PROPERTY),
    ("MQMQ-2.5.2-09", DELIVERY_MODE_PROPERTY),
    ("MQMQ-2.5.2-10", PRIORITY_PROPERTY),
    ("MQMQ-2.5.2-11", DEAD_LETTER_FLAG_PROPERTY),
    ("MQMQ-2.5.2-11", JOURNAL_FLAG_PROPERTY),
    ("MQMQ-2.5.2-12", NEGATIVE_RECEIVE_ACK_PROPERTY),
    ("MQMQ-2.5.2-12", POSITIVE_RECEIVE_ACK_PROPERTY),
    ("MQMQ-2.5.2-13", REPORT_CLASS_PROPERTY),
    ("MQMQ-2.5.2-13", ACK_CLASS_PROPERTY),
    ("MQMQ-2.5.2-14", BODY_TYPE_PROPERTY),
    ("MQMQ-2.5.2-15", CONNECTOR_TYPE_PROPERTY),
    ("MQMQ-2.5.2-16", DESTINATION_QUEUE_PROPERTY),
)
RULES_AND_PROPERTIES_COVERED_BY_SIG30 = (
    ("MQMQ-2.5.3-02", CORRELATION_ID_PROPERTY),
    ("MQMQ-2.5.3-03", APPLICATION_TAG_PROPERTY),
    ("MQMQ-2.5.3-04", BODY_PROPERTY),
    ("MQMQ-2.5.3-04", LONG_BODY_PROPERTY),
    ("MQMQ-2.5.3-05", LABEL_PROPERTY),
    ("MQMQ-2.5.3-05", LONG_LABEL_PROPERTY),
    ("MQMQ-2.5.3-06", RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.3-06", SOURCE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.3-06", REMOTE_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.3-06", PUBLIC_RESPONSE_QUEUE_PROPERTY),
    ("MQMQ-2.5.3-07", ADMIN_QUEUE_PROPERTY),
    ("MQMQ-2.5.3-08", EXTENSION_DATA_PROPERTY),
    ("MQMQ-2.5.3-08", LONG_EXTENSION_PROPERTY),
    ("MQMQ-2.5.3-09", DESTINATIONS_PROPERTY),
    ("MQMQ-2.5.3-10", SOURCE_QUEUE_MANAGER_PROPERTY),
    ("MQMQ-2.5.3-11", DELIVERY_MODE_PROPERTY),
    ("MQMQ-2.5.3-12", PRIORITY_PROPERTY),
    ("MQMQ-2.5.3-13", DEAD_LETTER_FLAG_PROPERTY),
    ("MQMQ-2.5.3-13", JOURNAL_FLAG_PROPERTY),
    ("MQMQ-2.5.3-14", NEGATIVE_RECEIVE_ACK_PROPERTY),
    ("MQMQ-2.5.3-14", POSITIVE_RECEIVE_ACK_PROPERTY),
    ("MQMQ-2.5.3-15", REPORT_CLASS_PROPERTY),
    ("MQMQ-2.5.3-15", ACK_CLASS_PROPERTY),
    ("MQMQ-2.5.3-16", BODY_TYPE_PROPERTY),
    ("MQMQ-2.5.3-17", CONNECTOR_TYPE_PROPERTY),
)


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("security", "receive")
@pytest.mark.parametrize(
    ("version", "properties"),
    [
        pytest.param(
            SIG10,
            RULES_AND_PROPERTIES_COVERED_BY_SIG10,
            marks=covers(*(rule for rule, _ in RULES_AND_PROPERTIES_COVERED_BY_SIG10)),
            id="MQMQ-2.5.1",
        ),
        pytest.param(
            SIG20,
            RULES_AND_PROPERTIES_COVERED_BY_SIG20,
            marks=covers(*(rule for rule, _ in RULES_AND_PROPERTIES_COVERED_BY_SIG20)),
            id="MQMQ-2.5.2",
        ),
        pytest.param(
            SIG30,
            RULES_AND_PROPERTIES_COVERED_BY_SIG30,
            marks=covers(*(rule for rule, _ in RULES_AND_PROPERTIES_COVERED_BY_SIG30)),
            id="MQMQ-2.5.3",
        ),
        *(
            pytest.param(
                version,
                ((rule, SOURCE_ADMIN_QUEUE_PROPERTY),),
                marks=[covers(rule), needs("private_names")],
                id=f"{rule} by number",
            )
            for version, rule in ((SIG10, "MQMQ-2.5.1-07"), (SIG20, "MQMQ-2.5.2-07"), (SIG30, "MQMQ-2.5.3-07"))
        ),
    ],
)
def test_signature_covers_each_property(peer, sut, judge, version, properties):
    """A message with a changed property gets ACK_REACH_QUEUE if it was signed after the change, and NACK_BAD_SIGNATURE
    if it was signed before.
    """
    secured = SecuredMessageSender(peer, sut)

    def build_message():
        return secured.message(
            several=version == SIG30, body=b"", header={"ResponseQueue": None, "DM": 0, "JN": 0, "JP": 0}
        )

    judge_covered_properties(judge, secured, version, properties, build_message)


def judge_covered_properties(judge, secured, version, properties, build_message, queue="plain", subject="message"):
    """Send each message twice with a changed property: signed after the change, and signed before the change. Judge
    for each rule that the SUT accepts only the first.

    ``properties``: pairs of a rule and a Property. ``build_message``: returns a message without a signature for the
    queue of the kind ``queue``. ``subject``: the name of the message in the verdicts.
    """
    secured.require_accepted_signature()
    packets = {}
    for number, (_, changed) in enumerate(properties):
        packets[f"{number} after the change"] = sign_message(
            _change_property(build_message(), changed, secured, queue), version
        )
        value = read_signature(sign_message(build_message(), version), version)
        packets[f"{number} before the change"] = add_signature(
            _change_property(build_message(), changed, secured, queue), value, in_list=version == SIG30
        )
    dispositions = secured.send_and_read_dispositions(packets, queue)
    for number, (rule, changed) in enumerate(properties):
        after, before = (
            dispositions[f"{number} after the change"],
            dispositions[f"{number} before the change"],
        )
        judge(
            rule,
            expected=facts(
                if_signed_after_the_change=ARRIVAL_ACK_CLASS,
                if_signed_before_the_change=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
            ),
            observed={"if_signed_after_the_change": after.answer, "if_signed_before_the_change": before.silent_refusal},
            case=f"{subject} with a changed {changed.field}",
            evidence=[*after.frames, *before.frames],
            errata="E81",
        )


def read_signature(packet, version):
    """Return the bytes of the signature of a message."""
    if version == SIG30:
        return packet["MultiQueueFormatHeader"].Signature.Signature
    return packet["SecurityHeader"].Signature


def _change_property(packet, changed, secured, queue):
    """Return a message with the changed value of a property."""
    value, peer, sut = changed.value, secured.peer, secured.sut
    if changed.field == "Destination":
        names = [sut.format_name(kind) for kind in ("plain", "transactional", "admin")]
        elements = [
            MQFFormatNameElement(FormatName=MQFDirectQueueFormatName(DirectFormatName=name.removeprefix("DIRECT=")))
            for name in names
        ]
        value = elements
    elif isinstance(value, str):
        value = value.format(peer=peer.address, sut=sut.address, QUEUE=sut.queue(queue).upper())
    setattr(packet[changed.header_name], changed.field, value)
    return packet
