"""MS-MQMQ 2.5.1, 2.5.2, 2.5.3 Message Properties for Digital Signatures: signatures of transactional messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from harness.expectations import facts
from harness.run.marks import covers, malforms, needs
from harness.wire import PrivateQueueFormatNameId
from harness.wire.protection import SIG10, SIG20, SIG30
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import get_private_queue_number
from suites.mqqb.steps.secured import SecuredMessageSender, add_signature, sign_message

ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
CONNECTOR_GUID = "6d71636f-6e66-4f72-8d00-0000000000c0"


class ChangedProperty(NamedTuple):
    """A property of a message: the layer and the field that contain the property, and the value to which the check
    changes it.
    """

    header_name: str
    field: str
    value: Any


RESPONSE_QUEUE_PROPERTY = ChangedProperty("UserHeader", "ResponseQueue", "TCP:{peer}\\private$\\mqc-answers")
ADMIN_QUEUE_PROPERTY = ChangedProperty("UserHeader", "AdminQueue", "TCP:{peer}\\PRIVATE$\\MQC-PEER")
SOURCE_QUEUE_MANAGER_PROPERTY = ChangedProperty("UserHeader", "SourceQueueManager", OTHER_GUID)
CONNECTOR_TYPE_PROPERTY = ChangedProperty("UserHeader", "ConnectorType", CONNECTOR_GUID)
DESTINATION_QUEUE_PROPERTY = ChangedProperty("UserHeader", "DestinationQueue", "TCP:{sut}\\{queue}")
NEGATIVE_RECEIVE_ACK_PROPERTY = ChangedProperty("MessagePropertiesHeader", "NR", 1)
POSITIVE_RECEIVE_ACK_PROPERTY = ChangedProperty("MessagePropertiesHeader", "PR", 1)
PROPERTIES_BY_SIGNATURE = {
    SIG10: (
        ("MQMQ-2.5.1-06", RESPONSE_QUEUE_PROPERTY),
        ("MQMQ-2.5.1-07", ADMIN_QUEUE_PROPERTY),
    ),
    SIG20: (
        ("MQMQ-2.5.2-06", RESPONSE_QUEUE_PROPERTY),
        ("MQMQ-2.5.2-07", ADMIN_QUEUE_PROPERTY),
        ("MQMQ-2.5.2-08", SOURCE_QUEUE_MANAGER_PROPERTY),
        ("MQMQ-2.5.2-12", NEGATIVE_RECEIVE_ACK_PROPERTY),
        ("MQMQ-2.5.2-12", POSITIVE_RECEIVE_ACK_PROPERTY),
        ("MQMQ-2.5.2-15", CONNECTOR_TYPE_PROPERTY),
        ("MQMQ-2.5.2-16", DESTINATION_QUEUE_PROPERTY),
    ),
    SIG30: (
        ("MQMQ-2.5.3-06", RESPONSE_QUEUE_PROPERTY),
        ("MQMQ-2.5.3-07", ADMIN_QUEUE_PROPERTY),
        ("MQMQ-2.5.3-10", SOURCE_QUEUE_MANAGER_PROPERTY),
        ("MQMQ-2.5.3-14", NEGATIVE_RECEIVE_ACK_PROPERTY),
        ("MQMQ-2.5.3-14", POSITIVE_RECEIVE_ACK_PROPERTY),
        ("MQMQ-2.5.3-17", CONNECTOR_TYPE_PROPERTY),
    ),
}
"""For each kind of signature, the rules about the covered properties that a transactional message may have."""


def _change_property(packet, changed, peer, sut):
    value = changed.value
    if isinstance(value, str):
        value = value.format(peer=peer.address, sut=sut.address, queue=sut.queue("transactional").upper())
    setattr(packet[changed.header_name], changed.field, value)
    return packet


def _read_signature(packet, version):
    if version == SIG30:
        return packet["MultiQueueFormatHeader"].Signature.Signature
    return packet["SecurityHeader"].Signature


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("security", "receive")
@pytest.mark.parametrize(
    "version",
    [
        pytest.param(version, marks=covers(*dict.fromkeys(rule for rule, _ in properties)), id=name)
        for name, (version, properties) in zip(
            ("MQMQ-2.5.1", "MQMQ-2.5.2", "MQMQ-2.5.3"), PROPERTIES_BY_SIGNATURE.items(), strict=True
        )
    ],
)
def test_signature_of_transactional_message_covers_property(peer, sut, judge, version):
    """A transactional message with a changed property gets ACK_REACH_QUEUE if it was signed after the change, and
    NACK_BAD_SIGNATURE if it was signed before.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    header = {"ResponseQueue": None, "JN": 0, "JP": 0}

    def build_message():
        return secured.message(queue="transactional", several=version == SIG30, body=b"", header=header)

    packets = {}
    properties = PROPERTIES_BY_SIGNATURE[version]
    for number, (_, changed) in enumerate(properties):
        value = _read_signature(sign_message(build_message(), version), version)
        packets[f"{number} after the change"] = sign_message(
            _change_property(build_message(), changed, peer, sut), version
        )
        packets[f"{number} before the change"] = add_signature(
            _change_property(build_message(), changed, peer, sut), value, in_list=version == SIG30
        )
    found = secured.dispositions(packets, "transactional")
    for number, (rule, changed) in enumerate(properties):
        after, before = found[f"{number} after the change"], found[f"{number} before the change"]
        judge(
            rule,
            expected=facts(
                if_signed_after_the_change=ARRIVAL_ACK_CLASS,
                if_signed_before_the_change=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
            ),
            observed={"if_signed_after_the_change": after.answer, "if_signed_before_the_change": before.silent_refusal},
            case=f"transactional message with a changed {changed.field}",
            evidence=[*after.frames, *before.frames],
            errata="E81",
        )


@needs("security", "receive", "queue_control")
@covers("MQMQ-2.5.2-16")
def test_signature_covers_number_of_private_destination(peer, sut, judge):
    """A message to the number of a private queue gets ACK_REACH_QUEUE if it was signed with this destination, and
    NACK_BAD_SIGNATURE if it was signed with the direct name of the queue.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()
    number = get_private_queue_number(sut, sut.queue("plain"))

    def build_message(**header):
        return secured.message(body=b"", header={"ResponseQueue": None, "DM": 0, "JN": 0, "JP": 0, **header})

    by_number = {
        "DestinationQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=number),
        "QueueManagerAddress": sut.guid,
    }
    value = _read_signature(sign_message(build_message(), SIG20), SIG20)
    found = secured.dispositions(
        {
            "signed with the number": sign_message(_rename_destination(build_message(), by_number), SIG20),
            "signed with the direct name": add_signature(_rename_destination(build_message(), by_number), value),
        }
    )
    after, before = found["signed with the number"], found["signed with the direct name"]
    judge(
        "MQMQ-2.5.2-16",
        expected=facts(
            if_signed_with_the_number=ARRIVAL_ACK_CLASS,
            if_signed_with_the_direct_name=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
        ),
        observed={"if_signed_with_the_number": after.answer, "if_signed_with_the_direct_name": before.silent_refusal},
        case="message to the number of a private queue",
        evidence=[*after.frames, *before.frames],
        errata="E81",
    )


def _rename_destination(packet, fields_of_name):
    for name, value in fields_of_name.items():
        setattr(packet["UserHeader"], name, value)
    return packet
