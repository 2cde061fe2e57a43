"""MS-MQQB 3.1.5.8.3 Security: the certificate of a message that fails a check after that of its signature."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, BOB, CAROL
from harness.wire.protection import RC4
from suites.mqqb.steps.caching import ENHANCED_PRIVACY_LEVEL, SecurityCaches
from suites.mqqb.steps.secured import (
    NO_SIGNATURE_ACCEPTED_REASON,
    STORED_OUTCOME,
    SYMMETRIC_KEYS,
    SecuredMessageSender,
    encrypt_message,
    sign_message,
)


@needs("security", "receive", "configure", "inspect", "queue_control")
@covers("MQQB-3.1.5.8.3-28")
def test_certificate_of_message_refused_later_is_cached(peer, sut, judge):
    """The SUT accepts a signed message of Carol. It refuses a signed message of Bob that it cannot decrypt, and a
    signed message of Alice, who has no access to the queue. UserCertCache contains the certificates of all three.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    accepted = secured.dispositions({"": sign_message(secured.message(CAROL), key=CAROL.key)})[""]
    if accepted.kept != STORED_OUTCOME:
        raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)
    signed = sign_message(secured.message(BOB, body=bytes(48), PrivacyLevel=ENHANCED_PRIVACY_LEVEL), key=BOB.key)
    keys = ENHANCED_PRIVACY_LEVEL, RC4, SYMMETRIC_KEYS[128]
    undecryptable = secured.dispositions({"": encrypt_message(sut, signed, *keys, blob=b"\7" * 140)})[""]
    denied = secured.dispositions({"": sign_message(secured.message(ALICE, queue="restricted"))}, "restricted")[""]
    for refused in (undecryptable, denied):
        if refused.kept == STORED_OUTCOME:
            raise ConformanceFailure("the SUT accepted a message that it cannot decrypt, or whose sender has no access")
    judge(
        "MQQB-3.1.5.8.3-28",
        expected=["alice", "bob", "carol"],
        observed=sorted(set(caches.users())),
        case="users in the cache after two refused messages",
        evidence=[*accepted.frames, *undecryptable.frames, *denied.frames],
    )
