"""MS-MQMQ 2.5.1, 2.5.2, 2.5.3 Message Properties for Digital Signatures: signatures of transactional messages."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, malforms, needs
from harness.wire import PrivateQueueFormatNameId
from harness.wire.protection import SIG10, SIG20, SIG30
from suites.mqmq.s2_5_digital_signatures.test_digital_signatures import (
    ADMIN_QUEUE_PROPERTY,
    ARRIVAL_ACK_CLASS,
    BAD_SIGNATURE_CLASS,
    CONNECTOR_TYPE_PROPERTY,
    DESTINATION_QUEUE_PROPERTY,
    NEGATIVE_RECEIVE_ACK_PROPERTY,
    POSITIVE_RECEIVE_ACK_PROPERTY,
    RESPONSE_QUEUE_PROPERTY,
    SOURCE_QUEUE_MANAGER_PROPERTY,
    judge_covered_properties,
    read_signature,
)
from suites.mqqb.steps.ordering import get_private_queue_number
from suites.mqqb.steps.secured import SecuredMessageSender, add_signature, sign_message

PROPERTIES_BY_SIGNATURE_TYPE = {
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


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("security", "receive")
@pytest.mark.parametrize(
    "version",
    [
        pytest.param(version, marks=covers(*dict.fromkeys(rule for rule, _ in properties)), id=name)
        for name, (version, properties) in zip(
            ("MQMQ-2.5.1", "MQMQ-2.5.2", "MQMQ-2.5.3"), PROPERTIES_BY_SIGNATURE_TYPE.items(), strict=True
        )
    ],
)
def test_signature_of_transactional_message_covers_property(peer, sut, judge, version):
    """A transactional message with a changed property gets ACK_REACH_QUEUE if it was signed after the change, and
    NACK_BAD_SIGNATURE if it was signed before.
    """
    secured = SecuredMessageSender(peer, sut)
    header = {"ResponseQueue": None, "JN": 0, "JP": 0}

    def build_message():
        return secured.message(queue="transactional", several=version == SIG30, body=b"", header=header)

    properties = PROPERTIES_BY_SIGNATURE_TYPE[version]
    judge_covered_properties(
        judge, secured, version, properties, build_message, "transactional", "transactional message"
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
    value = read_signature(sign_message(build_message(), SIG20), SIG20)
    found = secured.send_and_read_dispositions(
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
