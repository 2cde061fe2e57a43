"""MS-MQDMPR 3.1.7.1.11 and 3.1.7.1.12: Dequeue Message Begin and Dequeue Message End."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import begin, commit, fill, unit_of, units

from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


class Reader:
    """An application that reads a queue in two phases."""

    def __init__(self, host, queue=TRANSACTIONAL):
        self.host = host
        opened = host.core.queue_opening.open_found_queue(
            host.core.adm.QueueCollection[queue],
            queue,
            QueueAccessType.RECEIVE,
            QueueShareMode.DENY_NONE,
        )
        self.descriptor = opened[1]
        self.answers, self.ended = [], []

    def begin(self, **arguments):
        """Begin a receive; return the position of the message, or all answers if no message was returned."""
        core = self.host.core
        core.two_phase_reading.dequeue_message_begin(
            self.descriptor, lambda *answer: self.answers.append(answer), self.host.network.now, **arguments
        )
        self._carry_out()
        return self.answers[-1][1] if self.answers and self.answers[-1][1] else self.answers

    def end(self, position, delete, **arguments):
        core = self.host.core
        core.two_phase_reading.dequeue_message_end(self.descriptor, position, delete, self.ended.append, **arguments)
        self._carry_out()
        return self.ended[-1] if self.ended else None

    def _carry_out(self):
        network = self.host.network
        network.carry_out(self.host, self.host.core.handle_timer(network.now))
        network.settle()


@pytest.fixture
def pair():
    a, b = Network().pair()
    fill(a, LOCAL, "1", "2")
    return a, b


def test_dequeue_end_with_deletion_removes_message_from_queue_and_disk(pair):
    a, _ = pair
    reader = Reader(a)
    assert reader.end(reader.begin(timeout_ms=0), delete=True) is Status.MQ_OK
    assert a.bodies(TRANSACTIONAL) == ["2"]
    a.network.kill(a)
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_failed_deletion_leaves_message_locked_for_another_end(pair):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    a.disk = "broken"
    assert reader.end(position, delete=True) is Status.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert position.State is MessagePositionState.LOCKED
    a.disk = "works"
    assert reader.end(position, delete=True) is Status.MQ_OK
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_dequeue_end_is_answered_after_disk_write(pair):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    a.disk = "slow"
    assert reader.end(position, delete=True) is None
    a.disk = "works"
    a.network.write(a)
    a.network.settle()
    assert reader.ended == [Status.MQ_OK]


@pytest.mark.parametrize("delete", [False, True])
def test_dequeue_end_of_an_unlocked_message_is_refused(pair, delete):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    reader.end(position, delete)
    assert reader.end(position, delete=True) is Status.MQ_ERROR_TRANSACTION_SEQUENCE
    assert a.bodies(TRANSACTIONAL) == (["2"] if delete else ["1", "2"])


def test_end_of_transactional_remote_read_is_left_to_the_transaction(pair):
    a, _ = pair
    reader = Reader(a)
    unit = begin(a)
    position = reader.begin(timeout_ms=0, transaction=unit_of(a, unit))
    assert units(a)[0]["operations"] == 1
    assert reader.end(position, delete=True, transactional=True) is Status.MQ_OK
    assert position.State is MessagePositionState.LOCKED
    commit(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["2"]


@pytest.mark.parametrize("crash", ["kill", "restart"])
def test_crash_returns_locked_message_to_queue(pair, crash):
    a, _ = pair
    Reader(a).begin(timeout_ms=0)
    if crash == "kill":
        a.network.kill(a)
    else:
        a.restart()
    assert a.bodies(TRANSACTIONAL) == ["1", "2"]
