"""MS-MQDMPR 3.1.1.1 QueueManager: default attributes, and the state across a stop and a restart."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut, each, holds, in_queue, one_of
from harness.peer.association import Call
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.messages import Sequence

DEFAULT_ATTRIBUTES: tuple[tuple[str, str, Any], ...] = (
    ("MQDMPR-3.1.1.1-08", "QueueManagerQuota", 0x0010_0000),
    ("MQDMPR-3.1.1.1-09", "ConnectedNetworkIdentifierList", []),
    ("MQDMPR-3.1.1.1-10", "SupportingServer", False),
    ("MQDMPR-3.1.1.1-D01", "JournalQuota", 0xFFFF_FFFF),
    ("MQSO-6.6.1-D05", "JournalQuota", 0xFFFF_FFFF),
)
INITIALIZATION_RETRY_DURATIONS_S = ("120", "900")
"""Two values of InitializationRetryTimerDuration in s: the configured value, and the value after the first expiry of
the timer (MS-MQSO 6.4.4.1).
"""
LONG_READ_TIMEOUT_MS = 600_000
CHANGED_QUEUE_MANAGER_QUOTA_KB = 0x0020_0000
RETRY_INTERVAL_OF_FIRST_START_MS = 120_000
HALF_RETRY_INTERVALS_UNTIL_START_DEADLINE = 4
"""The time within which the SUT must start, in units of half the retry duration: two units for the retry, and two units
for the start itself.
"""
HIGHEST_TIMER_ACCELERATION = 20
"""The highest factor by which the timers of the SUT may run faster than specified in this check."""


@needs("inspect")
@covers(*(rule for rule, *_ in DEFAULT_ATTRIBUTES), "MQDMPR-3.1.1.1-11")
def test_attribute_of_queue_manager_has_its_default(sut, judge):
    """An attribute of the queue manager that no administrator has changed has its default value."""
    queue_manager = sut.inspect_queue_manager()
    for rule, name, expected in DEFAULT_ATTRIBUTES:
        subject = f"{name} of the queue manager"
        judge(rule, expected={subject: expected}, observed={subject: queue_manager[name]})
    if queue_manager["DirectoryServer"]:
        judge.mark_not_exercised("MQDMPR-3.1.1.1-11", reason="the SUT is a directory server")
    else:
        judge(
            "MQDMPR-3.1.1.1-11",
            expected=None,
            observed=queue_manager["DirectoryServerType"],
            case="DirectoryServerType",
        )


@needs("inspect", "restart", "configure")
@covers("MQDMPR-3.1.1.1-11", "MQDMPR-3.1.1.1-D01")
def test_default_attributes_survive_change_of_quota_and_restart(sut, judge):
    """After a change of QueueManagerQuota, and after a restart, JournalQuota still has no limit. A SUT that is not a
    directory server has no DirectoryServerType.
    """
    sut.configure(quota_kb=CHANGED_QUEUE_MANAGER_QUOTA_KB)
    for time in ("after the change of QueueManagerQuota", "after a restart"):
        if time == "after a restart":
            sut.restart()
        queue_manager = sut.inspect_queue_manager()
        quota = queue_manager["JournalQuota"]
        judge("MQDMPR-3.1.1.1-D01", expected=0xFFFF_FFFF, observed=quota, case=f"JournalQuota {time}")
        if queue_manager["DirectoryServer"]:
            judge.mark_not_exercised("MQDMPR-3.1.1.1-11", reason="the SUT is a directory server")
        else:
            server_type = queue_manager["DirectoryServerType"]
            judge("MQDMPR-3.1.1.1-11", expected=None, observed=server_type, case=f"DirectoryServerType {time}")


@needs("inspect", "restart")
@covers("MQDMPR-3.1.1.1-31", "MQDMPR-3.1.3-D04")
def test_initialization_retry_duration_survives_restart(sut, judge):
    """InitializationRetryTimerDuration has either its configured value or the value that it received when its timer
    last expired. A restart does not change this value.
    """
    duration_before = str(sut.inspect_queue_manager()["InitializationRetryTimerDuration"])
    judge.all(
        expected=one_of(*INITIALIZATION_RETRY_DURATIONS_S), observed=duration_before, case="retry duration in seconds"
    )
    sut.restart()
    duration_after = str(sut.inspect_queue_manager()["InitializationRetryTimerDuration"])
    judge(
        "MQDMPR-3.1.1.1-31",
        expected=duration_before,
        observed=duration_after,
        case="retry duration in seconds after a restart",
    )


@needs("inspect", "restart", "environment", "set_timers", "queue_control")
@covers("MQDMPR-3.1.1.1-31")
def test_retry_duration_after_failed_start_survives_restart(peer, sut, judge):
    """When the SUT's first attempt to start fails and the second succeeds, InitializationRetryTimerDuration is 900 s. A
    restart does not change this value.
    """
    sut.limit_time_scale(HIGHEST_TIMER_ACCELERATION)
    sut.change_environment(store=False)
    sut.control.call("restart")
    sut.change_environment(store=True)
    for _ in range(HALF_RETRY_INTERVALS_UNTIL_START_DEADLINE):
        peer.pass_time(sut.duration_ms(RETRY_INTERVAL_OF_FIRST_START_MS) // 2)
        if sut.attempt("list") == Outcome.DONE:
            break
    else:
        raise ConformanceFailure("the SUT did not start by itself after its store was repaired (MS-MQSO 6.4.4.1)")
    observed = []
    for _ in range(2):
        observed.append(str(sut.inspect_queue_manager()["InitializationRetryTimerDuration"]))
        sut.restart()
    if observed[0] == INITIALIZATION_RETRY_DURATIONS_S[0]:
        judge.mark_not_exercised(
            "MQDMPR-3.1.1.1-31", reason="the SUT repaired its store itself, or tried to start again without waiting"
        )
    else:
        judge(
            "MQDMPR-3.1.1.1-31",
            expected=each(INITIALIZATION_RETRY_DURATIONS_S[1], "start"),
            observed=observed,
            case="retry duration in seconds",
        )


@needs("restart", "qm2qm", "receive")
@covers("MQDMPR-3.1.1.1-23")
def test_stop_ends_sessions_and_pending_remote_reads(peer, sut, remote, judge):
    """A restart closes the open session and ends the pending remote read. A message that arrives after the restart
    stays in its queue.
    """
    session = peer.open_raw()
    queue = remote.open_with_messages()
    read = queue.begin(ulTimeout=LONG_READ_TIMEOUT_MS)
    state_before_stop = read.state_after_silence()
    sut.restart()
    session.wait_closed()
    read.wait()
    state_after_stop = read.association.over or read.label_or_outcome
    evidence = [read, session.last]
    remote.deliver(["later"])
    labels_left = [one["label"] for one in sut.messages()]
    judge(
        "MQDMPR-3.1.1.1-23",
        expected={
            "pending read before the stop": Call.WAITING,
            "session": connection_closed_by_sut(),
            "pending read after the stop": holds("ended"),
            "queue after the restart": in_queue("later"),
        },
        observed={
            "pending read before the stop": state_before_stop,
            "session": session,
            "pending read after the stop": state_after_stop,
            "queue after the restart": labels_left,
        },
        evidence=evidence,
    )


@needs("restart", "transactions", "queue_control", "send", "receive")
@covers("MQDMPR-3.1.1.1-D03")
def test_prepared_transaction_is_listed_after_restart(sut, judge):
    """After a restart, the SUT lists the four transactions that it had prepared, with the states and operations that
    they had before. Two of them sent messages, the third received a message, and the fourth has no operations.
    """
    to = sut.format_name("transactional")
    prepared = [sut.control.call("begin", external=True)["transaction"].lower() for _ in range(4)]
    for number, transaction in enumerate(prepared[:2], 1):
        for _ in range(number):
            sut.send(to, label="prepared", body="prepared", transaction=transaction)
    sut.send(to, label="received", body="received", delivery="transactional")
    sut.control.call("receive", queue=sut.queue("transactional"), timeout_ms=0, transaction=prepared[2])
    for transaction in prepared:
        sut.control.call("prepare", transaction=transaction)
    states_before = [_list_transaction_states(sut).get(transaction) for transaction in prepared]
    sut.restart()
    states_after = [_list_transaction_states(sut).get(transaction) for transaction in prepared]
    for number, transaction in enumerate(prepared):
        if sut.attempt("abort", transaction=transaction) == Outcome.REFUSED:
            states_after[number] = states_after[number] or "unknown"
    judge(
        "MQDMPR-3.1.1.1-D03",
        expected=states_before,
        observed=states_after,
        case="transactions that are listed after a restart",
    )


def _list_transaction_states(sut):
    transactions = sut.control.call("list")["transactions"]
    return {
        one["transaction"].lower(): {
            "state of the transaction after a restart": one["state"],
            "number of operations": one["operations"],
        }
        for one in transactions
    }


SEQUENTIAL_ID_MASK = (1 << 56) - 1
"""The mask for the bytes of a lookup identifier that contain the SequentialID."""


TRANSACTIONAL_BIT_OF_LOOKUP_ID_HIGH_BYTE = 4
"""The lowest bit of the highest byte of a lookup identifier, which is set for a transactional message."""


def _is_message_stored(sut, queue, label):
    return label in sut.labels(queue)


@needs("receive", "queues")
@covers("MQDMPR-3.1.1.1-D04")
def test_sequential_id_grows_from_message_to_message(peer, sut, judge):
    """Express and recoverable messages arrive one after the other in two queues. Each message has a higher SequentialID
    than the previous one, even if the previous message is in the other queue.
    """
    queues = [sut.new_queue("counted") for _ in range(2)]
    connection = peer.open_raw()
    labels = [f"message {number}" for number in range(8)]
    for number, label in enumerate(labels):
        headers = {
            "destination": rf"TCP:{sut.address}\{queues[number // 2 % 2]}",
            "base": {"PR": TRANSACTIONAL_BIT_OF_LOOKUP_ID_HIGH_BYTE},
        }
        connection.send(peer.message({"DM": number // 4}, label=label, **headers))
    connection.require_session_ack_for_message()

    def read_sequential_ids() -> dict[str, int]:
        shown = [one for queue in queues for one in sut.control.call("peek", queue=queue)["messages"]]
        return {one["label"]: lookup_id(one) & SEQUENTIAL_ID_MASK for one in shown}

    if not peer.eventually(lambda: len(read_sequential_ids()) == len(labels)):
        raise ConformanceFailure("not all messages arrived in their queues")
    found = read_sequential_ids()
    observed = [found[label] for label in labels]
    judge(
        "MQDMPR-3.1.1.1-D04",
        expected=sorted(set(observed)),
        observed=observed,
        evidence=connection.sent,
        case="SequentialIDs of the messages",
    )


@needs("receive", "restart")
@covers("MQDMPR-3.1.1.1-D04", "MQDMPR-3.1.7.1.9-10")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
@varied("time to be received", "destination", acknowledgments=("none", "of receipt"))
def test_sequential_id_grows_across_restarts(peer, sut, judge, kind):
    """Five messages are sent, and the SUT restarts twice between them. Each message has a higher SequentialID than the
    previous one, even if the previous message was received.
    """
    queue = sut.queue(kind)
    sequence = Sequence(peer)
    observed: list[int] = []
    identifier = 0
    for label in ("first", "second", "third", "fourth", "fifth"):
        if label == "fourth":
            sut.control.call("receive_by_lookup_id", queue=queue, lookup_id=identifier, seek="current")
            sut.restart()
        if label == "fifth":
            for _ in sut.labels(queue):
                sut.control.call("receive", queue=queue, timeout_ms=0)
            sut.restart()
        connection = peer.open_raw()
        make = peer.recoverable_message if kind == "plain" else sequence.message
        priority = (
            {"PR": TRANSACTIONAL_BIT_OF_LOOKUP_ID_HIGH_BYTE} if kind == "plain" else {}
        )  # a transactional message has none
        sent = connection.send(make(label=label, base=priority))
        peer.eventually(partial(_is_message_stored, sut, queue, label))
        lookup_ids = {one["label"]: lookup_id(one) for one in sut.messages(kind)}
        if label not in lookup_ids:
            raise ConformanceFailure(f"the message {label} did not arrive in its queue")
        identifier = lookup_ids[label]
        observed.append(identifier & SEQUENTIAL_ID_MASK)
    judge.all(expected=sorted(set(observed)), observed=observed, evidence=sent, case="SequentialIds of the messages")
