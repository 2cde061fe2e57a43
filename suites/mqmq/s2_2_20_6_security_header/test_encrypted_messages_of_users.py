"""MS-MQMQ 2.2.20.6 SecurityHeader: the senders of encrypted messages without a signature."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.secured import SENDER_TYPE_OF_SENDER_WITH_SID


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.20.6-03")
def test_encrypted_message_names_its_sender(peer, sut, judge):
    """The SUT sends encrypted messages of two users in turn, without a signature. SecurityID is the SID of the user."""
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    for user in (ALICE, BOB, ALICE):
        frame = outgoing.send(body="encrypted", sender=user.name, privacy_level="base")
        security = frame["SecurityHeader"]
        if security.ST != SENDER_TYPE_OF_SENDER_WITH_SID:
            reason = "the SUT names no user in an encrypted message without a signature"
            judge.mark_not_exercised("MQMQ-2.2.20.6-03", reason=reason, evidence=frame)
        else:
            judge(
                "MQMQ-2.2.20.6-03",
                expected=user.security_id.hex(),
                observed=bytes(security.SecurityID).hex(),
                case=f"SecurityID of an encrypted message of {user.name}",
                evidence=frame,
            )
    outgoing.end()
