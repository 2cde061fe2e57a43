"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: what PA, PR, NA and NR ask for."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import recoverable_message
from suites.mqqb.steps.ordering import Receiver

REACH_QUEUE, RECEIVE, NOT_TRANSACTIONAL_MSG, PURGED = 0x0002, 0x4000, 0x800A, 0xC001
ADMINISTRATION = "mqc-acks"
NOTHING = "no acknowledgment"


def _take(sut):
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)


def _purge(sut):
    sut.control.call("purge", queue=sut.queue())


def _nothing(sut):
    """Do nothing: the message's disposition is decided when it arrives."""


CASES = (
    ("MQMQ-2.2.19.3-01", "PA", "plain", _nothing, REACH_QUEUE, ()),
    ("MQMQ-2.2.19.3-02", "PR", "plain", _take, RECEIVE, (needs("receive"),)),
    ("MQMQ-2.2.19.3-03", "NA", "transactional", _nothing, NOT_TRANSACTIONAL_MSG, ()),
    ("MQMQ-2.2.19.3-04", "NR", "plain", _purge, PURGED, (needs("receive"),)),
)
"""By rule: the bit, the queue of the messages, what is done with them there, the acknowledgment, what it takes."""


@pytest.mark.parametrize(
    ("rule", "bit", "queue", "act", "expected"),
    [
        pytest.param(rule, bit, *values, marks=[covers(rule, "MQMQ-2.2.19.3-14"), *needed], id=bit)
        for rule, bit, *values, needed in CASES
    ],
)
def test_what_a_bit_asks_for_is_sent_to_the_administration_queue(peer, sut, judge, rule, bit, queue, act, expected):
    """Of two messages with one disposition, that with the bit is acknowledged to its queue, with its identifier."""
    receiver = Receiver(peer, sut)
    session = receiver.connections[0]
    names = {"AdminQueue": rf"TCP:{peer.address}\private$\{ADMINISTRATION}"}
    sent = []
    for wanted in (0, 1):
        packet = recoverable_message(peer, names if wanted else {}, queue=queue, properties={bit: wanted}, label=bit)
        sent.append(session.send(packet))
        session.poll("SessionAck", within_ms=sut.duration_ms(20_000) + sut.slack_ms(20_000))
        act(sut)

    def acknowledgments():
        named = [frame for frame in receiver.messages if ADMINISTRATION in str(_name(frame))]
        return [frame for frame in named if frame["MessagePropertiesHeader"].MessageClass]

    if not acknowledgments():
        receiver.poll(acknowledgments)
    came = acknowledgments()
    classes = [int(frame["MessagePropertiesHeader"].MessageClass) for frame in came]
    judge(rule, expected=[expected], observed=classes or NOTHING, evidence=[*sent, *came])
    if not came:
        raise ConformanceFailure("no acknowledgment came to the administration queue")
    identifier = peer.identifier.bytes_le + sent[1]["UserHeader"].MessageID.to_bytes(4, "little")
    correlation = [bytes(frame["MessagePropertiesHeader"].CorrelationID).hex() for frame in came]
    judge("MQMQ-2.2.19.3-14", expected=[identifier.hex()], observed=correlation, evidence=[*sent, *came])


def _name(frame):
    return getattr(frame["UserHeader"].DestinationQueue, "DirectFormatName", "")
