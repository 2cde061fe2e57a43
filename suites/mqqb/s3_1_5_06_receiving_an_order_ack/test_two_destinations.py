"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet: an OrderAck concerns only the sequence that it names."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import facts, holds, one_of
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import FIRST_RESEND_INTERVAL_MS, SequenceSentBySut
from suites.mqqb.steps.two_destinations import TwoDestinations

ORDER_ACK_INTERVAL_MS = 2_000
"""The time in ms before an OrderAck; TimeOfLastAck, in whole seconds, must differ from the time before."""


@needs("send")
@covers("MQQB-3.1.5.6-09", "MQQB-3.1.5.6-13", "MQQB-3.1.6.5-01")
def test_order_ack_of_one_destination_leaves_sequence_of_other_unacknowledged(peer, second_host, sut, judge):
    """The SUT sends two transactional messages to the peer and two to a second queue manager. Both acknowledge them on
    the session, but only the peer sends an OrderAck. Later, the SUT resends both messages to the second queue manager,
    and none to the peer.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((2, 2), delivery="transactional")
    acknowledged = [destination.session.acknowledge_all() for destination in two.both_destinations]
    order_ack = two.first.session.send(build_order_ack(peer, two.first.session.messages[-1]))
    within_ms = 2 * sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS)

    def list_resent_tags(destination) -> list[int]:
        return Sender.list_tags(destination.peer.inbox.copies)[len(destination.tags) :]

    peer.environment.run_until(lambda: len(list_resent_tags(two.second)) >= len(two.second.tags), within_ms)
    peer.settle()
    judge(
        "MQQB-3.1.5.6-09",
        "MQQB-3.1.6.5-01",
        expected=holds("both messages are resent to the second queue manager, which sent no OrderAck"),
        observed=list_resent_tags(two.second)[:2] == two.second.tags or f"resent: tags {list_resent_tags(two.second)}",
        evidence=[*acknowledged, order_ack, *second_host.inbox.copies],
    )
    judge(
        "MQQB-3.1.5.6-13",
        "MQQB-3.1.6.5-01",
        expected=holds("no message is resent to the peer, which sent an OrderAck"),
        observed=not list_resent_tags(two.first) or f"resent: tags {list_resent_tags(two.first)}",
        evidence=[*acknowledged, order_ack, *peer.inbox.copies],
    )
    for destination in two.both_destinations:
        if not destination.session.closed_by_sut:
            destination.acknowledge_transactional_messages()


@needs("send", "inspect")
@covers("MQQB-3.1.5.6-03", "MQQB-3.1.5.6-04")
def test_order_ack_leaves_resend_state_of_other_sequence(peer, sut, judge):
    """The SUT sends two transactional messages to each of two queues of the peer, and sends all of them again. The peer
    sends the OrderAck of the first message of the second queue. ResendIntervalIndex and TimeOfLastAck change in the
    sequence of the second queue, and not in the sequence of the first.
    """
    first = SequenceSentBySut(peer, sut, "mqc-order-first")
    first.send(2)
    first.send_session_ack()
    second = first.start_second_sequence("mqc-order-second")
    second.send(2)
    second.send_session_ack()
    for outgoing in (first, second):
        peer.environment.run_until(
            lambda outgoing=outgoing: len(outgoing.copies(2)) > 1,
            sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS) + sut.connect_timeout_ms,
        )
        if len(outgoing.copies(2)) < 2:
            raise ConformanceFailure("the SUT did not send the messages again")
        outgoing.send_session_ack()
    peer.pass_time(ORDER_ACK_INTERVAL_MS)
    before = [one.read_sequence() for one in (first, second)]
    frame = second.send_order_ack(1)
    peer.eventually(lambda: second.list_unacknowledged_numbers() == [2])
    after = [one.read_sequence() for one in (first, second)]
    indexes = [[read_data_model_element(one, "ResendIntervalIndex") for one in pair] for pair in (before, after)]
    times = [[read_data_model_element(one, "TimeOfLastAck") for one in pair] for pair in (before, after)]
    evidence = [*second.sent, frame]
    judge(
        "MQQB-3.1.5.6-04",
        expected=one_of([indexes[0][0], 0], [indexes[0][0], indexes[0][1] + 1]),  # E46
        observed=indexes[1],
        case="ResendIntervalIndex of both sequences after the OrderAck",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.5.6-03",
        expected=facts(first_sequence_unchanged=True, second_sequence_later=True),
        observed={
            "first_sequence_unchanged": times[1][0] == times[0][0],
            "second_sequence_later": times[1][1] > times[0][1],
        },
        case="TimeOfLastAck of both sequences",
        evidence=evidence,
    )
    for outgoing in (first, second):
        outgoing.acknowledge_all()
