"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: unlisted privacy levels, hash and encryption algorithms."""

from __future__ import annotations

from harness.expectations import one_of
from harness.run.marks import covers, malforms, needs, sut_survives
from harness.wire.protection import AES_256
from suites.mqqb.steps.secured import CLEAR, KEY, Secured, secret, signed

BASE, ADVANCED = 1, 5
NO_HASH, NO_CIPHER = 0x8099, 0x6699
BAD_SIGNATURE, BAD_ENCRYPTION = "NACK_BAD_SIGNATURE", "NACK_BAD_ENCRYPTION"
REFUSED = {
    "MQMQ-2.2.19.3-21": (BAD_SIGNATURE, BAD_ENCRYPTION),
    "MQMQ-2.2.19.3-22": (BAD_SIGNATURE,),
    "MQMQ-2.2.19.3-25": (BAD_ENCRYPTION,),
}
"""By rule; a PrivacyLevel that is none is refused as one or the other (E49)."""
COUNTERPARTS = {
    "MQMQ-2.2.19.3-22": "not signed",
    "MQMQ-2.2.19.3-25": "as it should be",
    "MQMQ-2.2.19.3-21": "as it should be",
}
"""By rule: the message that is taken."""
TAKEN = "ACK_REACH_QUEUE, in its queue"


@malforms("MQMQ-2.2.19.3-20", "MQMQ-2.2.19.3-24", "MQMQ-2.2.19.3-26")
@sut_survives()
@needs("security", "receive")
@covers(*REFUSED)
def test_unlisted_security_algorithm_is_refused(peer, sut, judge):
    """Messages with an unlisted PrivacyLevel, HashAlgorithm or EncryptionAlgorithm get NACK_BAD_SIGNATURE or
    NACK_BAD_ENCRYPTION. An unsigned message with an unlisted HashAlgorithm is accepted.
    """
    secured = Secured(peer, sut)

    def hidden(**changes):
        return secret(sut, secured.message(body=CLEAR), ADVANCED, AES_256, KEY[256], **changes)

    def hashed(packet):
        packet["MessagePropertiesHeader"].HashAlgorithm = NO_HASH
        return packet

    dispositions = secured.dispositions(
        {
            "MQMQ-2.2.19.3-21": secret(sut, secured.message(body=CLEAR), 4, AES_256, KEY[256], for_level=ADVANCED),
            "MQMQ-2.2.19.3-22": hashed(signed(secured.message())),
            "MQMQ-2.2.19.3-25": hidden(EncryptionAlgorithm=NO_CIPHER),
            "not signed": hashed(secured.message()),
            "as it should be": hidden(),
        }
    )
    for rule, nacks in REFUSED.items():
        found = dispositions[rule]
        expected = one_of(*(f"{secured.refused(nack)}, not in its queue" for nack in nacks))
        judge(rule, expected=expected, observed=found.in_silence, evidence=found.frames)
    for rule, name in COUNTERPARTS.items():
        found = dispositions[name]
        judge(rule, expected=TAKEN, observed=found.in_silence, evidence=found.frames)
