"""MS-MQDMPR 3.1.2.4 and 3.1.7.2.7, MS-MQQB 3.1.7.1.2: messages whose time limit has passed."""

import itertools
import sys

import pytest
from core_admin import pair
from core_network import PLAIN, Network, direct
from core_raw import Raw

from reference_qm.config import QueueSettings
from reference_qm.model.timers import TimerKey, TimerName

EXPIRATION = TimerKey(TimerName.MESSAGE_EXPIRATION, 0)
NEGATIVE = frozenset({"negative"})

# -- in the destination queue -----------------------------------------------------------------------------------


def test_message_without_time_to_be_received_starts_no_timer_and_stays():
    near, far = pair()
    near.send(direct(2))
    assert not far.core.timers.is_running(EXPIRATION)
    near.network.advance(10**9)
    assert far.bodies() == ["body"]


@pytest.mark.parametrize("crash", ["restart", "kill"])
def test_time_to_be_received_continues_after_a_restart(crash):
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


def test_expired_message_stays_until_the_failed_disk_works_again():
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


def test_expired_outgoing_message_is_deleted_without_request_for_journaling():
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


def test_work_for_expiring_messages_grows_linearly_with_their_number():
    few, many = calls(expire_waiting, 500), calls(expire_waiting, 5_000)
    assert many < 11 * few


def expire_waiting(messages: int) -> None:
    """Put messages into a queue, and let all of them expire at the same time."""
    host = Network().host(1, queues=(QueueSettings(PLAIN),))
    core, now = host.core, host.network.now
    host.send(direct(1), time_to_be_received_s=1_000)
    queue = core.adm.QueueCollection[PLAIN]
    (first,) = queue.MessagePositionList
    for _ in range(messages):
        core.message_positions.on_message_available(
            core.message_positions.insert_message(queue, first.MessageReference)
        )
    core.message_lifetimes.start_expiration_timer(now)
    assert len(queue.MessagePositionList) == messages + 1
    host.network.advance(1_001_000)
    assert len(queue.MessagePositionList) == 0


def calls(function, *arguments) -> int:
    """Return the number of function calls that a call causes, as a measure of work that does not depend on
    the machine.
    """
    counted = itertools.count()
    sys.setprofile(lambda frame, event, value: next(counted) if event in ("call", "c_call") else None)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return next(counted)
