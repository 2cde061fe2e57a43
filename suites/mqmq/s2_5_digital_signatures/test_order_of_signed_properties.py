"""MS-MQMQ 2.5.3 Message Properties for Digital Signatures: the order of the properties in an MSMQ 3.0 signature."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE
from harness.wire.protection import SIG30, compute_signature
from suites.mqqb.steps.secured import SecuredMessageSender, add_signature, sign_message

ARRIVAL_ACK_CLASS, BAD_SIGNATURE_CLASS = "ACK_REACH_QUEUE", "NACK_BAD_SIGNATURE"
MESSAGE_LABEL = "A label"
RESPONSE_QUEUE_TEMPLATE = "TCP:{}\\private$\\mqc-answers"


@needs("security", "receive")
@covers("MQMQ-2.5.3-05")
def test_label_precedes_response_queue_in_signed_properties(peer, sut, judge):
    """A message with a label, a response queue, an administration queue, an extension, a body and an MSMQ 3.0 signature
    arrives in its queue. The SUT refuses such a message if its label was exchanged after signing.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature()

    def build_message(label: str):
        return secured.message(
            several=True,
            body=b"a body",
            label=label,
            ExtensionData=b"extension",
            header={"ResponseQueue": RESPONSE_QUEUE_TEMPLATE.format(peer.address)},
        )

    other = compute_signature(build_message(MESSAGE_LABEL), SIG30, ALICE.key)
    found = secured.send_and_read_dispositions(
        {
            "signed": sign_message(build_message(MESSAGE_LABEL), SIG30),
            "changed": add_signature(build_message(MESSAGE_LABEL[::-1]), other, in_list=True),
        }
    )
    judge(
        "MQMQ-2.5.3-05",
        expected=facts(
            with_its_signature=ARRIVAL_ACK_CLASS,
            with_signature_of_other_label=secured.describe_refusal_without_storing(BAD_SIGNATURE_CLASS),
        ),
        observed={
            "with_its_signature": found["signed"].answer,
            "with_signature_of_other_label": found["changed"].silent_refusal,
        },
        case="message with a label and a response queue",
        evidence=[*found["signed"].frames, *found["changed"].frames],
        errata="E81",
    )
