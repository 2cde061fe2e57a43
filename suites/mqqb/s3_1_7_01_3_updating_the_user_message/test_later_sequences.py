"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: the elements of a second queue and of a later session."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import SequenceSentBySut, get_sequence_id_number


def _list_unacked_sequence_infos(outgoing: SequenceSentBySut) -> list[tuple[int, int, int]]:
    """Return SeqID, SeqNo and PrevNo of each entry of UnackedSequence."""
    return [
        (int(one["SeqID"]), int(one["SeqNo"]), int(one["PrevNo"]))
        for one in read_data_model_element(outgoing.read_sequence(), "UnackedSequence")
    ]


@needs("send", "inspect")
@covers("MQQB-3.1.7.1.3-06", "MQQB-3.1.7.1.3-07")
def test_sequence_of_second_queue_has_its_own_entries(peer, sut, judge):
    """The SUT sends transactional messages alternately to two queues, and the peer acknowledges none: UnackedSequence
    of each queue's session contains the messages to this queue.
    """
    first = SequenceSentBySut(peer, sut, "mqc-sequence")
    second = first.start_second_sequence("mqc-second-sequence")
    for outgoing in (first, second, first, second):
        outgoing.send()
    for name, outgoing in (("first", first), ("second", second)):
        places = [(get_sequence_id_number(frame), number, number - 1) for number, frame in enumerate(outgoing.sent, 1)]
        found = _list_unacked_sequence_infos(outgoing)
        judge(
            "MQQB-3.1.7.1.3-06",
            expected=[place[1] for place in places],
            observed=[info[1] for info in found],
            case=f"numbers in UnackedSequence of the {name} queue",
            evidence=outgoing.sent,
        )
        judge(
            "MQQB-3.1.7.1.3-07",
            expected=places,
            observed=found,
            case=f"SEQUENCE_INFOs of the {name} queue",
            evidence=outgoing.sent,
        )
    for outgoing in (first, second):
        outgoing.acknowledge_all()


@needs("send", "inspect")
@covers("MQQB-3.1.7.1.3-06", "MQQB-3.1.7.1.3-07", "MQQB-3.1.7.1.3-12")
def test_later_session_numbers_messages_anew(peer, sut, judge):
    """The SUT sends an express message, which the peer acknowledges, and two transactional messages. On the next
    session the SUT sends the two messages again, and a third one: SequenceNumber counts the messages of this
    session, and UnackedSequence contains the three messages.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-later")
    outgoing.send(delivery="express")
    outgoing.send_session_ack()
    sent = outgoing.send(2)
    outgoing.session.close()
    outgoing.await_session()
    peer.environment.run_until(
        lambda: all(len(outgoing.copies(number)) > 1 for number in (2, 3)), sut.response_timeout_ms
    )
    sent += outgoing.send()
    positions = read_data_model_element(outgoing.shown(), "OutgoingMessageTable")
    judge(
        "MQQB-3.1.7.1.3-12",
        expected=[1, 2, 3],
        observed=[read_data_model_element(position, "SequenceNumber") for position in positions],
        case="SequenceNumber of the messages on the later session",
        evidence=sent,
    )
    found = _list_unacked_sequence_infos(outgoing)
    places = [(get_sequence_id_number(frame), number, number - 1) for number, frame in enumerate(sent, 1)]
    judge(
        "MQQB-3.1.7.1.3-06",
        expected=[place[1] for place in places],
        observed=[info[1] for info in found],
        case="numbers in UnackedSequence of the later session",
        evidence=sent,
    )
    judge(
        "MQQB-3.1.7.1.3-07",
        expected=places,
        observed=found,
        case="SEQUENCE_INFOs of the later session",
        evidence=sent,
    )
    outgoing.acknowledge_all()
