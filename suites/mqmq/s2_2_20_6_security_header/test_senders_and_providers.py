"""MS-MQMQ 2.2.20.6 SecurityHeader: who sent and signed a message, with which provider, and where its key is known."""

from __future__ import annotations

from uuid import UUID

from harness.run.marks import covers, needs
from harness.wire import ProviderInfo
from suites.mqmq.steps.outgoing import Outgoing
from suites.mqqb.steps.opening import private_name
from suites.mqqb.steps.pinging import element

NOBODY, QUEUE_MANAGER = 0, 2


def _signed_by(frame):
    security = frame["SecurityHeader"]
    return f"ST {security.ST}, {bytes(security.SecurityID).hex() or 'no SecurityID'}"


@needs("security", "send")
@covers("MQMQ-2.2.20.6-02", "MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22", "MQMQ-2.2.20.6-24")
def test_who_signed_a_message(peer, sut, judge):
    """Signed as nobody there is no SecurityID; signed as the queue manager it is the GUID of that, for every kind."""
    outgoing = Outgoing(peer, sut)
    nobody = outgoing.send(body="signed", sender="none", authentication_level="sig20")
    sizes = f"{_signed_by(nobody)}, SenderIdSize {nobody['SecurityHeader'].SenderIdSize}"
    expected = f"ST {NOBODY}, no SecurityID, SenderIdSize 0"
    judge("MQMQ-2.2.20.6-02", expected=expected, observed=sizes, evidence=nobody)
    own = f"ST {QUEUE_MANAGER}, {UUID(str(sut.guid)).bytes_le.hex()}"
    for level, rules in (
        ("sig10", ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22", "MQMQ-2.2.20.6-24")),
        ("sig20", ("MQMQ-2.2.20.6-04", "MQMQ-2.2.20.6-22")),
    ):
        frame = outgoing.send(body="signed", sender="queue_manager", authentication_level=level)
        for rule in rules:
            judge(rule, expected=own, observed=_signed_by(frame), evidence=frame)
    outgoing.end()


@needs("security", "send", "private_names")
@covers("MQMQ-2.2.20.6-07")
def test_the_provider_of_a_signature_is_named_unless_it_is_the_default(peer, sut, judge):
    """A message that is signed and encrypted names its provider where DE is clear."""
    outgoing = Outgoing(peer, sut, private_name(peer.identifier))
    for level in ("base", "enhanced", "advanced"):
        frame = outgoing.send(body="signed", authentication_level="sig20", privacy_level=level)
        security = frame["SecurityHeader"]
        name = ProviderInfo(bytes(security.ProviderInfo)).ProviderName if security.ProviderInfoSize else ""
        named = "the default" if security.DE else "named" if str(name).rstrip("\0") else "not named"
        expected = "the default" if security.DE else "named"
        observed = f"{named}, {'signed' if security.SignatureSize else 'not signed'}"
        judge("MQMQ-2.2.20.6-07", expected=f"{expected}, signed", observed=observed, evidence=frame)
    outgoing.end()


@needs("security", "inspect")
@covers("MQMQ-2.2.20.6-36")
def test_the_public_keys_are_in_the_directory(sut, judge):
    """PublicEncryptionKeyList of the queue manager's directory object has the keys that its identity has."""
    kept = bytes.fromhex(element(sut.inspect()["QueueManager"], "PublicEncryptionKeyList"))
    observed = "its keys" if kept and kept == sut.encryption_keys else f"{len(kept)} bytes, others"
    judge("MQMQ-2.2.20.6-36", expected="its keys", observed=observed)
