"""REGRESSIONS 5071546: recoverable messages of an application without administrative rights."""

from __future__ import annotations

import re

import pytest

from harness.capture.recorder import Frame
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.provisioning import ALICE
from suites.mqqb.steps.sender import Sender

ADMINISTRATOR_SID_PATTERN = re.compile(r"S-1-5-18|S-1-5-32-544|S-1-5-21-.*-500")
"""The SIDs of the system account and of the built-in administrator accounts, which need no membership in a group."""
SENDER_TYPE_SID = 1
"""The value of SecurityHeader.Flags.ST for a sender with a SID (MS-MQMQ 2.2.20.6)."""


@needs("send")
@covers("REGRESSIONS-5071546-01")
@pytest.mark.parametrize(
    "as_user",
    [pytest.param({"sender": ALICE.name}, marks=needs("security"), id="a-user"), pytest.param({}, id="its-agent")],
)
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
@varied("time to be received", "trace", priority=("3", "7"))
def test_recoverable_message_of_non_administrator_is_sent(peer, sut, judge, as_user, delivery):
    """An application without administrative rights sends a recoverable or transactional message: the SUT sends the
    message. If the packet names an administrator or no user, the rule is not exercised. If the SUT refuses to send the
    message, the rule fails in any case.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-storage"))
    asked_for = sut.attempt(sender.send, 1, delivery=delivery, **as_user)
    if asked_for != Outcome.DONE:
        judge(
            "REGRESSIONS-5071546-01", expected=Outcome.DONE, observed=asked_for, case="send request of the application"
        )
        return
    session, frames = sender.await_first_messages(1)
    session.acknowledge_all()
    account = _read_sender_sid(frames[0])
    if account is None:
        judge.mark_not_exercised("REGRESSIONS-5071546-01", reason="the packet names no user as the sender")
    elif ADMINISTRATOR_SID_PATTERN.fullmatch(account):
        judge.mark_not_exercised(
            "REGRESSIONS-5071546-01", reason=f"the system sends as the account {account}, which is an administrator"
        )
    else:
        judge(
            "REGRESSIONS-5071546-01",
            expected=Outcome.DONE,
            observed=asked_for,
            evidence=frames,
            case="send request of the application",
        )


def _read_sender_sid(frame: Frame) -> str | None:
    """Return the sender's SID in a message as text (MS-DTYP 2.4.2.1); None if the message has no SID."""
    security = frame["SecurityHeader"] if frame["UserHeader"].SH else None
    if security is None or security.ST != SENDER_TYPE_SID:
        return None
    sid = bytes(security.SecurityID)
    parts = (int.from_bytes(sid[at : at + 4], "little") for at in range(8, len(sid), 4))
    return "-".join(map(str, ("S-1", int.from_bytes(sid[2:8], "big"), *parts)))
