"""MS-MQDMPR 3.1.7.3.8 Expand Format Name, 3.1.7.1.5 Open Queue: the copies of a message that the queues of a
multiple-element format name get.
"""

from __future__ import annotations

import pytest

from harness.expectations import any_order, each
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.applications import list_computer_names
from suites.mqdmpr.steps.distribution_lists import send_and_receive_copies
from suites.mqdmpr.steps.opened_descriptors import list_format_names_of_descriptor, map_opened_descriptors_by_handle
from suites.mqmq.steps.layout import Layout

FIRST_QUEUE_NAME, FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE, SECOND_QUEUE_NAME, THIRD_QUEUE_NAME = (
    "mqc-expanded",
    "MQC-Expanded",
    "mqc-beside",
    "mqc-x",
)
REPEATED_QUEUE_NAMES_BY_CASE = {
    "twice": [FIRST_QUEUE_NAME, FIRST_QUEUE_NAME],
    "in another case": [FIRST_QUEUE_NAME, FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE],
    "three times": [FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE, FIRST_QUEUE_NAME, FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE],
}
"""Lists in which all names refer to one queue."""


def _send_to_queues_and_collect_copies(peer, sut, queues, count, local_names=()):
    """Let the SUT send a message to queues of the peer and to the local format names; return the copies that arrive."""
    names = (
        peer.direct_name(queue).upper() if queue == FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE else peer.direct_name(queue)
        for queue in queues
    )
    return send_and_receive_copies(peer, sut, ",".join((*names, *local_names)), count)


def _get_destination_queue(frame):
    """Return the destination queue of a message, and whether the message names several queues."""
    layout = Layout(frame).of("UserHeader.DestinationQueue", "UserHeader.Flags.MQ")
    queue = str(layout["UserHeader.DestinationQueue"]).rstrip("\0").rpartition("\\")[2].lower()
    return {"queue": queue, "message lists several queues": bool(layout["UserHeader.Flags.MQ"])}


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-18",
    "MQDMPR-3.1.7.3.8-20",
    "MQDMPR-3.1.7.3.8-21",
)
@pytest.mark.parametrize("queues", REPEATED_QUEUE_NAMES_BY_CASE.values(), ids=REPEATED_QUEUE_NAMES_BY_CASE)
def test_queue_named_repeatedly_gets_one_copy(peer, sut, judge, queues):
    """A multiple-element format name contains one queue several times, in different letter case, and no other queue.
    The queue gets one message, which lists a single destination.
    """
    copies = _send_to_queues_and_collect_copies(peer, sut, queues, 1)
    single = {"queue": FIRST_QUEUE_NAME, "message lists several queues": False}
    judge.all(
        expected=[single], observed=[_get_destination_queue(frame) for frame in copies], evidence=copies, case="copies"
    )


@needs("send")
@covers("MQDMPR-3.1.7.3.8-05", "MQDMPR-3.1.7.3.8-06")
@pytest.mark.parametrize(
    "queue", [FIRST_QUEUE_NAME, FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE], ids=["as it is", "in another case"]
)
def test_queue_named_alone_gets_one_message(peer, sut, judge, queue):
    """A message to a single queue, whose name is in lower or mixed case, arrives there once and lists a single
    destination.
    """
    copies = _send_to_queues_and_collect_copies(peer, sut, [queue], 1)
    single = {"queue": FIRST_QUEUE_NAME, "message lists several queues": False}
    judge.all(
        expected=[single], observed=[_get_destination_queue(frame) for frame in copies], evidence=copies, case="copies"
    )


@needs("send", "queue_control", "receive")
@covers("MQDMPR-3.1.7.3.8-05", "MQDMPR-3.1.7.3.8-06")
def test_each_single_name_of_queue_reaches_that_queue(peer, sut, judge):
    """An application sends to a queue of the peer. It also sends twice to each of two queues of the SUT by each of
    their format names: private, direct with the address, and direct with the name of the computer. Each send succeeds,
    and each queue gets the messages for that queue.
    """
    queues = [sut.new_queue(label) for label in ("first", "second")]
    names = [
        (queue, name)
        for queue in queues
        for name in (
            sut.direct_name(queue),
            sut.private_format_name(queue),
            rf"DIRECT=OS:{list_computer_names(sut)[0]}\{queue}",
        )
    ]
    copies = _send_to_queues_and_collect_copies(peer, sut, [THIRD_QUEUE_NAME], 1)
    judge(
        "MQDMPR-3.1.7.3.8-05",
        expected=[THIRD_QUEUE_NAME],
        observed=[_get_destination_queue(frame)["queue"] for frame in copies],
        evidence=copies,
        case="queues of the peer",
    )
    outcomes = [sut.attempt(sut.send, name, label=name) for _ in range(2) for _, name in names]
    judge("MQDMPR-3.1.7.3.8-06", expected=each(Outcome.DONE, "send"), observed=outcomes, evidence=copies)
    judge(
        "MQDMPR-3.1.7.3.8-05",
        expected={queue: [name for _ in range(2) for owner, name in names if owner == queue] for queue in queues},
        observed={queue: sut.labels(queue) for queue in queues},
        evidence=copies,
        case="labels in the queues; each label is the format name of the send",
    )
    if not (sut.has("open_to_send") and sut.has("inspect")):
        return
    for queue, name in names:
        handle = sut.control.call("open_to_send", to=name)["handle"]
        opened = map_opened_descriptors_by_handle(sut).get(handle, {})
        sut.control.call("close_queue", handle=handle)
        judge(
            "MQDMPR-3.1.7.3.8-05",
            expected=[name.lower()],
            observed=list_format_names_of_descriptor(opened),
            evidence=copies,
            case=f"FormatName of the descriptor of {queue}",
        )


@needs("send", "several_queues")
@covers(
    "MQDMPR-3.1.7.1.5-03",
    "MQDMPR-3.1.7.1.5-06",
    "MQDMPR-3.1.7.1.5-24",
    "MQDMPR-3.1.7.1.5-33",
    "MQDMPR-3.1.7.3.8-02",
    "MQDMPR-3.1.7.3.8-10",
    "MQDMPR-3.1.7.3.8-24",
)
def test_each_queue_of_multiple_name_gets_one_copy(peer, sut, judge):
    """A format name contains six queues, one of them twice in different letter case and one twice in the same case.
    Each queue gets one copy, which lists several destinations. One of the queues is already open for sending. If the
    harness can create queues, the format name also contains a queue of the SUT, which also gets one copy.
    """
    more = ["mqc-c", "mqc-d", "mqc-e"]
    handle = None
    if sut.has("open_to_send"):
        handle = sut.control.call("open_to_send", to=peer.direct_name(SECOND_QUEUE_NAME))["handle"]
    named = [
        FIRST_QUEUE_NAME,
        SECOND_QUEUE_NAME,
        FIRST_QUEUE_NAME_IN_OTHER_LETTER_CASE,
        *more,
        SECOND_QUEUE_NAME,
        THIRD_QUEUE_NAME,
    ]
    queues = [FIRST_QUEUE_NAME, SECOND_QUEUE_NAME, THIRD_QUEUE_NAME, *more]
    local = sut.new_queue("local") if sut.has("queue_control") and sut.has("receive") else None
    local_names = [] if local is None else [sut.direct_name(local)]
    copies = _send_to_queues_and_collect_copies(peer, sut, named, len(queues), local_names)
    if handle is not None:
        sut.attempt("close_queue", handle=handle)
    expected = any_order(*({"queue": queue, "message lists several queues": True} for queue in queues))
    judge.all(
        expected=expected, observed=[_get_destination_queue(frame) for frame in copies], evidence=copies, case="copies"
    )
    if local is not None and copies:
        case = "messages in the queue of the SUT"
        judge(
            "MQDMPR-3.1.7.3.8-10",
            "MQDMPR-3.1.7.3.8-24",
            expected=1,
            observed=len(sut.labels(local)),
            evidence=copies,
            case=case,
        )


@needs("send", "queue_control", "receive", "open_to_send", "inspect")
@covers("MQDMPR-3.1.7.3.8-05")
@pytest.mark.parametrize("host", [".", "localhost", "LocalHost", "name", "name without domain", "address"])
def test_each_name_of_own_computer_is_expanded_to_itself(peer, sut, judge, host):
    """A message to a queue of the peer arrives there. An application opens two private queues of the SUT to send, by a
    direct format name with a name of the local computer or with its address. FormatName of each OpenQueueDescriptor is
    the format name that the application used, also when the queue is opened again.
    """
    copies = _send_to_queues_and_collect_copies(peer, sut, [THIRD_QUEUE_NAME], 1)
    judge(
        "MQDMPR-3.1.7.3.8-05",
        expected=[THIRD_QUEUE_NAME],
        observed=[_get_destination_queue(frame)["queue"] for frame in copies],
        evidence=copies,
        case="queues of the peer",
    )
    known = list_computer_names(sut)
    computer = {"name": f"OS:{known[0]}", "name without domain": f"OS:{known[-1]}", "address": f"TCP:{sut.address}"}
    queues = [sut.new_queue(label) for label in ("first", "second")]
    for queue in (*queues, queues[0]):
        name = rf"DIRECT={computer.get(host, f'OS:{host}')}\{queue}"
        handle = sut.control.call("open_to_send", to=name)["handle"]
        opened = map_opened_descriptors_by_handle(sut).get(handle, {})
        sut.control.call("close_queue", handle=handle)
        judge(
            "MQDMPR-3.1.7.3.8-05",
            expected=[name.lower()],
            observed=list_format_names_of_descriptor(opened),
            evidence=copies,
            case="FormatName of the descriptor",
        )
