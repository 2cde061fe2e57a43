"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment, 3.1.5.8.10, 3.1.7.2 and 3.1.7.2.1, where they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from harness.wire import PrivateQueueFormatName, PrivateQueueFormatNameId, PublicQueueFormatName
from suites.messages import a_message
from suites.mqqb.steps.fate import (
    BAD_DST_Q,
    DIRECT,
    NOT_TRANSACTIONAL_MSG,
    NOWHERE,
    ON_DESTINATION,
    PUBLIC,
    Q_DELETED,
    Q_PURGED,
    REACH_QUEUE,
    RECEIVE,
    RECEIVE_TIMEOUT,
    Fate,
    arrives,
    classes,
    correlation,
    identifier,
    labels,
    message_class,
    named,
    private_queue,
)
from suites.mqqb.steps.opening import OneOf, pass_time
from suites.mqqb.steps.ordering import private_number

RULE = "MQQB-3.1.7.15-"
ARRIVAL = ("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQQB-3.1.5.8-12", f"{RULE}06", f"{RULE}30", f"{RULE}34")
ADMIN_NUMBER = 5
INFINITE = 0xFFFF_FFFF
BODY = b"what the message said"
LIFE_S = 2
PRIVATE = "private$\\mqc-private"
DELETED = "private$\\mqc-deleted"


def _queue(frame: Frame, name: str) -> str:
    """Give a queue in UserHeader: its type and what it says."""
    user = frame["UserHeader"]
    queue = getattr(user, f"{name}Queue")
    kind = getattr(user, {"Destination": "DQ", "Admin": "AQ", "Response": "RQ"}[name])
    for field in ("DirectFormatName", "PublicQueueIdentifier", "PrivateQueueIdentifier"):
        if hasattr(queue, field):
            value = getattr(queue, field)
            text = value.decode("utf-16-le") if isinstance(value, bytes) else str(value)
            return f"{kind}: {text}".rstrip("\0").lower()
    return f"{kind}: none"


@covers("MQQB-3.1.5.8.10-01", "MQQB-3.1.5.8.10-02", "MQQB-3.1.5.8-12", f"{RULE}06", f"{RULE}30", f"{RULE}34")
@needs("queue_control")
@pytest.mark.parametrize("name", ["direct", "private"])
def test_arrival_is_acknowledged_when_asked_for(peer, sut, judge, name):
    """Of two messages that arrive the one with PA is acknowledged, to a direct name and to one with the SUT's GUID."""
    number = private_number(sut, PRIVATE, transactional=False)
    fate = Fate(peer, sut)
    user = private_queue(sut.guid, number) if name == "private" else {}
    place = {"destination": None} if name == "private" else {}
    sent = [fate.give(fate.asking(user, properties={"PA": wanted}, **place)) for wanted in (0, 1)]
    came = fate.await_acks(1)
    sut.control.call("delete_queue", name=PRIVATE)
    observed = [correlation(ack) for ack in came if message_class(ack) == REACH_QUEUE]
    for rule in (
        "MQQB-3.1.5.8.10-01",
        "MQQB-3.1.5.8.10-02",
        "MQQB-3.1.5.8-12",
        *(f"{RULE}{n}" for n in ("06", "30", "34")),
    ):
        judge(rule, expected=[identifier(sent[1])], observed=observed, evidence=[*sent, *came])


@covers(f"{RULE}03", f"{RULE}04")
@needs("receive")
def test_nothing_is_sent_without_an_administration_queue(peer, sut, judge):
    """Messages with a response queue and none for acknowledgments ask for those of arrival, refusal and receiving."""
    fate = Fate(peer, sut)
    response = {"ResponseQueue": rf"TCP:{peer.address}\private$\mqc-response"}
    sent = [
        fate.give(a_message(peer, response, queue=queue, properties={"PA": 1, "NA": 1}))
        for queue in ("plain", "transactional")
    ]
    came = fate.await_acks(1)
    judge(f"{RULE}04", expected=[], observed=classes(came), evidence=[*sent, *came])
    sent = [fate.give(a_message(peer, response, label="to be received", properties={"PR": 1}))]
    arrives(sut, fate.connections[0], "to be received", sut.queue())
    sut.control.call("purge", queue=sut.queue())
    sent.append(fate.give(a_message(peer, response, label="to be taken", properties={"PR": 1})))
    arrives(sut, fate.connections[0], "to be taken", sut.queue())
    sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
    came = fate.await_acks(1)
    judge(f"{RULE}03", expected=[], observed=classes(came), evidence=[*sent, *came])


@covers(f"{RULE}05")
@needs("configure")
@pytest.mark.parametrize("insecure", [False, True])
def test_what_tells_a_stranger_something_is_sent_only_when_configured(peer, sut, judge, insecure):
    """BAD_DST_Q is told only with SendInsecureNacks; NOT_TRANSACTIONAL_MSG always."""
    sut.configure(send_insecure_nacks=insecure)
    fate = Fate(peer, sut)
    nowhere = fate.asking(destination=rf"TCP:{sut.address}\{NOWHERE}", properties={"NA": 1})
    sent = [fate.give(nowhere), fate.give(fate.asking(queue="transactional", properties={"NA": 1}))]
    came = fate.await_acks(2 if insecure else 1)
    expected = named(*([BAD_DST_Q] if insecure else []), NOT_TRANSACTIONAL_MSG)
    judge(f"{RULE}05", expected=expected, observed=sorted(classes(came)), evidence=[*sent, *came])


def _administrations(sut: Sut, fate: Fate) -> list[tuple[str, dict[str, Any], str]]:
    """Give the rule of each type of administration queue, its fields, and how the acknowledgment names its queue."""
    peer = fate.peer
    private = PrivateQueueFormatNameId(PrivateQueueIdentifier=ADMIN_NUMBER)
    other = PrivateQueueFormatName(SourceQueueManager=peer.identifier, PrivateQueueIdentifier=ADMIN_NUMBER)
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    direct = fate.administered()["AdminQueue"]
    return [
        ("15", {"AdminQueue": direct}, f"{DIRECT}: {direct}"),
        ("11", {"AQ": 2, "AdminQueue": private}, f"{ON_DESTINATION}: {ADMIN_NUMBER}"),
        ("14", {"AQ": 6, "AdminQueue": other}, f"{ON_DESTINATION}: {ADMIN_NUMBER}"),
        ("13", {"AQ": 5, "AdminQueue": public}, f"{PUBLIC}: {PEER_PUBLIC_QUEUE}"),
    ]


@covers(*(f"{RULE}{number}" for number in ("08", "09", "10", "11", "13", "14", "15")))
@needs("receive", "private_names", "public_names")
def test_an_acknowledgment_goes_to_the_administration_queue(peer, sut, judge):
    """For each type of administration queue a message is acknowledged when it arrives, and when it is received."""
    fate = Fate(peer, sut)
    for count, (number, user, expected) in enumerate(_administrations(sut, fate)):
        sent, arrived = fate.acknowledgment(a_message(peer, user, properties={"PA": 1, "PR": 1}), 2 * count + 1)
        sut.control.call("receive", queue=sut.queue(), timeout_ms=0)
        received = fate.await_acks(2 * count + 2)[2 * count + 1 :]
        evidence = [sent, arrived, *received]
        for rule in (number, "08", "10"):
            judge(
                f"{RULE}{rule}", expected=expected.lower(), observed=_queue(arrived, "Destination"), evidence=evidence
            )
        observed = [_queue(ack, "Destination") for ack in received]
        judge(f"{RULE}09", expected=[expected.lower()], observed=observed, evidence=evidence)


@covers(f"{RULE}12")
@needs("queue_control", "receive")
def test_an_administration_queue_on_the_destination_gets_the_acknowledgment_there(peer, sut, judge):
    """With AQ 3 the acknowledgment of a message to the SUT is in the SUT's own queue of that number."""
    number = private_number(sut, PRIVATE, transactional=False)
    fate = Fate(peer, sut)
    own = {"AQ": 3, "AdminQueue": PrivateQueueFormatNameId(PrivateQueueIdentifier=number)}
    sent = fate.give(a_message(peer, private_queue(sut.guid, number) | own, destination=None, properties={"PA": 1}))
    fate.connections[0].quiet()
    found = sut.control.call("peek", queue=PRIVATE, limit=10)["messages"]
    sut.control.call("delete_queue", name=PRIVATE)
    observed = [one["correlation_id"] for one in found if one["class"] == "MQMSG_CLASS_ACK_REACH_QUEUE"]
    judge(f"{RULE}12", expected=[identifier(sent)], observed=observed, evidence=[sent])


@covers(*(f"{RULE}{number}" for number in ("17", "18", "20", "21", "23", "25", "26", "29")))
@needs("queue_control")
@pytest.mark.parametrize("recoverable", [0, 1], ids=["express", "recoverable"])
def test_what_an_acknowledgment_of_arrival_or_refusal_says(peer, sut, judge, recoverable):
    """Identifier, queue, delivery and body of the message, for one that arrives and one that is refused."""
    number = private_number(sut, PRIVATE)
    fate = Fate(peer, sut)
    user = {"DM": recoverable, "TimeToBeReceived": 900, "JP": 1, "JN": 1}
    asks = {"base": {"TimeToReachQueue": 800}, "body": BODY}
    direct, to_private = fate.asking(user, properties={"PA": 1}, **asks), None
    arrived = fate.acknowledgment(direct)
    refused_to = private_queue(sut.guid, number)
    to_private = fate.asking(user | refused_to, destination=None, properties={"NA": 1}, **asks)
    refused = fate.acknowledgment(to_private, 2)
    sut.control.call("delete_queue", name=PRIVATE)
    for sent, ack in (arrived, refused):
        for rule in ("17", "18"):
            judge(f"{RULE}{rule}", expected=identifier(sent), observed=correlation(ack), evidence=[sent, ack])
        judge(f"{RULE}25", expected=recoverable, observed=ack["UserHeader"].DM, evidence=[sent, ack])
        judge(f"{RULE}26", expected=_attributes(), observed=_attributes(ack), evidence=[sent, ack])
    named_here = f"{DIRECT}: {sut.format_name().removeprefix('DIRECT=')}".lower()
    private_here = OneOf(f"2: {number}", f"6: {number}")
    for rule, (sent, ack), expected in (
        ("23", arrived, named_here),
        ("20", arrived, named_here),
        ("21", refused, private_here),
        ("20", refused, private_here),
    ):
        judge(f"{RULE}{rule}", expected=expected, observed=_queue(ack, "Response"), evidence=[sent, ack])
    bodies = [bytes(ack["MessagePropertiesHeader"].MessageBody) for _, ack in (arrived, refused)]
    judge(f"{RULE}29", expected=[b"", BODY], observed=bodies, evidence=[*arrived, *refused])


@covers(f"{RULE}22")
@needs("configure")
def test_the_response_queue_of_an_acknowledgment_may_be_public(peer, sut, judge):
    """A message to a public queue that the SUT has not is refused; the acknowledgment names that queue."""
    sut.configure(send_insecure_nacks=True)
    fate = Fate(peer, sut)
    public = PublicQueueFormatName(PublicQueueIdentifier=PEER_PUBLIC_QUEUE)
    user = {"DQ": PUBLIC, "QueueManagerAddress": sut.guid, "DestinationQueue": public}
    sent, ack = fate.acknowledgment(fate.asking(user, destination=None, properties={"NA": 1}))
    expected = f"{PUBLIC}: {PEER_PUBLIC_QUEUE}"
    judge(f"{RULE}22", expected=expected, observed=_queue(ack, "Response"), evidence=[sent, ack])


ENDS = {
    "received": ("PR", RECEIVE),
    "purged": ("NR", Q_PURGED),
    "deleted": ("NR", Q_DELETED),
    "timeout": ("NR", RECEIVE_TIMEOUT),
}
"""Ways for a message out of its queue, the bit that asks to be told, and the class that tells."""


LEAVING = ("MQQB-3.1.7.2-01", "MQQB-3.1.7.2.1-03", *(f"{RULE}{number}" for number in ("07", "16", "19", "24", "28")))
DELIVERY = {"express": "MQQB-3.1.7.2.1-02", "recoverable": "MQQB-3.1.7.2.1-01"}


@needs("queue_control", "receive")
@pytest.mark.parametrize(
    "delivery",
    [pytest.param(name, marks=covers(*LEAVING, rule), id=name) for name, rule in DELIVERY.items()],
)
@pytest.mark.parametrize("end", ENDS)
def test_leaving_a_queue_is_acknowledged_when_asked_for(peer, sut, judge, end, delivery):
    """Of three messages with one fate that with the bit for it is acknowledged; the others have none, or the other."""
    bit, expected = ENDS[end]
    recoverable = int(delivery == "recoverable")
    other = {"PR": "NR", "NR": "PR"}[bit]
    sut.control.call("create_queue", name=DELETED, transactional=False)
    fate = Fate(peer, sut)
    destination = rf"TCP:{sut.address}\{DELETED}"
    life_s = LIFE_S if end == "timeout" else INFINITE
    user = fate.administered({"DM": recoverable, "TimeToBeReceived": life_s})
    sent = [
        fate.give(a_message(peer, user, destination=destination, properties=wanted, body=BODY, label=f"end {at}"))
        for at, wanted in enumerate(({}, {other: 1}, {bit: 1}))
    ]
    if arrives(sut, fate.connections[0], "end 2", DELETED) != "in its queue":
        raise ConformanceFailure("the SUT did not take the messages")
    _end(fate, sut, end)
    came = fate.await_acks(1)
    if end != "deleted":
        sut.control.call("delete_queue", name=DELETED)
    evidence = [*sent, *came]
    told = [correlation(ack) for ack in came]
    judge("MQQB-3.1.7.2-01", expected=[identifier(sent[2])], observed=told, evidence=evidence)
    for rule in ("MQQB-3.1.7.2.1-03", f"{RULE}07"):
        judge(rule, expected=named(expected), observed=classes(came), evidence=evidence)
    if not came:
        raise ConformanceFailure("no acknowledgment came to the administration queue")
    ack = came[0]
    judge(f"{RULE}16", expected=identifier(sent[2]), observed=correlation(ack), evidence=evidence)
    for rule in (DELIVERY[delivery], f"{RULE}24"):
        judge(rule, expected=recoverable, observed=ack["UserHeader"].DM, evidence=evidence)
    judge(f"{RULE}19", expected=f"{DIRECT}: {destination}".lower(), observed=_queue(ack, "Response"), evidence=evidence)
    body = bytes(ack["MessagePropertiesHeader"].MessageBody)
    judge(f"{RULE}28", expected=b"" if end == "received" else BODY, observed=body, evidence=evidence)


def _end(fate: Fate, sut: Sut, end: str) -> None:
    """Let every message leave the queue in one way."""
    if end == "received":
        for _ in labels(sut, DELETED):
            sut.control.call("receive", queue=DELETED, timeout_ms=0)
    elif end == "purged":
        sut.control.call("purge", queue=DELETED)
    elif end == "deleted":
        sut.control.call("delete_queue", name=DELETED)
    else:
        pass_time(fate.peer, (LIFE_S + 1) * 1_000)


def _attributes(ack: Frame | None = None) -> dict[str, int]:
    """Give the attributes of the table of 3.1.7.15, or what they must be."""
    if ack is None:
        return {"acks": 0, "reach": INFINITE, "receive": INFINITE, "JP": 0, "JN": 0, "privacy": 0, "signed": 0}
    user, properties = ack["UserHeader"], ack["MessagePropertiesHeader"]
    return {
        "acks": sum(properties.getfieldval(bit) for bit in ("PA", "PR", "NA", "NR")),
        "reach": ack["BaseHeader"].TimeToReachQueue,
        "receive": user.TimeToBeReceived,
        "JP": user.JP,
        "JN": user.JN,
        "privacy": properties.PrivacyLevel,
        "signed": len(ack["SecurityHeader"].Signature) if user.SH else 0,
    }
