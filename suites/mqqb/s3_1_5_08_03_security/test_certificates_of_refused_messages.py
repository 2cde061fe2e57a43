"""MS-MQQB 3.1.5.8.3 Security: the certificate of a message that fails a check after that of its signature."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.provisioning import ALICE, CAROL, ERIN
from suites.mqqb.steps.caching import SecurityCaches
from suites.mqqb.steps.secured import (
    NO_SIGNATURE_ACCEPTED_REASON,
    STORED_OUTCOME,
    SecuredMessageSender,
    sign_message,
)


@needs("security", "receive", "configure", "inspect", "queue_control")
@covers("MQQB-3.1.5.8.3-28")
def test_certificate_of_message_refused_later_is_cached(peer, sut, judge):
    """The SUT accepts a signed message of Carol. It refuses signed messages of Alice and Erin, who have no access to
    the queue. UserCertCache contains the certificates of all three.
    """
    secured, caches = SecuredMessageSender(peer, sut), SecurityCaches(sut)
    accepted = secured.send_and_read_dispositions({"": sign_message(secured.message(CAROL), key=CAROL.key)})[""]
    if accepted.kept != STORED_OUTCOME:
        raise ConformanceFailure(NO_SIGNATURE_ACCEPTED_REASON)
    packets = {
        user.name: sign_message(secured.message(user, queue="restricted"), key=user.key) for user in (ALICE, ERIN)
    }
    denied = secured.send_and_read_dispositions(packets, "restricted")
    if any(one.kept == STORED_OUTCOME for one in denied.values()):
        raise ConformanceFailure("the SUT accepted a message whose sender has no access")
    judge(
        "MQQB-3.1.5.8.3-28",
        expected=["alice", "carol", "erin"],
        observed=sorted(set(caches.users())),
        case="users in the cache after an accepted and two refused messages",
        evidence=[*accepted.frames, *denied["alice"].frames, *denied["erin"].frames],
    )
