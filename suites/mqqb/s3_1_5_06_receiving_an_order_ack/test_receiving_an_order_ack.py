"""MS-MQQB 3.1.5.6 Receiving an OrderAck Packet."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, facts, fields, holds, none, one_of
from harness.run.marks import covers, needs, sut_survives, varied
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.ordering import (
    ACK_RECEIVE,
    EARLY_CLOSE_EXPECTATION,
    build_final_ack,
    build_order_ack,
    build_unknown_ack,
    send_packet_in_states_before_open,
)
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.sequences import (
    DEAD_LETTERS,
    FIRST_RESEND_INTERVAL_MS,
    RESENT_OUTCOME,
    SYSTEM_JOURNAL,
    SequenceSentBySut,
    find_positions_of_messages_in_queue,
    get_sequence_id_number,
    get_sequence_info,
    read_sequence_info_of_transfer,
)

TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE = {
    "MQQB-3.1.5.6-17": ("EodLastAckTime", "TimeOfLastAck"),
    "MQQB-3.1.5.6-18": ("EodLastAckCount", "LastAckCount"),
    "MQQB-3.1.5.6-20": ("EodResendInterval", "ResendInterval"),
    "MQQB-3.1.5.6-23": ("EodLastAck", "LastAck"),
    "MQQB-3.1.5.6-25": ("EodResendCount", "ResendIntervalIndex"),
    "MQQB-3.1.5.6-26": ("EodResendTime", "ResendTime"),
}
"""For each rule, the attribute of OutgoingTransferInfo and the element of TxOutgoingSequence to whose value the SUT
sets the attribute.
"""
ORDER_ACK_INTERVAL_MS = 2_000
"""The time in ms between two OrderAcks; the times of their arrival, in whole seconds, must differ."""
LONGEST_RESEND_INTERVAL_S = 120
"""The longest resend interval in s for which the check waits; it is longer than the first interval of 30 s (note <24>).
"""
SHORT_RESEND_ENTRY_COUNT = 3
"""The number of short resend intervals before the first longer interval (note <24>)."""
REPEATED_ORDER_ACK_COUNT = 12
"""The number of repeated OrderAcks, which exceeds the number of entries in ResendTimerTable."""


@sut_survives()
@covers("MQQB-3.1.5.6-01")
def test_order_ack_before_open_session_closes_connection(peer, judge):
    """The peer sends an OrderAck. The SUT closes a session that waits for ConnectionParameters, and does not close an
    open session.
    """
    observed, evidence = send_packet_in_states_before_open(peer, build_unknown_ack(peer))
    judge("MQQB-3.1.5.6-01", expected=EARLY_CLOSE_EXPECTATION, observed=observed, evidence=evidence)


@needs("send", "inspect")
@covers(
    "MQQB-3.1.5.6-03",
    "MQQB-3.1.5.6-04",
    "MQQB-3.1.5.6-05",
    "MQQB-3.1.5.6-06",
    "MQQB-3.1.5.6-07",
    "MQQB-3.1.5.6-08",
    "MQQB-3.1.5.6-09",
    "MQQB-3.1.5.6-10",
    "MQQB-3.1.5.6-11",
    "MQQB-3.1.5.6-12",
    "MQQB-3.1.5.6-20",
    "MQQB-3.1.5.6-25",
    "MQQB-3.1.5.6-26",
    "MQQB-3.1.1.5-01",
    "MQQB-3.1.1.5-02",
)
def test_order_acks_update_the_outgoing_sequence(peer, sut, judge):
    """The peer sends OrderAcks for messages 1, 3 and 2 of four messages, and for message 4 after the SUT has resent it.
    Each time, the SUT updates TxOutgoingSequence. When an OrderAck arrives after several resends, the SUT copies the
    present interval, index and time from TxOutgoingSequence to OutgoingTransferInfo. The peer then acknowledges
    messages 5 and 6 one by one, and messages 7 and 8 by one OrderAck, which arrives before their SessionAck.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-moves")

    def await_last_ack_count(count: int) -> None:
        peer.eventually(lambda: read_data_model_element(outgoing.read_sequence(), "LastAckCount") == count)

    sent = outgoing.send(4)
    outgoing.send_session_ack()
    table = read_data_model_element(sut.inspect()["QueueManager"], "ResendTimerTable")
    judge(
        "MQQB-3.1.1.5-02",
        expected=[1, 2, 3, 4],
        observed=outgoing.list_unacknowledged_numbers(),
        case="numbers of the messages in UnackedSequence",
        evidence=sent,
    )
    expected = [(get_sequence_id_number(frame), number, number - 1) for number, frame in enumerate(sent, 1)]
    infos = [
        tuple(one[name] for name in ("SeqID", "SeqNo", "PrevNo")) for one in outgoing.read_sequence()["UnackedSequence"]
    ]
    judge("MQQB-3.1.1.5-01", expected=expected, observed=infos, case="SEQUENCE_INFOs in UnackedSequence", evidence=sent)
    for step, (number, last, left, last_ack_rule, removal_rule) in enumerate(
        (
            (1, 1, [2, 3, 4], "MQQB-3.1.5.6-08", "MQQB-3.1.5.6-09"),
            (3, 3, [4], "MQQB-3.1.5.6-08", "MQQB-3.1.5.6-10"),
            (2, 3, [4], "MQQB-3.1.5.6-07", "MQQB-3.1.5.6-09"),
        ),
        1,
    ):
        old = outgoing.read_sequence()
        frame = outgoing.send_order_ack(number)
        await_last_ack_count(step)
        new = outgoing.read_sequence()
        judge(
            removal_rule,
            expected=left,
            observed=outgoing.list_unacknowledged_numbers(),
            case="numbers of the messages in UnackedSequence",
            evidence=frame,
        )
        judge(
            last_ack_rule,
            expected=last,
            observed=read_data_model_element(read_data_model_element(new, "LastAck"), "SeqNo"),
            case="SeqNo of LastAck",
            evidence=frame,
        )
        judge(
            "MQQB-3.1.5.6-12",
            expected=step,
            observed=read_data_model_element(new, "LastAckCount"),
            case="LastAckCount",
            evidence=frame,
        )
        now_s = peer.environment.now().utc_s
        near = between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)
        judge(
            "MQQB-3.1.5.6-03",
            expected=near,
            observed=read_data_model_element(new, "TimeOfLastAck"),
            case="TimeOfLastAck",
            evidence=frame,
        )
        grown = read_data_model_element(new, "ResendIntervalIndex") - read_data_model_element(
            old, "ResendIntervalIndex"
        )
        judge(
            "MQQB-3.1.5.6-04",
            expected=between(0, 1),
            observed=grown,
            case="increase of ResendIntervalIndex",
            evidence=frame,
        )
        interval = table[min(read_data_model_element(new, "ResendIntervalIndex"), len(table) - 1)]
        judge(
            "MQQB-3.1.5.6-06",
            expected=interval,
            observed=read_data_model_element(new, "ResendInterval"),
            case="ResendInterval",
            evidence=frame,
        )
    judge.conclude(
        "MQQB-3.1.5.6-03",
        "MQQB-3.1.5.6-04",
        "MQQB-3.1.5.6-07",
        "MQQB-3.1.5.6-08",
        "MQQB-3.1.5.6-09",
        "MQQB-3.1.5.6-10",
        "MQQB-3.1.1.5-01",
        "MQQB-3.1.1.5-02",
    )
    for _ in range(REPEATED_ORDER_ACK_COUNT):
        frame = outgoing.send_order_ack(3)
    await_last_ack_count(3 + REPEATED_ORDER_ACK_COUNT)
    index = read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex")
    judge(
        "MQQB-3.1.5.6-05",
        expected=between(0, len(table) - 1),
        observed=index,
        case="ResendIntervalIndex",
        evidence=frame,
    )
    judge.conclude("MQQB-3.1.5.6-05")
    for resends in range(1, SHORT_RESEND_ENTRY_COUNT + 1):
        if outgoing.await_resend(4) != RESENT_OUTCOME:
            raise ConformanceFailure(
                "message 4 was not resent, so it is uncertain whether the ResendIntervalIndex ever changed"
            )
        outgoing.send_session_ack()
        shown = outgoing.read_sequence()
        judge(
            "MQQB-3.1.5.6-06",
            expected=table[min(read_data_model_element(shown, "ResendIntervalIndex"), len(table) - 1)],
            observed=read_data_model_element(shown, "ResendInterval"),
            case=f"ResendInterval after resend {resends}",
            evidence=frame,
        )
    frame = outgoing.send_order_ack(3)
    await_last_ack_count(4 + REPEATED_ORDER_ACK_COUNT)
    judge_copied_attributes(outgoing, sut, judge, frame, "after several resends")
    frame = outgoing.send_order_ack(4)
    peer.eventually(lambda: not outgoing.list_unacknowledged_numbers())
    judge_copied_attributes(outgoing, sut, judge, frame, "after the OrderAck of the last message")
    judge.conclude("MQQB-3.1.5.6-20", "MQQB-3.1.5.6-25", "MQQB-3.1.5.6-26")
    final = outgoing.read_sequence()
    interval = table[min(read_data_model_element(final, "ResendIntervalIndex"), len(table) - 1)]
    judge(
        "MQQB-3.1.5.6-06",
        expected=interval,
        observed=read_data_model_element(final, "ResendInterval"),
        case="ResendInterval",
        evidence=frame,
    )
    observed = {
        "UnackedSequence": outgoing.list_unacknowledged_numbers(),
        "ResendIntervalIndex": outgoing.read_sequence()["ResendIntervalIndex"],
    }
    judge(
        "MQQB-3.1.5.6-11", expected=facts(UnackedSequence=[], ResendIntervalIndex=0), observed=observed, evidence=frame
    )
    outgoing.send(2)
    outgoing.send_session_ack()
    if outgoing.await_resend(5) != RESENT_OUTCOME:
        raise ConformanceFailure("message 5 was not resent, so it is uncertain whether the ResendIntervalIndex changed")
    outgoing.send_session_ack()
    before = outgoing.read_sequence()
    index = read_data_model_element(before, "ResendIntervalIndex")
    peer.pass_time(ORDER_ACK_INTERVAL_MS)
    frame = outgoing.send_order_ack(5)
    peer.eventually(lambda: outgoing.list_unacknowledged_numbers() == [6])
    times = [read_data_model_element(one, "TimeOfLastAck") for one in (before, outgoing.read_sequence())]
    judge(
        "MQQB-3.1.5.6-12",
        expected=read_data_model_element(before, "LastAckCount") + 1,
        observed=read_data_model_element(outgoing.read_sequence(), "LastAckCount"),
        case="LastAckCount after the first OrderAck of the next sequence",
        evidence=frame,
    )
    judge(
        "MQQB-3.1.5.6-03",
        expected=holds("TimeOfLastAck is later than after the OrderAcks of the previous sequence"),
        observed=times[1] > times[0] or str(times),
        evidence=frame,
    )
    judge(
        "MQQB-3.1.5.6-04",
        expected=one_of(0, min(index + 1, len(table) - 1)),
        observed=read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex"),
        case="ResendIntervalIndex after a resend and an OrderAck of one of two messages",
        evidence=frame,
    )
    if outgoing.await_resend(6) != RESENT_OUTCOME:
        raise ConformanceFailure("message 6 was not resent, so it is uncertain whether the ResendIntervalIndex changed")
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(6)
    peer.eventually(lambda: not outgoing.list_unacknowledged_numbers())
    index = read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex")
    judge("MQQB-3.1.5.6-11", expected=0, observed=index, case="ResendIntervalIndex after a resend", evidence=frame)
    outgoing.send(2)
    outgoing.send_session_ack()
    if outgoing.await_resend(8) != RESENT_OUTCOME:
        raise ConformanceFailure("message 8 was not resent, so it is uncertain whether the ResendIntervalIndex changed")
    frame = outgoing.send_order_ack(8)
    peer.eventually(lambda: not outgoing.list_unacknowledged_numbers())
    judge(
        "MQQB-3.1.5.6-11",
        expected=0,
        observed=read_data_model_element(outgoing.read_sequence(), "ResendIntervalIndex"),
        case="ResendIntervalIndex after one OrderAck of two messages that await their SessionAck",
        evidence=frame,
    )
    outgoing.send_session_ack()


@needs("send", "inspect")
@covers("MQQB-3.1.5.6-07", "MQQB-3.1.5.6-09", "MQQB-3.1.5.6-10")
def test_late_order_acks_change_neither_last_ack_nor_order_of_entries(peer, sut, judge):
    """The peer sends OrderAcks for messages 1, 3, 2, 1 and 2 of seven messages: UnackedSequence contains the remaining
    messages in order, and the late OrderAcks do not change LastAck.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-late")
    outgoing.send(7)
    outgoing.send_session_ack()
    last_ack = None
    for count, number in enumerate((1, 3, 2, 1, 2), 1):
        frame = outgoing.send_order_ack(number)
        peer.eventually(lambda count=count: read_data_model_element(outgoing.read_sequence(), "LastAckCount") == count)
        judge(
            "MQQB-3.1.5.6-09" if count == 1 else "MQQB-3.1.5.6-10",
            expected=list(range(2 if count == 1 else 4, 8)),
            observed=outgoing.list_unacknowledged_numbers(),
            case=f"numbers of the messages in UnackedSequence after OrderAck {count}",
            evidence=frame,
        )
        shown = read_data_model_element(outgoing.read_sequence(), "LastAck")
        if count > 2:
            judge(
                "MQQB-3.1.5.6-07",
                expected=last_ack,
                observed=shown,
                case=f"LastAck after OrderAck {count}",
                evidence=frame,
            )
        last_ack = shown
    outgoing.acknowledge_all()


def judge_copied_attributes(outgoing, sut, judge, frame, case):
    """Judge that the resend interval, its index and the time in OutgoingTransferInfo are those in TxOutgoingSequence.
    ``case`` names the moment at which they are compared.
    """
    rules = ("MQQB-3.1.5.6-20", "MQQB-3.1.5.6-25", "MQQB-3.1.5.6-26")
    if not sut.has("management"):
        for rule in rules:
            judge.mark_not_exercised(rule, reason="the SUT does not show OutgoingTransferInfo")
        return
    info, sequence = outgoing.read_transfer_info(), outgoing.read_sequence()
    for rule in rules:
        name, source = TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE[rule]
        judge(
            rule,
            expected=fields({source: read_data_model_element(sequence, source)}),
            observed={source: read_data_model_element(info, name)},
            case=case,
            evidence=frame,
        )


@needs("send", "management")
@covers(
    "MQQB-3.1.5.6-03",
    "MQQB-3.1.5.6-04",
    "MQQB-3.1.5.6-07",
    "MQQB-3.1.5.6-08",
    "MQQB-3.1.5.6-09",
    "MQQB-3.1.5.6-10",
    "MQQB-3.1.5.6-11",
    "MQQB-3.1.5.6-12",
    "MQQB-3.1.5.6-16",
    "MQQB-3.1.5.6-17",
    "MQQB-3.1.5.6-18",
    "MQQB-3.1.5.6-19",
    "MQQB-3.1.5.6-21",
    "MQQB-3.1.5.6-22",
    "MQQB-3.1.5.6-23",
    "MQQB-3.1.5.6-24",
    "MQQB-3.1.5.6-25",
    "MQDMPR-3.1.3-28",
)
def test_order_acks_update_the_outgoing_transfer_info(peer, sut, judge):
    """The peer sends OrderAcks for messages 1, 3, 2, 4 and 5 of five messages with journaling, one of them on a session
    that it opened. Each time, the SUT updates OutgoingTransferInfo of the queue of these messages, and of no other
    queue.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-order-beside")
    beside.send(3, journal=["positive"])
    beside.send_session_ack()
    beside.send_order_ack(2)
    beside.await_transfer_info_value("EodLastAckCount", 1)
    info_beside = beside.read_transfer_info()
    outgoing = beside.start_second_sequence("mqc-order-info")
    sent = outgoing.send(5, journal=["positive"])
    outgoing.send_session_ack()
    for step, (number, last) in enumerate(((1, 1), (3, 3), (2, 3), (4, 4), (5, 5)), 1):
        old_info = outgoing.read_transfer_info()
        is_late_or_on_other_session = number < last or number == 4
        passes = is_late_or_on_other_session and sut.duration_ms(FIRST_RESEND_INTERVAL_MS) > 5 * ORDER_ACK_INTERVAL_MS
        if passes:
            peer.pass_time(ORDER_ACK_INTERVAL_MS)
        carrier = peer.open_raw() if number == 4 else outgoing.session
        frame = carrier.send(build_order_ack(peer, sent[number - 1]))
        outgoing.await_transfer_info_value("EodLastAckCount", step)
        info, now_s = outgoing.read_transfer_info(), peer.environment.now().utc_s
        left, last_ack_rule = 5 - last, "MQQB-3.1.5.6-08" if number == last else "MQQB-3.1.5.6-07"
        evidence = [sent[number - 1], frame]
        changes = holds("OutgoingTransferInfo changes", otherwise="unchanged")
        judge("MQQB-3.1.5.6-16", "MQDMPR-3.1.3-28", expected=changes, observed=info != old_info, evidence=evidence)
        count = read_data_model_element(info, "EodLastAckCount")
        judge(
            "MQQB-3.1.5.6-12",
            "MQQB-3.1.5.6-18",
            expected=step,
            observed=count,
            case="EodLastAckCount",
            evidence=evidence,
        )
        near = between(now_s - CLOCK_TOLERANCE_S, now_s + CLOCK_TOLERANCE_S)
        judge(
            "MQQB-3.1.5.6-03",
            "MQQB-3.1.5.6-17",
            expected=near,
            observed=read_data_model_element(info, "EodLastAckTime"),
            case="EodLastAckTime",
            evidence=evidence,
        )
        if passes:
            times = [read_data_model_element(one, "EodLastAckTime") for one in (old_info, info)]
            judge(
                "MQQB-3.1.5.6-03",
                "MQQB-3.1.5.6-17",
                expected=holds("EodLastAckTime is later than it was after the previous OrderAck"),
                observed=times[1] > times[0] or str(times),
                evidence=evidence,
            )
        judge(
            last_ack_rule,
            "MQQB-3.1.5.6-23",
            expected=last,
            observed=read_sequence_info_of_transfer(info, "EodLastAck")[1],
            case="SeqNo of EodLastAck",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.5.6-09",
            "MQQB-3.1.5.6-19",
            expected=left,
            observed=read_data_model_element(info, "EodNoAckCount"),
            case="EodNoAckCount",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.5.6-24",
            expected=last,
            observed=read_data_model_element(info, "EodNoReadCount"),
            case="EodNoReadCount",
            evidence=evidence,
        )
        if left:
            judge(
                "MQQB-3.1.5.6-21",
                expected=get_sequence_info(sent[last]),
                observed=read_sequence_info_of_transfer(info, "EodFirstNonAck"),
                case="SeqID, SeqNo and PrevNo of EodFirstNonAck",
                evidence=evidence,
            )
            judge(
                "MQQB-3.1.5.6-10",
                "MQQB-3.1.5.6-22",
                expected=get_sequence_info(sent[4]),
                observed=read_sequence_info_of_transfer(info, "EodLastNonAck"),
                case="SeqID, SeqNo and PrevNo of EodLastNonAck",
                evidence=evidence,
            )
        # the index may grow with every OrderAck, or not (E46)
        index = between(0, step) if left else 0
        judge(
            "MQQB-3.1.5.6-25",
            "MQQB-3.1.5.6-04" if left else "MQQB-3.1.5.6-11",
            expected=index,
            observed=read_data_model_element(info, "EodResendCount"),
            case="EodResendCount",
            evidence=evidence,
        )
    for rule in ("MQQB-3.1.5.6-17", "MQQB-3.1.5.6-19", "MQQB-3.1.5.6-24"):
        judge(
            rule,
            expected=fields({"OutgoingTransferInfo of the other queue": info_beside}),
            observed={"OutgoingTransferInfo of the other queue": beside.read_transfer_info()},
            evidence=outgoing.sent,
        )
    repeated = beside.send_order_ack(2)
    beside.await_transfer_info_value("EodLastAckCount", 2)
    judge(
        "MQQB-3.1.5.6-09",
        "MQQB-3.1.5.6-19",
        expected=1,
        observed=read_data_model_element(beside.read_transfer_info(), "EodNoAckCount"),
        case="EodNoAckCount of the other queue",
        evidence=repeated,
    )
    for queue in (outgoing, beside):
        for number in range(1, len(queue.sent) + 1):
            queue.send_final_ack(number)
        queue.acknowledge_all()


@needs("send", "management")
@covers("MQQB-3.1.5.6-20", "MQQB-3.1.5.6-26")
def test_unacknowledged_messages_come_again_after_shown_interval(peer, sut, judge):
    """The peer sends an OrderAck for one of three messages. The SUT resends the other two messages after
    EodResendInterval, and EodResendTime is the time of this resend. The interval begins when the messages were sent, or
    when the OrderAck arrived (erratum E46).
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-interval")
    sent = outgoing.send(3)
    begun_s = peer.environment.now().utc_s
    frames = [outgoing.send_session_ack(), outgoing.send_order_ack(1)]
    outgoing.await_transfer_info_value("EodLastAckCount", 1)
    info, now_s = outgoing.read_transfer_info(), peer.environment.now().utc_s
    interval_s = read_data_model_element(info, "EodResendInterval")
    if not 0 < interval_s <= LONGEST_RESEND_INTERVAL_S:
        expected = between(1, LONGEST_RESEND_INTERVAL_S)
        judge("MQQB-3.1.5.6-20", expected=expected, observed=interval_s, case="EodResendInterval", evidence=frames)
        return
    due_ms = sut.duration_ms(interval_s * 1_000)
    slack_ms = sut.slack_ms(interval_s * 1_000)
    peer.environment.run_until(lambda: len(outgoing.copies(3)) > 1, due_ms + slack_ms + sut.response_timeout_ms)
    again = outgoing.copies(3)[1:]
    when: bool | str = "not at all"
    if again:
        took, latest_ms = (
            peer.measure_duration(sent[-1], again[0]),
            peer.measure_duration(sent[-1], frames[-1]).ms + due_ms + slack_ms,
        )
        earliest_ms, latest_ms = took.get_allowed_range(due_ms * 4 // 5, latest_ms)
        when = earliest_ms <= took.ms <= latest_ms
    evidence = [*sent, *frames, *again]
    in_time = holds("the last message is resent in time", otherwise="resent at a different time")
    judge("MQQB-3.1.5.6-20", expected=in_time, observed=when, evidence=evidence)
    expected = between(begun_s - CLOCK_TOLERANCE_S + interval_s, now_s + CLOCK_TOLERANCE_S + interval_s)
    judge(
        "MQQB-3.1.5.6-26",
        expected=expected,
        observed=read_data_model_element(info, "EodResendTime"),
        case="EodResendTime",
        evidence=evidence,
    )
    outgoing.acknowledge_all()


@needs("send", "management", "inspect")
@covers(
    "MQQB-3.1.5.6-16",
    *TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE,
    "MQQB-3.1.5.6-19",
    "MQQB-3.1.5.6-21",
    "MQQB-3.1.5.6-22",
    "MQQB-3.1.5.6-24",
)
def test_order_ack_copies_the_outgoing_sequence_to_the_transfer_info(peer, sut, judge):
    """The peer sends an OrderAck for two of four messages with journaling: OutgoingTransferInfo shows the values of
    TxOutgoingSequence. The SUT sends two further messages, and the peer sends an OrderAck for the third message:
    EodFirstNonAck and EodLastNonAck are the fourth and the sixth message. After a lost session, OutgoingTransferInfo
    again shows the values of TxOutgoingSequence.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-info")
    outgoing.send(4, journal=["positive"])
    outgoing.send_session_ack()
    old_info = outgoing.read_transfer_info()
    frame = outgoing.send_order_ack(2)
    peer.eventually(
        lambda: (
            read_data_model_element(outgoing.read_transfer_info(), "EodLastAckCount")
            != read_data_model_element(old_info, "EodLastAckCount")
        )
    )
    info, sequence = outgoing.read_transfer_info(), outgoing.read_sequence()
    judge(
        "MQQB-3.1.5.6-16",
        expected=holds("OutgoingTransferInfo changes", otherwise="unchanged"),
        observed=info != old_info,
        evidence=frame,
    )
    for rule, (name, source) in TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE.items():
        judge(
            rule,
            expected=fields({source: read_data_model_element(sequence, source)}),
            observed={source: read_data_model_element(info, name)},
            evidence=frame,
        )
    unacknowledged = read_data_model_element(sequence, "UnackedSequence")
    for rule, name, value in (
        ("MQQB-3.1.5.6-19", "EodNoAckCount", len(unacknowledged)),
        ("MQQB-3.1.5.6-21", "EodFirstNonAck", unacknowledged[0]),
        ("MQQB-3.1.5.6-22", "EodLastNonAck", unacknowledged[-1]),
        ("MQQB-3.1.5.6-24", "EodNoReadCount", 2),
    ):
        judge(rule, expected=value, observed=read_data_model_element(info, name), case=name, evidence=frame)
    further = outgoing.send(2, journal=["positive"])
    outgoing.send_session_ack()
    known = read_data_model_element(info, "EodLastAckCount")
    frame = outgoing.send_order_ack(3)
    outgoing.await_transfer_info_value("EodLastAckCount", known + 1)
    info = outgoing.read_transfer_info()
    for rule, name, place in (
        ("MQQB-3.1.5.6-21", "EodFirstNonAck", get_sequence_info(outgoing.sent[3])),
        ("MQQB-3.1.5.6-22", "EodLastNonAck", get_sequence_info(further[-1])),
    ):
        judge(
            rule,
            expected=place,
            observed=read_sequence_info_of_transfer(info, name),
            case=f"SeqID, SeqNo and PrevNo of {name} after two further messages",
            evidence=[*further, frame],
        )
    outgoing.session.close()
    outgoing.await_session()
    peer.settle()
    outgoing.send_session_ack()
    frame = outgoing.send_order_ack(4)
    peer.eventually(lambda: outgoing.list_unacknowledged_numbers() == [5, 6])
    info, sequence = outgoing.read_transfer_info(), outgoing.read_sequence()
    for rule, (name, source) in TRANSFER_INFO_AND_SEQUENCE_ELEMENT_BY_RULE.items():
        judge(
            rule,
            expected=fields({source: read_data_model_element(sequence, source)}),
            observed={source: read_data_model_element(info, name)},
            case="on the session after a lost session",
            evidence=frame,
        )
    for number in range(1, 7):
        outgoing.send_final_ack(number)
    outgoing.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.5.6-13", "MQQB-3.1.1.6.2-08")
@varied("trace", "label")
def test_message_with_order_ack_is_not_sent_again(peer, sut, judge):
    """The peer acknowledges five messages by SessionAcks. It acknowledges two of them by an OrderAck after the first
    SessionAck, and two others by an OrderAck before the second SessionAck. On the next session, the SUT sends only the
    fifth message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-order-gone")
    outgoing.send(3)
    acks = [outgoing.send_session_ack(), outgoing.send_order_ack(2)]
    outgoing.send(2)
    acks += [outgoing.send_order_ack(4), outgoing.send_session_ack()]
    outgoing.session.close()
    next_session = outgoing.await_session()
    while not next_session.stays_quiet():
        pass
    came, evidence = outgoing.list_sequence_numbers_on_session(next_session), [*acks, *outgoing.copies(5)]
    judge.all(expected=[5], observed=came, case="numbers of the messages on the next session", evidence=evidence)
    outgoing.send_session_ack()
    outgoing.acknowledge_all()


@needs("send", "receive")
@covers("MQQB-3.1.5.6-14", "MQQB-3.1.1.6.2-11")
@pytest.mark.parametrize(
    ("restarted", "ordered_first"),
    [
        pytest.param(False, False, id="at-once"),
        pytest.param(False, True, id="order-ack-first"),
        pytest.param(True, False, marks=[needs("restart"), covers("MQQB-3.1.1.3.1-13")], id="after-a-crash"),
    ],
)
def test_order_acked_message_with_journaling_waits_for_its_final_ack(peer, sut, judge, restarted, ordered_first):
    """The peer sends OrderAcks for messages with JP or JN, before or after the session acknowledgments. The SUT
    journals each message when its FinalAck arrives, even after a restart. After the restart, the peer sends one
    FinalAck on a session that it opens itself, before the SUT has opened a session.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-order-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence(f"mqc-order-kept-{int(restarted)}{int(ordered_first)}")
    outgoing.send(1, journal=["positive"])
    outgoing.send(1, journal=["negative"])
    outgoing.send(1)
    acks = [outgoing.send_order_ack(3)] if ordered_first else []
    acks.append(outgoing.send_session_ack())
    if not ordered_first:
        acks.append(outgoing.send_order_ack(3))
    peer.settle()
    if restarted:
        sut.restart()
        acks.append(peer.open_raw().send(build_final_ack(peer, outgoing.sent[0], MessageClass=ACK_RECEIVE)))
        peer.settle()
        outgoing.send()
        outgoing.await_session()
        again = [number for number in (1, 2) if len(outgoing.copies(number)) > 1]
        judge("MQQB-3.1.1.3.1-13", expected=none("resent message"), observed=again, evidence=outgoing.sent)
    else:
        acks.append(outgoing.send_final_ack(1, MessageClass=ACK_RECEIVE))
    acks.append(outgoing.send_final_ack(2))

    def find_journaled_messages():
        return {
            name: find_positions_of_messages_in_queue(sut, queue, outgoing.identifiers)
            for name, queue in (
                ("numbers of the messages in the journal", SYSTEM_JOURNAL),
                ("numbers of the messages in the dead-letter queue", DEAD_LETTERS),
            )
        }

    expected_queues = {
        "numbers of the messages in the journal": [1],
        "numbers of the messages in the dead-letter queue": [2],
    }
    peer.eventually(lambda: find_journaled_messages() == expected_queues)
    judge(
        "MQQB-3.1.5.6-14",
        "MQQB-3.1.1.6.2-11",
        *["MQQB-3.1.1.3.1-13"] if restarted else [],
        expected=expected_queues,
        observed=find_journaled_messages(),
        evidence=[*outgoing.sent, *acks],
    )
    outgoing.acknowledge_all()
