"""MS-MQMQ 2.2.20.6 SecurityHeader: items of size 0 in encrypted messages."""

from __future__ import annotations

import pytest

from harness.expectations import fields
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import MessagesSentBySut

SECURITY_HEADER_PREFIX = "SecurityHeader."
SAMPLE_APPLICATION_TAG = 0x7A6B_5C4D


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.20.6-D03")
@pytest.mark.parametrize("sender", ["none", "queue_manager"])
def test_empty_items_of_encrypted_message_take_no_bytes(peer, sut, judge, sender):
    """The SUT sends an encrypted message without a signature, with and without a sender. SignatureSize and
    SenderCertSize are 0, and the headers follow each other without a gap.
    """
    outgoing = MessagesSentBySut(peer, sut, peer.build_private_format_name_of_peer())
    frame = outgoing.send(
        body="encrypted", application_tag=SAMPLE_APPLICATION_TAG, sender=sender, privacy_level="enhanced"
    )
    outgoing.end()
    wanted = {
        f"{SECURITY_HEADER_PREFIX}SignatureSize": 0,
        f"{SECURITY_HEADER_PREFIX}Signature": Layout.MISSING,
        f"{SECURITY_HEADER_PREFIX}SenderCertSize": 0,
        f"{SECURITY_HEADER_PREFIX}SenderCert": Layout.MISSING,
        "MessagePropertiesHeader.ApplicationTag": SAMPLE_APPLICATION_TAG,
        "bytes after the last header": 0,
    }
    judge("MQMQ-2.2.20.6-D03", expected=fields(wanted), observed=Layout(frame), evidence=frame)
