"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment; with it 3.1.7.2.2 Final Acknowledgment, which says when."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import OneOf, text
from suites.mqqb.steps.ordering import LABEL, ORDER_ACK, Receiver, place
from suites.mqqb.steps.sender import eventually

RULE = "MQQB-3.1.7.17-"
BAD_DST_Q, ACK_RECEIVE = 0x8000, 0x4000
NOWHERE = r"TCP:{address}\private$\mqc-nowhere"


def _rules(*numbers):
    return [f"{RULE}{number}" for number in numbers]


@covers(*_rules("03", "04", "05", "06", "07", "11"))
def test_what_an_acknowledgment_is_made_of(peer, sut, judge):
    """An OrderAck for a message that was taken, then a FinalAck for one that no queue takes."""
    receiver = Receiver(peer, sut)
    names = []
    for count, (value, name) in enumerate(((ORDER_ACK, {}), (BAD_DST_Q, {"destination": NOWHERE})), 1):
        sent = receiver.send(**{key: each.format(address=sut.address) for key, each in name.items()})
        frame = receiver.poll_acknowledgment(final=value != ORDER_ACK)
        evidence = [sent, frame]
        judge(
            f"{RULE}11", expected="it came", observed="nothing came" if frame is None else "it came", evidence=evidence
        )
        if frame is None:
            continue
        user, properties, found = frame["UserHeader"], frame["MessagePropertiesHeader"], place(frame)
        judge(f"{RULE}04", expected=value, observed=int(properties.MessageClass), evidence=evidence)
        told = _plain(frame)
        judge(f"{RULE}05", expected=_delivered(value), observed=f"{told}, DM {user.DM}", evidence=evidence)
        names.append((user.SourceQueueManager, user.MessageID))
        own = len(set(names)) == count and names[-1] != _named(sent) and text(user.SourceQueueManager) == text(sut.guid)
        judge(f"{RULE}03", expected="its own", observed="its own" if own else str(names[-1]), evidence=evidence)
        queue = str(user.DestinationQueue.DirectFormatName).lower()
        expected = rf"tcp:{peer.address}\private$\order_queue$"
        judge(f"{RULE}07", expected=expected, observed=queue, evidence=evidence)
        if value == ORDER_ACK:
            identifier = receiver.sequence.identifier
            expected = (identifier.Ordinal, identifier.TimeStamp, 1, 0)
            judge(f"{RULE}06", expected=str(expected), observed=str(tuple(found)), evidence=evidence)


def _named(frame):
    return frame["UserHeader"].SourceQueueManager, frame["UserHeader"].MessageID


def _plain(frame):
    """Tell what an acknowledgment asks for: nothing."""
    user, properties = frame["UserHeader"], frame["MessagePropertiesHeader"]
    bits = ", ".join(f"{name} {getattr(user, name)}" for name in ("JN", "JP", "AQ", "RQ", "SH", "TH"))
    label = str(properties.Label).rstrip("\0")
    return (
        f"PR {frame['BaseHeader'].PR}, {bits}, Flags {properties.Flags}, TR {frame['BaseHeader'].TR}, "
        f"BodyType {properties.BodyType}, {label}"
    )


def _delivered(value):
    """Give what ``_plain`` tells and how the acknowledgment is delivered: an OrderAck in one of two ways (E36)."""
    told = f"PR 0, JN 0, JP 0, AQ 0, RQ 0, SH 0, TH 0, Flags 0, TR 0, BodyType 0, {LABEL}"
    return OneOf(f"{told}, DM 0", f"{told}, DM 1") if value == ORDER_ACK else f"{told}, DM 1"


@needs("receive")
@covers("MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize(
    ("user", "transaction"), [({"JP": 1}, {}), ({"JN": 1}, {}), ({}, {"FA": 1})], ids=["JP", "JN", "FA"]
)
def test_a_message_that_wants_it_has_a_final_ack_when_it_leaves_its_queue(peer, sut, judge, user, transaction):
    """A message that wants journaling or a final acknowledgment is taken by an application: ACK_RECEIVE comes."""
    receiver = Receiver(peer, sut)
    sent = receiver.send(user, transaction=transaction)
    receiver.await_acknowledgment()
    eventually(peer, lambda: bool(sut.messages("transactional")))
    early = [f"0x{frame['MessagePropertiesHeader'].MessageClass:X}" for frame in receiver.acknowledgments(final=True)]
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0)
    frame = receiver.poll_acknowledgment(final=True)
    value = "nothing" if frame is None else f"0x{frame['MessagePropertiesHeader'].MessageClass:X}"
    observed = f"{', '.join(early) or 'nothing'} before, {value} after"
    judge("MQQB-3.1.7.2.2-01", expected="nothing before, 0x4000 after", observed=observed, evidence=[sent, frame])
