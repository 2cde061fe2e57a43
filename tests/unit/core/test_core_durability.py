"""MS-MQQB 3.1.1.3.2 Persistent State Storage: the state that a new process loads from the disk of the
previous process.
"""

from __future__ import annotations

from uuid import UUID

import pytest
from core_network import PLAIN, TRANSACTIONAL, Host, Network, direct, guid

from reference_qm.config import QueueManagerConfig, QueueSettings
from reference_qm.core.enterprise.state_restoring import RestoreError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.disk import RESERVED_ORDINAL_COUNT
from reference_qm.model.tables import MESSAGE_ID_HISTORY_SIZE
from reference_qm.surface.commands import (
    BeginTransaction,
    CommitTransaction,
    CreateQueue,
    DeleteQueue,
    ListQueues,
    PrepareTransaction,
    PurgeQueue,
    ReceiveMessage,
)
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.entropy import SeededEntropy

NEW = "private$\\new"


@pytest.fixture
def pair() -> tuple[Host, Host]:
    return Network().pair()


def disk(host: Host) -> dict[str, object]:
    return host.network.entries[host.address]


def messages(host: Host) -> int:
    return sum(name.startswith("message:") for name in disk(host))


def kill(*hosts: Host) -> None:
    for host in hosts:
        host.network.kill(host)


def saves(host: Host, works: bool = True) -> None:
    """Let a slow disk carry out its pending writes, or let these writes fail."""
    host.disk = "works" if works else "broken"
    host.network.write(host)
    host.network.settle()


# -- what survives ----------------------------------------------------------------------------------------------


def test_only_recoverable_messages_survive_restart_in_place(pair):
    a, b = pair
    b.reachable = False
    for recoverable in (False, True):
        a.send(direct(2), b"out", recoverable=recoverable)
        a.send(direct(1), b"here", recoverable=recoverable, label="label", priority=5)
    kill(a)
    assert a.bodies() == ["here"]
    assert a.adm()["OutgoingQueues"][0]["DestinationFormatName"] == direct(2)
    b.reachable = True
    a.network.advance(10_000)
    assert b.bodies() == ["out"]
    kill(b)
    assert b.bodies() == ["out"]
    a.network.advance(10_000)
    assert messages(a) == 1, "what is acknowledged is gone from the sender's disk"


def test_message_order_and_priority_survive_restart(pair):
    a, _ = pair
    for number, priority in enumerate((3, 5, 3, 5)):
        a.send(direct(1), str(number).encode(), recoverable=True, priority=priority)
    kill(a)
    a.send(direct(1), b"4", recoverable=True, priority=5)
    assert a.bodies() == ["1", "3", "4", "0", "2"]


def test_message_identifier_is_not_reused_after_restart(pair):
    """After a restart, no message gets an identifier that was used before; the receiver would treat such a message as a
    duplicate.
    """
    a, b = pair
    a.send(direct(2), b"express")
    kill(a)
    second = a.send(direct(2), b"second", recoverable=True)
    assert int(second.partition("\\")[2]) == RESERVED_ORDINAL_COUNT + 2
    assert b.bodies() == ["express", "second"]


def test_ordinals_are_reserved_in_blocks(pair):
    a, _ = pair
    for _ in range(10):
        a.send(direct(1), b"express")
    assert [persist.record for persist in a.persists] == []
    assert disk(a)["ordinal"] == RESERVED_ORDINAL_COUNT + 1
    a.core.adm.MessageIdOrdinal = RESERVED_ORDINAL_COUNT + 1
    a.send(direct(1), b"first of the next block")
    assert disk(a)["ordinal"] == 2 * RESERVED_ORDINAL_COUNT + 2


@pytest.mark.parametrize("used", [3 * RESERVED_ORDINAL_COUNT, 0x7FFFFFFF, 0xFFFFFFFF])
def test_reserved_ordinal_never_decreases(pair, used):
    """The reserved ordinal on disk never decreases, although a message of a transaction may be written long after it
    got its ordinal.
    """
    a, _ = pair
    a.core.disk.reserved = used + RESERVED_ORDINAL_COUNT & 0xFFFFFFFF
    assert a.core.disk.build_ordinal_reservation(used - 2 * RESERVED_ORDINAL_COUNT) == {}
    assert a.core.disk.build_ordinal_reservation(used) == {}
    ahead = used + RESERVED_ORDINAL_COUNT & 0xFFFFFFFF
    assert a.core.disk.build_ordinal_reservation(ahead) == {"ordinal": ahead + RESERVED_ORDINAL_COUNT & 0xFFFFFFFF}


def test_a_transaction_that_commits_late_does_not_let_ordinals_be_used_again(pair):
    a, b = pair
    unit = UUID(a.ask(BeginTransaction(external=True))["transaction"])
    a.send(direct(1, TRANSACTIONAL), b"old", transaction=unit)
    a.ask(PrepareTransaction(unit))
    for _ in range(3):
        kill(a)
        a.send(direct(2), b"between")
    newest = a.core.adm.MessageIdOrdinal
    a.ask(CommitTransaction(unit))
    kill(a)
    assert a.core.adm.MessageIdOrdinal >= newest
    a.send(direct(2), b"after", recoverable=True)
    assert b.bodies() == ["between"] * 3 + ["after"]


def test_history_entry_survives_restart_after_its_message_left(pair):
    """A message is received only once, although its acknowledgment was lost with the receiver's process and the message
    had already left its queue.
    """
    a, b = pair
    a.send(direct(2), b"once", recoverable=True)
    assert b.ask(ReceiveMessage(PLAIN))["message"]["body"] == "once"
    assert messages(b) == 0
    assert messages(a) == 1, "it is not acknowledged yet"
    kill(b)
    a.network.advance(60_000)
    assert b.bodies() == []
    assert messages(a) == 0, "the duplicate is acknowledged"


def test_history_entry_of_express_message_survives_restart(pair):
    a, b = pair
    a.send(direct(2), b"once")
    kill(b)
    a.network.advance(60_000)
    assert b.bodies() == []


def test_stored_message_history_is_limited_and_expires(pair, monkeypatch):
    a, b = pair
    monkeypatch.setattr("reference_qm.model.tables.MESSAGE_ID_HISTORY_SIZE", 5)
    for _ in range(8):
        a.send(direct(2))
    assert MESSAGE_ID_HISTORY_SIZE > 8
    assert sum(name.startswith("history:") for name in disk(b)) == 5
    a.network.advance(4_000_000)
    assert not any(name.startswith("history:") for name in disk(b))


def test_queues_made_at_run_time_survive_with_their_numbers(pair):
    a, _ = pair
    names = a.ask(CreateQueue(NEW, transactional=True))["format_names"]
    deleted = a.ask(CreateQueue("private$\\old"))["format_names"]
    a.ask(DeleteQueue("private$\\old"))
    kill(a)
    listed = {queue["name"]: queue["transactional"] for queue in a.ask(ListQueues())["queues"]}
    assert listed == {PLAIN: False, TRANSACTIONAL: True, NEW: True}
    again = a.ask(CreateQueue("private$\\old"))["format_names"]
    assert len({one["private"] for one in (names, deleted, again)}) == 3, "no number is used again"


def test_a_journalled_message_survives_in_the_journal(pair):
    a, b = pair
    a.send(direct(2), b"journal", recoverable=True, journal=frozenset({"positive"}))
    b.reachable = False
    b.network.cut(b)
    a.send(direct(2), b"dead", recoverable=True, journal=frozenset({"negative"}), time_to_reach_queue_s=1)
    a.network.advance(60_000)
    b.reachable = True
    a.network.advance(60_000)
    kill(a)
    assert (a.bodies("system$;journal"), a.bodies("system$;deadletter")) == (["journal"], ["dead"])
    assert a.ask(PurgeQueue("system$;deadletter")) == {"purged": 1}
    kill(a)
    assert (a.bodies("system$;journal"), a.bodies("system$;deadletter")) == (["journal"], [])


def test_message_sequence_of_an_outgoing_queue_survives_restart(pair):
    a, _ = pair
    a.send(direct(2), b"express")
    before = a.core.adm.OutgoingQueues[direct(2).lower()].session.OutgoingTxSequenceID
    assert before.TimeStamp > 0
    a.network.advance(5_000)
    kill(a)
    assert a.core.adm.OutgoingQueues[direct(2).lower()].session.OutgoingTxSequenceID == before


# -- nothing before it is on disk -------------------------------------------------------------------------------


def test_a_message_is_confirmed_sent_and_received_when_it_is_on_disk(pair):
    a, b = pair
    a.disk = "slow"
    here, out = (a.begin(request) for request in (_send(direct(1), "here"), _send(direct(2), "out")))
    express = a.begin(_send(direct(2), "express", recoverable=False))
    assert a.answers.keys().isdisjoint({here, out})
    assert isinstance(a.answers[express], CommandCompleted), "it need not be on disk, but does not overtake"
    assert a.bodies() == b.bodies() == []
    saves(a)
    assert all(isinstance(a.answers[token], CommandCompleted) for token in (here, out, express))
    assert (a.bodies(), b.bodies()) == (["here"], ["out", "express"])


def test_received_message_is_returned_after_its_removal_is_on_disk(pair):
    a, _ = pair
    a.send(direct(1), b"first", recoverable=True)
    a.send(direct(1), b"second", recoverable=True)
    a.disk = "slow"
    tokens = [a.begin(ReceiveMessage(PLAIN)) for _ in range(2)]
    assert a.answers.keys().isdisjoint(tokens)
    saves(a)
    assert [a.answers[token].result.values["message"]["body"] for token in tokens] == ["first", "second"]
    kill(a)
    assert a.bodies() == []


# -- a disk that fails ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(lambda: _send(direct(1), "x"), id="send here"),
        pytest.param(lambda: _send(direct(2), "x"), id="send out"),
        pytest.param(lambda: ReceiveMessage(PLAIN), id="receive"),
        pytest.param(lambda: PurgeQueue(PLAIN), id="purge"),
        pytest.param(lambda: CreateQueue(NEW), id="create"),
        pytest.param(lambda: DeleteQueue(PLAIN), id="delete"),
    ],
)
def test_change_that_cannot_be_saved_is_refused_and_undone(pair, request_):
    a, b = pair
    for number in range(3):
        a.send(direct(1), str(number).encode(), recoverable=True)
    before, on_disk = a.ask(ListQueues())["queues"], dict(disk(a))
    a.disk = "broken"
    token = a.begin(request_())
    answer = a.answers[token]
    assert isinstance(answer, CommandRejected)
    assert answer.error == "the message could not be saved: disk full; try again when the store works"
    assert a.ask(ListQueues())["queues"] == before
    assert a.bodies() == ["0", "1", "2"], "in order"
    assert b.bodies() == []
    assert disk(a) == on_disk
    a.disk = "works"
    assert isinstance(a.answers[a.begin(request_())], CommandCompleted)


def test_failed_removal_is_written_with_next_record(pair):
    a, b = pair
    a.send(direct(2), b"out", recoverable=True)
    a.disk = "broken"
    a.network.advance(60_000)
    assert a.session("initiator")["OutgoingMessageTable"] == []
    assert messages(a) == 1
    saves(a)
    a.send(direct(1), b"here", recoverable=True)
    kill(a)
    assert messages(a) == 1
    assert b.bodies() == ["out"]


# -- what is refused --------------------------------------------------------------------------------------------

GUID = str(guid(1))


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ({"identifier": str(guid(2))}, f"the entries are messages of queue manager {guid(2)}, not of {GUID}"),
        ({"future:1": 1}, "entry 'future:1' is of an unknown kind: use the version of mqconform that wrote the store"),
        ({"ordinal": "7"}, "entry ordinal: is unusable: ValueError(\"'7' is not a number\")"),
        ({"queue:1": {"Pathname": PLAIN}}, "entry queue:1 is unusable: KeyError"),
        ({"message:1": {"in": "journal", "arrived": 0, "packet": "AAAA"}}, "entry message:1 is unusable"),
        ({"message:x": 1}, "entry message:x is unusable"),
        ({"history:x": 1}, "entry history:x is unusable"),
        (
            {"queue:1": {"Pathname": PLAIN, "Transactional": True, "BasePriority": 0}},
            rf"queue {PLAIN} exists with transactional = True, but the configuration sets False: correct the setting",
        ),
    ],
)
def test_unusable_store_entries_give_one_line_errors(entries, complaint):
    core = QueueManager(
        QueueManagerConfig(identifier=guid(1), queues=(QueueSettings(PLAIN),)), SeededEntropy("restore")
    )
    with pytest.raises(RestoreError) as error:
        core.restore(entries)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def _send(to, body, recoverable=True):
    from reference_qm.surface.commands import SendMessage

    return SendMessage(to=to, body=body.encode(), recoverable=recoverable)
