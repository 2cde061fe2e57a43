"""MS-MQDMPR 3.1.2.4 and 3.1.7.2.7, MS-MQQB 3.1.7.1.2: messages whose time is over."""

import itertools
import sys

import pytest
from core_admin import acks, classes, pair, send
from core_network import PLAIN, TRANSACTIONAL, Network, direct
from core_raw import Raw

from reference_qm.config import QueueSettings
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.commands import CreateQueue, ReceiveMessage

EXPIRATION = TimerKey(TimerName.MESSAGE_EXPIRATION, 0)
NEGATIVE = frozenset({"negative"})
KINDS = {
    "express": (PLAIN, {}),
    "recoverable": (PLAIN, {"recoverable": True}),
    "transactional": (TRANSACTIONAL, {"transactional": True}),
}

# -- in the destination queue -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_is_not_received_in_time_is_deleted(kind):
    queue, fields = KINDS[kind]
    near, far = pair()
    send(near, "negative_receive", to=direct(2, queue), time_to_be_received_s=10, **fields)
    near.network.advance(9_000)
    assert far.bodies(queue) == ["body"]
    near.network.advance(1_500)
    assert far.bodies(queue) == []
    assert classes(near) == ["NACK_RECEIVE_TIMEOUT"]
    assert acks(near)[0]["body"] == "body"


def test_the_sender_of_a_transactional_message_logs_it():
    near, far = pair()
    near.send(direct(2, TRANSACTIONAL), transactional=True, time_to_be_received_s=10, journal=NEGATIVE)
    near.network.advance(9_000)
    assert near.bodies("system$;deadxact") == []
    near.network.advance(2_000)
    assert near.bodies("system$;deadxact") == ["body"]
    assert far.bodies("system$;deadletter") == far.bodies("system$;deadxact") == []


def test_the_time_runs_from_when_the_message_was_sent():
    near, far = pair()
    far.reachable = False
    near.send(direct(2), time_to_be_received_s=20)
    near.network.advance(12_000)
    far.reachable = True
    near.network.advance(6_000)
    assert far.bodies() == ["body"]
    near.network.advance(3_000)
    assert far.bodies() == []


def test_a_time_of_0_is_over_at_once_but_who_waits_gets_the_message():
    near, far = pair()
    near.send(direct(2), time_to_be_received_s=0)
    near.network.advance(1)
    assert far.bodies() == []
    token = far.begin(ReceiveMessage(PLAIN, timeout_ms=10_000))
    near.send(direct(2), b"caught", time_to_be_received_s=0)
    assert far.answers[token].result.values["message"]["body"] == "caught"


def test_a_message_without_a_time_waits_for_ever_and_runs_no_timer():
    near, far = pair()
    near.send(direct(2))
    assert not far.core.timers.is_running(EXPIRATION)
    near.network.advance(10**9)
    assert far.bodies() == ["body"]


def test_messages_expire_each_in_its_time_and_one_timer_serves_all():
    near, far = pair()
    for life_s in (30, 10, 20):
        near.send(direct(2), str(life_s).encode(), time_to_be_received_s=life_s)
    assert far.core.timers.remaining_ms(EXPIRATION, near.network.now.monotonic_ms) == 10_000
    seen = []
    for _ in range(4):
        seen.append(far.bodies())
        near.network.advance(10_000)
    assert seen == [["30", "10", "20"], ["30", "20"], ["30"], []]
    assert not far.core.timers.is_running(EXPIRATION)


def test_a_message_that_was_received_does_not_expire():
    near, far = pair()
    send(near, "negative_receive", "positive_receive", time_to_be_received_s=10)
    far.ask(ReceiveMessage(PLAIN))
    near.network.advance(20_000)
    assert classes(near) == ["ACK_RECEIVE"]


def test_a_message_of_a_local_application_expires_too():
    near, _ = pair()
    near.send(direct(1), time_to_be_received_s=10)
    near.network.advance(11_000)
    assert near.bodies() == []


def test_journals_keep_what_has_a_time():
    near, far = pair()
    near.send(direct(2), time_to_be_received_s=10, journal=frozenset({"positive"}))
    near.network.advance(100_000)
    assert (far.bodies(), near.bodies("system$;journal")) == ([], ["body"])


@pytest.mark.parametrize("crash", ["restart", "kill"])
def test_a_time_goes_on_after_a_crash(crash):
    network = Network()
    _, far = network.pair()
    far.send(direct(2), recoverable=True, time_to_be_received_s=10)
    if crash == "kill":
        network.kill(far)
    else:
        far.restart()
    assert far.bodies() == ["body"]
    network.advance(11_000)
    assert far.bodies() == []
    network.kill(far)
    assert far.bodies() == []


def test_a_disk_that_fails_keeps_the_message_until_it_works():
    network = Network()
    _, far = network.pair()
    far.send(direct(2), recoverable=True, time_to_be_received_s=10)
    far.disk = "broken"
    network.advance(11_000)
    assert far.bodies() == ["body"]
    far.disk = "works"
    network.advance(10_000)
    assert far.bodies() == []


# -- on the way -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["time_to_reach_queue_s", "time_to_be_received_s"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_message_that_cannot_be_sent_in_time_is_acknowledged_and_logged(kind, field):
    queue, fields = KINDS[kind]
    near, far = pair()
    far.reachable = False
    send(near, "negative_arrival", to=direct(2, queue), journal=NEGATIVE, **fields, **{field: 30})
    near.network.advance(30_000)
    assert classes(near) == []
    near.network.advance(1_000)
    assert classes(near) == ["NACK_REACH_QUEUE_TIMEOUT"]
    assert near.bodies("system$;deadxact" if kind == "transactional" else "system$;deadletter") == ["body"]
    far.reachable = True
    near.network.advance(60_000)
    assert far.bodies(queue) == []


def test_a_message_that_cannot_be_sent_in_time_is_forgotten_when_nobody_asks():
    near, far = pair()
    far.reachable = False
    near.send(direct(2), time_to_reach_queue_s=5)
    near.network.advance(6_000)
    assert near.bodies("system$;deadletter") == []
    assert near.adm()["Sessions"][-1]["OutgoingMessageTable"] == []


def test_a_message_that_was_sent_is_given_up_only_when_it_would_be_sent_again():
    host = Network().host(1)
    raw = Raw.accepted(host)
    host.send(direct(9), time_to_reach_queue_s=5, journal=NEGATIVE)
    assert len(raw.messages) == 1
    host.network.advance(6_000)
    assert host.bodies("system$;deadletter") == []
    raw.lose()
    host.network.advance(5_100)
    assert host.bodies("system$;deadletter") == ["body"]


def test_the_messages_behind_an_expired_one_go_on_in_sequence():
    near, far = pair()
    far.reachable = False
    for body, life_s in ((b"1", None), (b"2", 10), (b"3", None)):
        near.send(direct(2, TRANSACTIONAL), body, transactional=True, time_to_reach_queue_s=life_s)
    near.network.advance(12_000)
    far.reachable = True
    near.network.advance(60_000)
    assert far.bodies(TRANSACTIONAL) == ["1", "3"]


def test_work_for_waiting_messages_grows_as_their_number():
    few, many = calls(expire_waiting, 500), calls(expire_waiting, 5_000)
    assert many < 11 * few


def expire_waiting(messages: int) -> None:
    """Let messages wait, and expire, at once."""
    host = Network().host(1, queues=(QueueSettings(PLAIN),))
    core, now = host.core, host.network.now
    host.send(direct(1), time_to_be_received_s=1_000)
    queue = core.adm.QueueCollection[PLAIN]
    (first,) = queue.MessagePositionList
    for _ in range(messages):
        core.positions.message_available(core.positions.insert_message(queue, first.MessageReference))
    core.lifetimes.start_expiration_timer(now)
    assert len(queue.MessagePositionList) == messages + 1
    host.network.advance(1_001_000)
    assert len(queue.MessagePositionList) == 0


def calls(function, *arguments) -> int:
    """Return how many calls of functions a call leads to: work that no clock measures."""
    counted = itertools.count()
    sys.setprofile(lambda frame, event, value: next(counted) if event in ("call", "c_call") else None)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return next(counted)


def test_a_queue_that_was_created_is_watched_too():
    near, _ = pair()
    near.ask(CreateQueue("private$\\new"))
    near.send(direct(1, "private$\\new"), time_to_be_received_s=1)
    near.network.advance(1_500)
    assert near.bodies("private$\\new") == []
