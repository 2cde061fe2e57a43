"""MS-MQQB 3.1.1.3.1 Session State: the elements of outgoing and incoming transactional sequences."""

from __future__ import annotations

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import TxSequenceID
from suites.mqqb.steps.opening import format_guid
from suites.mqqb.steps.ordering import Receiver, build_order_ack, read_acknowledged_sequence_position
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import SequenceSentBySut, list_sequence_numbers, read_sequence_id

SECONDS_PER_DAY = 24 * 3_600
EXPECTATION_OF_GROWING_SEQUENCE_IDENTIFIERS = holds(
    "the identifiers of the last three messages are greater than those of the first three messages"
)


@needs("send")
@covers("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of arrival"))
def test_each_new_outgoing_sequence_has_a_greater_identifier(peer, sut, judge):
    """The SUT sends three sequences to one queue and one sequence to a second queue. The identifiers of the sequences
    increase, and the first sequence to each queue has Ordinal 1. A FinalAck from the peer ends one of the three
    sequences.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-greater-1")
    begun = outgoing.send()
    outgoing.acknowledge_all()
    begun += outgoing.send()
    outgoing.send_session_ack()
    outgoing.send_final_ack(2)
    peer.settle()
    begun += outgoing.send()
    outgoing.acknowledge_all()
    outgoing.set_destination_queue("mqc-greater-2")
    begun += outgoing.send()
    outgoing.acknowledge_all()
    identifiers = [read_sequence_id(frame) for frame in begun]
    judge(
        "MQQB-3.1.1.3.1-02",
        "MQDMPR-3.1.1.12-D57",
        expected=holds("each identifier is greater than the previous one"),
        observed=identifiers == sorted(set(identifiers)) or str(identifiers),
        evidence=begun,
    )
    (stamp, _), *_, (other, ordinal) = identifiers
    begins = {"Ordinal": ordinal, "newer TimeStamp": other > stamp}
    expected = fields({"Ordinal": 1, "newer TimeStamp": True})
    judge("MQQB-3.1.1.3.1-03", expected=expected, observed=begins, evidence=begun)


@needs("send")
@covers("MQQB-3.1.1.3.1-02", "MQDMPR-3.1.1.12-D57", "MQQB-3.1.1.3.1-03")
def test_sequences_that_begin_together_have_distinct_time_stamps(peer, sut, judge):
    """The SUT sends messages to three queues at the same time, and then to three more queues at the same time. Each
    sequence has Ordinal 1 and a unique TimeStamp. Each TxSequenceID of the second group is greater than all
    TxSequenceIDs of the first group; the check does not judge the order within a group.
    """
    sender = Sender(peer, sut)
    earlier, later = (
        _await_messages_with_tags(
            sender, _send_first_messages_at_once(sender, *(f"mqc-{when}-{number}" for number in range(3)))
        )
        for when in ("at-once", "after-these")
    )
    frames = [*earlier, *later]
    old, new = ({read_sequence_id(frame) for frame in batch} for batch in (earlier, later))
    distinct = len(old) == len(earlier) and len(new) == len(later) and max(old) < min(new)
    observed = distinct or f"{sorted(old)}, then {sorted(new)}"
    judge(
        "MQQB-3.1.1.3.1-02",
        "MQDMPR-3.1.1.12-D57",
        expected=EXPECTATION_OF_GROWING_SEQUENCE_IDENTIFIERS,
        observed=observed,
        evidence=frames,
        case="TxSequenceIDs of the messages",
    )
    _judge_first_sequences(judge, frames)
    _acknowledge_messages(sender, frames)


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-03")
def test_sequence_after_restart_has_a_new_time_stamp(peer, sut, judge):
    """The SUT sends messages to three queues at the same time, restarts, and sends a message to a fourth queue. The
    TimeStamps of the four sequences differ.
    """
    sender = Sender(peer, sut)
    message_tags = _send_first_messages_at_once(sender, *(f"mqc-before-{number}" for number in range(3)))
    sut.restart()
    message_tags += _send_first_messages_at_once(sender, "mqc-after")
    frames = _await_messages_with_tags(sender, message_tags)
    _judge_first_sequences(judge, frames)
    _acknowledge_messages(sender, frames)


@needs("send", "restart", "environment")
@covers("MQQB-3.1.1.3.1-03")
def test_sequence_after_clock_is_set_back_has_a_greater_time_stamp(peer, sut, judge):
    """The SUT begins one sequence before its clock is set back by a day, one after this change, and one after a
    restart. The TimeStamps of the three sequences increase.
    """
    sender = Sender(peer, sut)
    message_tags = _send_first_messages_at_once(sender, "mqc-that-day")
    sut.change_environment(clock=-SECONDS_PER_DAY)
    message_tags += _send_first_messages_at_once(sender, "mqc-a-day-before")
    sut.restart()
    message_tags += _send_first_messages_at_once(sender, "mqc-then-restarted")
    frames = _await_messages_with_tags(sender, message_tags)
    stamps = [read_sequence_id(frame)[0] for frame in frames]
    judge(
        "MQQB-3.1.1.3.1-03",
        expected=holds("each TimeStamp is greater than the previous one"),
        observed=stamps == sorted(set(stamps)) or str(stamps),
        evidence=frames,
    )
    _acknowledge_messages(sender, frames)


def _send_first_messages_at_once(sender, *names):
    """Let the SUT begin a sequence to each of the given queues at the same time; return the tags of the messages."""
    message_tags = [sender.peer.next_message_id() for _ in names]
    for tag, name in zip(message_tags, names, strict=True):
        to = sender.peer.direct_name(name)
        sender.sut.send(to, body="at once", application_tag=tag, delivery="transactional")
    return message_tags


def _await_messages_with_tags(sender, message_tags):
    """Wait until the messages with the given tags have arrived on an open session; return these messages."""
    inbox = sender.peer.inbox

    def find_latest_messages() -> dict[int, Frame]:
        return {Sender.list_tags([one])[0]: one for one in reversed(inbox.copies) if inbox.is_open(one)}

    if not sender.peer.environment.run_until(
        lambda: set(message_tags) <= find_latest_messages().keys(), sender.sut.connect_timeout_ms
    ):
        raise ConformanceFailure(
            f"{len(set(message_tags) & find_latest_messages().keys())} of {len(message_tags)} messages arrived"
        )
    return [find_latest_messages()[tag] for tag in message_tags]


def _acknowledge_messages(sender, frames):
    inbox = sender.peer.inbox
    inbox.acknowledge()
    for frame in frames:
        inbox.conversation(frame).send(build_order_ack(sender.peer, frame))
    sender.peer.settle()


def _judge_first_sequences(judge, frames):
    """Judge that each sequence is the first of its queue, and has a TimeStamp that no other sequence has."""
    stamps, ordinals = ({read_sequence_id(frame)[at] for frame in frames} for at in (0, 1))
    begin = {"number of different TimeStamps": len(stamps), "Ordinals": sorted(ordinals)}
    judge(
        "MQQB-3.1.1.3.1-03",
        expected=fields({"number of different TimeStamps": len(frames), "Ordinals": [1]}),
        observed=begin,
        evidence=frames,
    )


@needs("send", "restart")
@covers("MQQB-3.1.1.3.1-04", "MQQB-3.1.1.3.1-06")
def test_outgoing_sequence_continues_after_restart(peer, sut, judge):
    """The SUT sends two messages of its second sequence to a queue, and the peer acknowledges one of them. After a
    restart, the next message of the sequence has number 3.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-outgoing-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-outgoing-lives")
    outgoing.send()
    outgoing.acknowledge_all()
    sent = outgoing.send(2)
    outgoing.send_session_ack()
    ack = outgoing.send_order_ack(2)
    peer.settle()
    sut.restart()
    sent += outgoing.send()
    evidence = [*sent, ack]
    judge(
        "MQQB-3.1.1.3.1-06",
        expected=[1, 2, 3],
        observed=list_sequence_numbers(sent),
        case="TxSequenceNumbers",
        evidence=evidence,
    )
    if read_sequence_id(sent[0])[1] == 1:
        raise ConformanceFailure("the SUT began no second sequence after the first sequence had ended")
    judge(
        "MQQB-3.1.1.3.1-04",
        expected=holds("both messages have the same TxSequenceID"),
        observed=read_sequence_id(sent[0]) == read_sequence_id(sent[2]) or str(read_sequence_id(sent[2])),
        evidence=evidence,
    )
    outgoing.acknowledge_all()


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("queues")
@covers("MQQB-3.1.1.3.1-07", "MQQB-3.1.1.3.1-09")
@varied("trace", "label", "body", "queue journaling")
def test_new_queue_accepts_the_least_sequence_from_number_1(peer, sut, judge):
    """The peer sends number 2 and then number 1 of a sequence with TimeStamp 0 to a new queue. The SUT accepts number
    1, and does not accept number 2.
    """
    name = sut.new_queue("first", transactional=True)
    receiver = Receiver(peer, sut)
    receiver.sequence.identifier = TxSequenceID(Ordinal=1, TimeStamp=0)
    destination = rf"TCP:{sut.address}\{name}"
    early = receiver.send(transaction={"TxSequenceNumber": 2, "PreviousTxSequenceNumber": 1}, destination=destination)
    frame = receiver.poll_acknowledgment()
    accepted = frame is not None and bool(read_acknowledged_sequence_position(frame).TxSequenceNumber)
    refused = holds("not accepted", otherwise="accepted")
    judge(
        "MQQB-3.1.1.3.1-09",
        expected=refused,
        observed=not accepted,
        case="message 2, which arrives before message 1",
        evidence=[early, frame],
    )
    judge.conclude("MQQB-3.1.1.3.1-09")
    receiver.sequence.number = 0
    first_message = receiver.send(destination=destination)
    frame = receiver.poll_acknowledgment()
    got = "nothing" if frame is None else read_acknowledged_sequence_position(frame).TxSequenceNumber
    judge(
        "MQQB-3.1.1.3.1-07",
        expected=1,
        observed=got,
        case="TxSequenceNumber of the OrderAck",
        evidence=[first_message, frame],
    )


@needs("restart", "receive")
@covers("MQQB-3.1.1.3.1-08", "MQQB-3.1.1.3.1-09")
@varied("time to be received", "extension", "correlation")
def test_incoming_sequence_is_kept_over_restart(peer, sut, judge):
    """After a restart, the SUT discards a message that it accepted before the restart, and a message of an older
    sequence. It accepts the next message. The OrderAck for the first of these messages has the number of the last
    message that the SUT accepted before the restart.
    """
    receiver = Receiver(peer, sut, ordinal=7)
    sent = [receiver.send(label="1"), receiver.send(label="2")]
    receiver.await_last_acknowledgment(2)
    sut.restart()
    receiver.session = peer.open_raw()
    receiver.sequence.number = 1
    again = receiver.send(label="2 again")
    repeated = receiver.poll_acknowledgment()
    judge(
        "MQQB-3.1.1.3.1-09",
        expected=2,
        observed="nothing" if repeated is None else read_acknowledged_sequence_position(repeated).TxSequenceNumber,
        case="TxSequenceNumber of the OrderAck after a repetition",
        evidence=[*sent, again, repeated],
    )
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
        found = [each for each in labels if each in (label, "3")]
        judge(
            rule,
            expected=["3"],
            observed=found,
            case="numbers of the messages accepted after a restart",
            evidence=evidence,
        )


@needs("restart", "receive")
@covers("MQQB-3.1.1.3.1-08")
def test_incoming_sequences_of_two_senders_are_kept_over_restart(peer, second_host, sut, judge):
    """The peer and a second queue manager each send a transactional message to the same queue, and the SUT restarts.
    The SUT discards a message of an older sequence of either sender, and accepts the next message of either sender.
    """
    senders = {"peer": peer, "second host": second_host}
    receivers = {name: Receiver(sender, sut, ordinal=7) for name, sender in senders.items()}
    evidence = []
    for name, receiver in receivers.items():
        evidence.append(receiver.send(label=f"{name} 1"))
        receiver.await_acknowledgment()
    sut.restart()
    for name, receiver in receivers.items():
        receiver.session = senders[name].open_raw()
        own = receiver.sequence.identifier
        older = TxSequenceID(Ordinal=own.Ordinal - 1, TimeStamp=own.TimeStamp)
        place = {"TxSequenceID": older, "TxSequenceNumber": 1, "PreviousTxSequenceNumber": 0}
        receiver.sequence.number = 1
        evidence += [
            receiver.session.send(receiver.sequence.message(label=f"{name} older", transaction=place)),
        ]
        receiver.sequence.number = 1
        evidence.append(receiver.send(label=f"{name} 2"))
        senders[name].await_label(f"{name} 2", sut.queue("transactional"))
    labels = [one["label"] for one in sut.messages("transactional")]
    for name in senders:
        judge(
            "MQQB-3.1.1.3.1-08",
            expected=[f"{name} 2"],
            observed=[label for label in labels if label in (f"{name} older", f"{name} 2")],
            case=f"messages of the {name} accepted after a restart",
            evidence=evidence,
        )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@needs("restart", "management", "queues")
@covers("MQQB-3.1.1.3.1-05")
def test_reject_count_is_kept_over_restart(peer, sut, judge):
    """RejectCount of a new sequence is 0. The peer sends two messages out of order before a restart of the SUT, and one
    such message after it. Each of these messages increases RejectCount by one.
    """
    receiver = Receiver(peer, sut)
    receiver.send()
    receiver.await_acknowledgment()
    new = _await_reject_count(peer, sut, 0)
    judge(
        "MQQB-3.1.1.3.1-05",
        expected=0,
        observed=new,
        case="RejectCount of a new sequence",
        evidence=receiver.list_acknowledgments(),
    )
    sent = []
    for count in (1, 2):
        receiver.sequence.number = 2
        sent.append(receiver.send())
        judge(
            "MQQB-3.1.1.3.1-05",
            expected=count,
            observed=_await_reject_count(peer, sut, count),
            case=f"RejectCount after {count} message{'s' * (count > 1)} out of order",
            evidence=sent,
        )
    sut.restart()
    receiver.session = peer.open_raw()
    receiver.sequence.number = 2
    sent.append(receiver.send())
    judge(
        "MQQB-3.1.1.3.1-05",
        expected=3,
        observed=_await_reject_count(peer, sut, 3),
        case="RejectCount after a restart",
        evidence=sent,
    )


def _await_reject_count(peer, sut, count):
    """Wait until the SUT shows the given RejectCount; return the value that it shows at the end of the wait."""
    queue = sut.queue("transactional")

    def is_count_shown():
        transfers = sut.control.call("get_transfers", queue=queue)["transfers"]
        counts = [
            read_data_model_element(one, "RejectCount")
            for one in transfers
            if format_guid(one["SenderIdentifier"]) == format_guid(peer.identifier)
        ]
        return counts[-1] if counts else "no count"

    peer.eventually(lambda: is_count_shown() == count)
    return is_count_shown()
