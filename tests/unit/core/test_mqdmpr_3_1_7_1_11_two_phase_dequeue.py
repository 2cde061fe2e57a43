"""MS-MQDMPR 3.1.7.1.11 and 3.1.7.1.12: Dequeue Message Begin and Dequeue Message End."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct
from core_transactions import begin, commit, fill, unit_of, units

from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import MessagePositionState
from reference_qm.model.statuses import Status
from reference_qm.surface.commands import DeleteQueue, PurgeQueue

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


class Reader:
    """A reader of a queue in two phases."""

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
        """Begin, and return the position or what else was answered."""
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


def test_a_message_is_locked_until_its_reader_ends(pair):
    a, _ = pair
    position = Reader(a).begin(timeout_ms=0)
    assert position.MessageReference.Body == b"1"
    assert position.State is MessagePositionState.LOCKED
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_an_end_with_deletion_takes_it_out_of_the_queue_and_off_the_disk(pair):
    a, _ = pair
    reader = Reader(a)
    assert reader.end(reader.begin(timeout_ms=0), delete=True) is Status.MQ_OK
    assert a.bodies(TRANSACTIONAL) == ["2"]
    a.network.kill(a)
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_an_end_without_deletion_puts_it_at_its_place_again(pair):
    a, _ = pair
    reader = Reader(a)
    assert reader.end(reader.begin(timeout_ms=0), delete=False) is Status.MQ_OK
    assert a.bodies(TRANSACTIONAL) == ["1", "2"]


def test_the_sender_is_notified_when_the_reader_ends_and_not_before(pair):
    a, b = pair
    a.send(REMOTE, b"acked", transactional=True, journal=frozenset({"positive"}))
    reader = Reader(b)
    position = reader.begin(timeout_ms=0)
    a.network.advance(60_000)
    assert a.bodies("system$;journal") == []
    reader.end(position, delete=True)
    a.network.advance(60_000)
    assert a.bodies("system$;journal") == ["acked"]


@pytest.mark.parametrize("delete", [False, True])
def test_what_was_purged_meanwhile_is_deleted_however_it_ends(pair, delete):
    a, b = pair
    a.send(REMOTE, b"gone", transactional=True, journal=frozenset({"negative"}))
    reader = Reader(b)
    position = reader.begin(timeout_ms=0)
    assert b.ask(PurgeQueue(TRANSACTIONAL)) == {"purged": 0}
    assert position.State is MessagePositionState.PURGE_PENDING
    assert reader.end(position, delete) is Status.MQ_OK
    a.network.advance(60_000)
    assert (b.bodies(TRANSACTIONAL), a.bodies("system$;deadxact")) == ([], ["gone"])


def test_a_disk_that_fails_leaves_it_locked_to_be_ended_again(pair):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    a.disk = "broken"
    assert reader.end(position, delete=True) is Status.MQ_ERROR_MESSAGE_STORAGE_FAILED
    assert position.State is MessagePositionState.LOCKED
    a.disk = "works"
    assert reader.end(position, delete=True) is Status.MQ_OK
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_the_end_is_answered_when_it_is_on_disk(pair):
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
def test_only_what_is_locked_can_be_ended(pair, delete):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    reader.end(position, delete)
    assert reader.end(position, delete=True) is Status.MQ_ERROR_TRANSACTION_SEQUENCE
    assert a.bodies(TRANSACTIONAL) == (["2"] if delete else ["1", "2"])


def test_the_end_of_a_transactional_read_is_left_to_its_transaction(pair):
    a, _ = pair
    reader = Reader(a)
    unit = begin(a)
    position = reader.begin(timeout_ms=0, transaction=unit_of(a, unit))
    assert units(a)[0]["operations"] == 1
    assert reader.end(position, delete=True, transactional=True) is Status.MQ_OK
    assert position.State is MessagePositionState.LOCKED
    commit(a, unit)
    assert a.bodies(TRANSACTIONAL) == ["2"]


def test_a_reader_waits_for_a_message(pair):
    a, _ = pair
    reader = Reader(a, PLAIN)
    assert reader.begin(timeout_ms=1_000) == []
    a.send(direct(1), b"late")
    assert reader.answers[0][0] is Status.MQ_OK
    assert reader.answers[0][1].State is MessagePositionState.LOCKED
    assert a.bodies() == []


def test_a_reader_waits_for_ever_unless_it_says_how_long(pair):
    a, _ = pair
    reader = Reader(a, PLAIN)
    reader.begin()
    a.network.advance(10**9)
    assert reader.answers == []


def test_a_wait_ends(pair):
    a, _ = pair
    reader = Reader(a, PLAIN)
    reader.begin(timeout_ms=1_000)
    a.network.advance(1_000)
    assert reader.answers == [(Status.MQ_ERROR_IO_TIMEOUT, None)]


def test_nothing_begins_or_ends_in_a_queue_that_was_deleted(pair):
    a, _ = pair
    reader = Reader(a)
    position = reader.begin(timeout_ms=0)
    a.ask(DeleteQueue(TRANSACTIONAL))
    assert reader.end(position, delete=True) is Status.MQ_ERROR_QUEUE_NOT_AVAILABLE
    reader.begin(timeout_ms=0)
    assert reader.answers[-1] == (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)


@pytest.mark.parametrize("crash", ["kill", "restart"])
def test_a_crash_gives_it_back(pair, crash):
    a, _ = pair
    Reader(a).begin(timeout_ms=0)
    if crash == "kill":
        a.network.kill(a)
    else:
        a.restart()
    assert a.bodies(TRANSACTIONAL) == ["1", "2"]
