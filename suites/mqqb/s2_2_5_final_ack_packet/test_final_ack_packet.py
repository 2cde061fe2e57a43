"""MS-MQQB 2.2.5 FinalAck Packet: what the SUT sends when a transactional message is refused or leaves its queue."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.wire import PrivateQueueFormatNameId
from suites.mqqb.steps.ordering import Receiver, place, private_number

RULE = "MQQB-2.2.5"
PRIVATE = 3
CLASSES = {"11": 0x4000, "13": 0x8009, "14": 0x8000, "20": 0xC000, "21": 0xC001}
"""The class of each rule's FinalAck."""
QUEUE = r"private$\mqc-final"


def _judged(judge, number, receiver, frame, sent, previous):
    properties = frame["MessagePropertiesHeader"]
    evidence = [sent, frame]
    identifier, found = receiver.sequence.identifier, place(frame)
    judge(f"{RULE}-{number}", expected=CLASSES[number], observed=int(properties.MessageClass), evidence=evidence)
    expected = (identifier.Ordinal, identifier.TimeStamp, previous + 1, previous)
    judge(f"{RULE}-24", expected=expected, observed=tuple(found), evidence=evidence)
    judge(f"{RULE}.1-01", expected=expected[:2], observed=tuple(found[:2]), evidence=evidence)
    judge(f"{RULE}.1-02", expected=previous + 1, observed=found.TxSequenceNumber, evidence=evidence)
    judge(f"{RULE}.1-03", expected=previous, observed=found.TxPreviousSequenceNumber, evidence=evidence)
    name = str(frame["UserHeader"].DestinationQueue.DirectFormatName)
    address = f"TCP:{receiver.peer.address}"
    judge(f"{RULE}-07", expected=address, observed=name.partition("\\")[0], evidence=evidence)


BODY = (f"{RULE}-07", f"{RULE}-24", f"{RULE}.1-01", f"{RULE}.1-02", f"{RULE}.1-03")


def _reasons(**reasons):
    return [
        pytest.param(number, reason, marks=covers(f"{RULE}-{number}", *BODY), id=name)
        for name, (number, reason) in reasons.items()
    ]


@pytest.mark.parametrize(
    ("number", "wrong"),
    _reasons(
        not_transactional_q=("13", {"queue": "plain"}),
        bad_dst_q=("14", {"destination": r"TCP:{address}\private$\mqc-nowhere"}),
    ),
)
def test_a_message_that_no_queue_takes(peer, sut, judge, number, wrong):
    """The second message of a sequence goes where it cannot be taken: a negative FinalAck comes for it."""
    receiver = Receiver(peer, sut)
    receiver.send()
    sent = receiver.send(**{name: value.format(address=sut.address) for name, value in wrong.items()})
    frame = receiver.await_acknowledgment(final=True)
    _judged(judge, number, receiver, frame, sent, 1)


@needs("queue_control", "private_names")
@covers(f"{RULE}-05")
def test_a_final_ack_to_a_private_name(peer, sut, judge):
    """For a message to a private name that is refused the FinalAck goes to private queue 4 of its sender."""
    receiver = Receiver(peer, sut)
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=private_number(sut, QUEUE, transactional=False))
    sent = receiver.send({"QueueManagerAddress": sut.guid}, destination=queue)
    frame = receiver.await_acknowledgment(final=True)
    user = frame["UserHeader"]
    if user.DQ != PRIVATE:
        raise ConformanceFailure(f"the FinalAck for a message to a private name has DQ {user.DQ}")
    named = user.QueueManagerAddress, user.DestinationQueue.PrivateQueueIdentifier
    judge(f"{RULE}-05", expected=(peer.identifier, 4), observed=named, evidence=[sent, frame])
    sut.control.call("delete_queue", name=QUEUE)


def _take(sut, queue):
    sut.control.call("receive", queue=queue, timeout_ms=0)


def _purge(sut, queue):
    sut.control.call("purge", queue=queue)


def _delete(sut, queue):
    sut.control.call("delete_queue", name=queue)
    sut.control.call("create_queue", name=queue, transactional=True)


@needs("receive", "queue_control")
@pytest.mark.parametrize(
    ("number", "remove"), _reasons(receive=("11", _take), q_purged=("21", _purge), q_deleted=("20", _delete))
)
def test_a_message_that_left_its_queue(peer, sut, judge, number, remove):
    """A message with JP and JN, accepted and then taken, purged or deleted with its queue: its FinalAck says which."""
    receiver = Receiver(peer, sut)
    sent = receiver.send({"JN": 1, "JP": 1})
    receiver.await_acknowledgment()
    remove(sut, sut.queue("transactional"))
    frame = receiver.await_acknowledgment(final=True)
    _judged(judge, number, receiver, frame, sent, 0)
