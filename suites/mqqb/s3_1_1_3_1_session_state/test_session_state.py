"""MS-MQQB 3.1.1.3.1 Session State: what is kept of transactional sequences, both ways."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import facts, fields, holds
from harness.run.marks import covers, malforms, needs
from harness.wire import TxSequenceID
from suites.mqqb.steps.opening import guid_text
from suites.mqqb.steps.ordering import Receiver, order_ack, place
from suites.mqqb.steps.pinging import read_element
from suites.mqqb.steps.sender import Sender, tags
from suites.mqqb.steps.sequences import Outgoing, numbers, sequence_of

DAY_S = 24 * 3_600
GROWING = holds("three sequences, then three greater ones")


@needs("send")
@covers("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03")
def test_each_outgoing_sequence_is_greater_than_those_before(peer, sut, judge):
    """Two sequences to one queue, then one to another: Ordinal is 1 for each queue, identifiers grow."""
    outgoing = Outgoing(peer, sut, "mqc-greater-1")
    begun = outgoing.send()
    outgoing.settle()
    begun += outgoing.send()
    outgoing.settle()
    outgoing.turn_to("mqc-greater-2")
    begun += outgoing.send()
    outgoing.settle()
    identifiers = [sequence_of(frame) for frame in begun]
    judge(
        "MQQB-3.1.1.3.1-02",
        "MQDMPR-3.1.1.12-D57",
        expected=holds("each greater"),
        observed=identifiers == sorted(set(identifiers)) or str(identifiers),
        evidence=begun,
    )
    (stamp, _), _, (other, ordinal) = identifiers
    begins = {"Ordinal": ordinal, "newer TimeStamp": other > stamp}
    expected = fields({"Ordinal": 1, "newer TimeStamp": True})
    judge("MQQB-3.1.1.3.1-03", expected=expected, observed=begins, evidence=begun)


@needs("send")
@covers("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03")
def test_sequences_that_begin_at_once_differ(peer, sut, judge):
    """Messages to three queues at the same time, and to three more when these came: each sequence begins with Ordinal 1
    and a TimeStamp of its own, and those of the later three are greater than the first. The order of three is unseen.
    """
    sender = Sender(peer, sut)
    first, later = (
        _come(sender, _sent_at_once(sender, *(f"mqc-{when}-{number}" for number in range(3))))
        for when in ("at-once", "after-these")
    )
    frames = [*first, *later]
    before, after = ({sequence_of(frame) for frame in batch} for batch in (first, later))
    apart = len(before) == len(first) and len(after) == len(later) and max(before) < min(after)
    observed = apart or f"{sorted(before)}, then {sorted(after)}"
    judge("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", expected=GROWING, observed=observed, evidence=frames)
    _begin_anew(judge, frames)
    _acknowledged(sender, frames)


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-03")
def test_a_sequence_after_a_restart_differs_from_those_that_began_at_once_before(peer, sut, judge):
    """Messages to three queues at the same time, a restart at once, and one to a fourth queue: four TimeStamps."""
    sender = Sender(peer, sut)
    wanted = _sent_at_once(sender, *(f"mqc-before-{number}" for number in range(3)))
    sut.restart()
    wanted += _sent_at_once(sender, "mqc-after")
    frames = _come(sender, wanted)
    _begin_anew(judge, frames)
    _acknowledged(sender, frames)


@needs("send", "restart", "environment")
@covers("MQQB-3.1.1.3.1-03")
def test_a_sequence_is_newer_than_those_before_a_clock_was_set_back(peer, sut, judge):
    """A message to one queue; the clock is set back by a day, a message to another, a restart, one to a third."""
    sender = Sender(peer, sut)
    wanted = _sent_at_once(sender, "mqc-that-day")
    sut.change_environment(clock=-DAY_S)
    wanted += _sent_at_once(sender, "mqc-a-day-before")
    sut.restart()
    wanted += _sent_at_once(sender, "mqc-then-restarted")
    frames = _come(sender, wanted)
    stamps = [sequence_of(frame)[0] for frame in frames]
    judge(
        "MQQB-3.1.1.3.1-03",
        expected=holds("each newer"),
        observed=stamps == sorted(set(stamps)) or str(stamps),
        evidence=frames,
    )
    _acknowledged(sender, frames)


def _sent_at_once(sender, *names):
    """Let the SUT begin a sequence to each of some queues at the same time; return the tags of the messages."""
    wanted = [sender.peer.message_id() for _ in names]
    for tag, name in zip(wanted, names, strict=True):
        to = sender.peer.direct_name(name)
        sender.sut.send(to, body="at once", application_tag=tag, delivery="transactional")
    return wanted


def _come(sender, wanted):
    """Wait for messages on sessions that are open, and return them."""
    inbox = sender.peer.inbox

    def found() -> dict[int, Frame]:
        return {tags([one])[0]: one for one in reversed(inbox.copies) if inbox.is_open(one)}

    if not sender.peer.environment.run_until(lambda: set(wanted) <= found().keys(), sender.sut.connect_timeout_ms):
        raise ConformanceFailure(f"{len(set(wanted) & found().keys())} of {len(wanted)} messages came")
    return [found()[tag] for tag in wanted]


def _acknowledged(sender, frames):
    inbox = sender.peer.inbox
    inbox.acknowledge()
    for frame in frames:
        inbox.conversation(frame).send(order_ack(sender.peer, frame))
    sender.peer.settle()


def _begin_anew(judge, frames):
    """Judge that each of some sequences is the first of its queue, and its TimeStamp that of no other."""
    stamps, ordinals = ({sequence_of(frame)[at] for frame in frames} for at in (0, 1))
    begin = {"TimeStamps": len(stamps), "Ordinals": sorted(ordinals)}
    judge("MQQB-3.1.1.3.1-03", expected=facts(TimeStamps=len(frames), Ordinals=[1]), observed=begin, evidence=frames)


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-04", "MQQB-3.1.1.3.1-06")
def test_the_outgoing_sequence_outlives_a_restart(peer, sut, judge):
    """A sequence that is over, two messages of the next, of which one is acknowledged, a crash, one more.

    The same sequence goes on with number 3: it is not the first one, with which a new identifier would begin.
    """
    outgoing = Outgoing(peer, sut, "mqc-outgoing-lives")
    outgoing.send()
    outgoing.settle()
    sent = outgoing.send(2)
    outgoing.on_session()
    ack = outgoing.acknowledge(2)
    peer.settle()
    sut.restart()
    sent += outgoing.send()
    evidence = [*sent, ack]
    judge("MQQB-3.1.1.3.1-06", expected=[1, 2, 3], observed=numbers(sent), evidence=evidence)
    if sequence_of(sent[0])[1] == 1:
        raise ConformanceFailure("the SUT began no second sequence when the first was over")
    judge(
        "MQQB-3.1.1.3.1-04",
        expected=holds("the same"),
        observed=sequence_of(sent[0]) == sequence_of(sent[2]) or str(sequence_of(sent[2])),
        evidence=evidence,
    )
    outgoing.settle()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("queue_control")
@covers("MQQB-3.1.1.3.1-07", "MQQB-3.1.1.3.1-09")
def test_a_new_queue_takes_any_sequence_from_its_beginning(peer, sut, judge):
    """In a queue that was just made, the least of all identifiers is accepted, but not a message after another."""
    name = sut.new_queue("first", transactional=True)
    receiver = Receiver(peer, sut)
    receiver.sequence.identifier = TxSequenceID(Ordinal=1, TimeStamp=0)
    destination = rf"TCP:{sut.address}\{name}"
    early = receiver.send(transaction={"TxSequenceNumber": 2, "PreviousTxSequenceNumber": 1}, destination=destination)
    frame = receiver.poll_acknowledgment()
    accepted = frame is not None and bool(place(frame).TxSequenceNumber)
    nothing = holds("nothing accepted", otherwise="accepted")
    judge("MQQB-3.1.1.3.1-09", expected=nothing, observed=not accepted, evidence=[early, frame])
    judge.conclude("MQQB-3.1.1.3.1-09")
    receiver.sequence.number = 0
    first = receiver.send(destination=destination)
    frame = receiver.poll_acknowledgment()
    got = "nothing" if frame is None else place(frame).TxSequenceNumber
    judge("MQQB-3.1.1.3.1-07", expected=1, observed=got, case="message of the OrderAck", evidence=[first, frame])


@needs("restart", "receive")
@covers("MQQB-3.1.1.3.1-08", "MQQB-3.1.1.3.1-09")
def test_the_incoming_sequence_outlives_a_restart(peer, sut, judge):
    """After a crash neither what was accepted nor an older sequence is taken, but what comes next is."""
    receiver = Receiver(peer, sut, ordinal=7)
    sent = [receiver.send(label="1"), receiver.send(label="2")]
    receiver.last_acknowledgment(2)
    sut.restart()
    receiver.session = peer.open_raw()
    receiver.sequence.number = 1
    again = receiver.send(label="2 again")
    own = receiver.sequence.identifier
    older = TxSequenceID(Ordinal=own.Ordinal - 1, TimeStamp=own.TimeStamp)
    old = receiver.send(
        label="older", transaction={"TxSequenceID": older, "TxSequenceNumber": 1, "PreviousTxSequenceNumber": 0}
    )
    receiver.sequence.number = 2
    following = receiver.send(label="3")
    frame = receiver.poll_acknowledgment()
    peer.eventually(lambda: any(one["label"] == "3" for one in sut.messages("transactional")))
    labels = [one["label"] for one in sut.messages("transactional")]
    evidence = [*sent, again, old, following, frame]
    for rule, label in (("MQQB-3.1.1.3.1-09", "2 again"), ("MQQB-3.1.1.3.1-08", "older")):
        taken = [each for each in labels if each in (label, "3")]
        judge(rule, expected=["3"], observed=taken, evidence=evidence)


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("restart", "management", "queue_control")
@covers("MQQB-3.1.1.3.1-05")
def test_the_count_of_rejections_outlives_a_restart(peer, sut, judge):
    """It is 0 of a new sequence; after a message that does not follow, a crash and the same again it is 2."""
    receiver = Receiver(peer, sut)
    receiver.send()
    receiver.await_acknowledgment()
    new = _rejected(peer, sut, 0)
    judge("MQQB-3.1.1.3.1-05", expected=0, observed=new, case="at first", evidence=receiver.acknowledgments())
    receiver.sequence.number = 2
    sent = [receiver.send()]
    _rejected(peer, sut, 1)
    sut.restart()
    receiver.session = peer.open_raw()
    receiver.sequence.number = 2
    sent.append(receiver.send())
    judge("MQQB-3.1.1.3.1-05", expected=2, observed=_rejected(peer, sut, 2), case="in the end", evidence=sent)


def _rejected(peer, sut, count):
    """Wait for a count of rejections; return the one that is shown."""
    queue = sut.queue("transactional")

    def shown():
        told = sut.control.call("get_transfers", queue=queue)["transfers"]
        counts = [
            read_element(one, "RejectCount")
            for one in told
            if guid_text(one["SenderIdentifier"]) == guid_text(peer.identifier)
        ]
        return counts[-1] if counts else "no count"

    peer.eventually(lambda: shown() == count)
    return shown()
