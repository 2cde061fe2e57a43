"""MS-MQMQ 2.2.19.3 MessagePropertiesHeader: what PA, PR, NA and NR ask for."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.messages import recoverable_message
from suites.mqqb.steps.ordering import Receiver

RULE = "MQMQ-2.2.19.3-"
REACH_QUEUE, RECEIVE, NOT_TRANSACTIONAL_MSG, PURGED = 0x0002, 0x4000, 0x800A, 0xC001
ADMINISTRATION = "mqc-acks"
NOTHING = "no acknowledgment"


def _take(sut):
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)


def _purge(sut):
    sut.control.call("purge", queue=sut.queue())


def _nothing(sut):
    """The message's fate is decided when it arrives."""


def _cases(**cases):
    return [
        pytest.param(
            f"{RULE}{number}",
            bit,
            queue,
            act,
            expected,
            marks=[
                covers(f"{RULE}{number}", f"{RULE}14"),
                *([needs("receive")] if needed else []),
            ],
            id=bit,
        )
        for bit, (number, queue, act, expected, needed) in cases.items()
    ]


@pytest.mark.parametrize(
    ("rule", "bit", "queue", "act", "expected"),
    _cases(
        PA=("01", "plain", _nothing, REACH_QUEUE, ()),
        PR=("02", "plain", _take, RECEIVE, ("receive",)),
        NA=("03", "transactional", _nothing, NOT_TRANSACTIONAL_MSG, ()),
        NR=("04", "plain", _purge, PURGED, ("queue_control",)),
    ),
)
def test_what_a_bit_asks_for_is_sent_to_the_administration_queue(peer, sut, judge, rule, bit, queue, act, expected):
    """Of two messages with one fate, that with the bit is acknowledged to its queue, with its identifier."""
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
    judge(f"{RULE}14", expected=[identifier.hex()], observed=correlation, evidence=[*sent, *came])


def _name(frame):
    return getattr(frame["UserHeader"].DestinationQueue, "DirectFormatName", "")
