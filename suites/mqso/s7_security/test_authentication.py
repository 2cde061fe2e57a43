"""MS-MQSO 7.4.1 Security: signed messages without a sender."""

from __future__ import annotations

from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, MALLORY
from harness.wire.protection import SIG20
from suites.mqqb.steps.secured import (
    SENDER_TYPE_OF_NO_SENDER,
    SecuredMessageSender,
    flip_signature_bit,
    judge_dispositions,
    sign_message,
)

BAD_SIGNATURE_CLASS = "NACK_BAD_SIGNATURE"


NEEDED_SECURITY_FACILITIES = needs("security", "receive")


@NEEDED_SECURITY_FACILITIES
@covers("MQQB-3.1.5.8.3-22", "MQSO-7.4.1.3-D01", "MQSO-7.4.1.4.2-D04")
def test_signed_message_without_sender_is_not_refused(peer, sut, judge):
    """A message with a valid signature, ST 0 and an unregistered certificate is not refused because of its signature.
    If one bit of the message is altered, the message is refused.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature(ALICE)
    claims = {"ST": SENDER_TYPE_OF_NO_SENDER, "SecurityID": b"", "SenderCert": MALLORY.certificate}
    genuine, other = (sign_message(secured.message(security=claims), SIG20, MALLORY.key) for _ in range(2))
    observed = secured.send_and_read_dispositions({"genuine": genuine, "another bit": flip_signature_bit(other)})
    disposition = observed["genuine"]
    refusals = [one for one in disposition.acknowledgments if one == BAD_SIGNATURE_CLASS]
    judge.all(expected=none("refusal because of the signature"), observed=refusals, evidence=disposition.frames)
    judge_dispositions(judge, secured, observed, [("MQSO-7.4.1.3-D01", "another bit", "answer", BAD_SIGNATURE_CLASS)])
