"""MS-MQDMPR 3.1.4.6 to 3.1.4.11: a coordinator decides a transaction, also after a crash, or never returns."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit, fill, prepare, receive, saves, sent_messages, units

from reference_qm.surface.commands import (
    AbortTransaction,
    CommitTransaction,
    PrepareTransaction,
    ReceiveMessage,
    ReenlistmentTimeout,
)

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)


@pytest.fixture
def pair():
    a, b = Network().pair()
    fill(a, LOCAL, "old", "older")
    return a, b


def unit_of_work(a):
    unit = begin(a, external=True)
    receive(a, unit)
    a.send(LOCAL, b"new", transaction=unit)
    for body in (b"1", b"2"):
        a.send(REMOTE, body, transaction=unit)
    return unit


def seen(a, b):
    return a.bodies(TRANSACTIONAL), b.bodies(TRANSACTIONAL)


def test_prepare_is_answered_after_vote_is_on_disk(pair):
    a, b = pair
    unit = unit_of_work(a)
    a.disk = "slow"
    token = a.begin(PrepareTransaction(unit))
    assert token not in a.answers
    assert units(a)[0]["state"] == "preparing"
    for request in (PrepareTransaction(unit), CommitTransaction(unit), AbortTransaction(unit)):
        assert "is preparing (MQ_ERROR_TRANSACTION_SEQUENCE)" in a.refusal(request)
    saves(a)
    assert a.answers[token].result.values == {"outcome": "prepared"}
    assert seen(a, b) == (["older"], [])


def test_vote_that_cannot_be_saved_rejects_commit(pair):
    a, b = pair
    unit = unit_of_work(a)
    a.disk = "broken"
    assert "could not be saved" in a.refusal(PrepareTransaction(unit))
    assert units(a)[0]["state"] == "active"
    abort(a, unit)
    assert seen(a, b) == (["old", "older"], [])


def test_active_transaction_cannot_commit_before_its_prepare(pair):
    a, b = pair
    unit = unit_of_work(a)
    assert "is active (MQ_ERROR_TRANSACTION_SEQUENCE): the coordinator must prepare it first" in a.refusal(
        CommitTransaction(unit)
    )
    assert seen(a, b) == (["older"], [])


def test_a_single_participant_commits_in_one_phase(pair):
    a, b = pair
    unit = unit_of_work(a)
    assert a.ask(PrepareTransaction(unit, single_phase=True)) == {"outcome": "committed"}
    assert seen(a, b) == (["older", "new"], ["1", "2"])


@pytest.mark.parametrize("crashes", [0, 1, 2])
@pytest.mark.parametrize(
    ("end", "local", "remote"), [(commit, ["older", "new"], ["1", "2"]), (abort, ["old", "older"], [])]
)
def test_prepared_transaction_is_in_doubt_until_its_coordinator_resolves_it(pair, crashes, end, local, remote):
    a, b = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    for _ in range(crashes):
        a.network.kill(a)
        a.network.advance(60_000)
        assert units(a) == [{"transaction": str(unit), "state": "prepared", "operations": 4}]
        assert seen(a, b) == (["older"], []), "it is seen by nobody, and what it received is locked"
    end(a, unit)
    a.network.advance(60_000)
    assert (units(a), *seen(a, b)) == ([], local, remote)
    a.network.kill(a)
    a.network.advance(60_000)
    assert (units(a), *seen(a, b)) == ([], local, remote)
    marks = [(one.TransactionHeader.FM, one.TransactionHeader.LM) for one in sent_messages(a)]
    assert marks == ([(1, 0), (0, 1)] if remote else [])


@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction])
@pytest.mark.parametrize("written", [0, 1])
def test_crash_during_commit_leaves_transaction_in_doubt_or_ended(pair, end, written):
    a, b = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    a.disk = "slow"
    a.begin(end(unit))
    a.disk = "works"
    a.network.kill(a, written)
    a.network.advance(60_000)
    ended = (["older", "new"], ["1", "2"]) if end is CommitTransaction else (["old", "older"], [])
    assert seen(a, b) == (ended if written else (["older"], []))
    assert len(units(a)) == 1 - written


@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction])
def test_outcome_that_cannot_be_saved_leaves_transaction_in_doubt(pair, end):
    a, _ = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    a.disk = "broken"
    assert "could not be saved" in a.refusal(end(unit))
    assert units(a)[0]["state"] == "prepared"


def test_message_numbers_are_assigned_at_commit(pair):
    """Messages get their sequence numbers when their transaction commits: a transaction that commits earlier is sent
    first, and the sequence has no gap.
    """
    a, b = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    fill(a, REMOTE, "meanwhile")
    a.network.kill(a)
    fill(a, REMOTE, "later")
    commit(a, unit)
    a.network.advance(60_000)
    assert b.bodies(TRANSACTIONAL) == ["meanwhile", "later", "1", "2"]


def test_a_prepared_transaction_survives_a_restart_in_place():
    for network in (Network(), Network()):
        a, b = network.pair()
        fill(a, LOCAL, "old", "older")
        unit = unit_of_work(a)
        prepare(a, unit)
        a.restart()
        assert (units(a)[0]["state"], *seen(a, b)) == ("prepared", ["older"], [])
        commit(a, unit)
        assert seen(a, b) == (["older", "new"], ["1", "2"])


def test_reenlistment_timeout_halts_commands_until_restart(pair):
    a, b = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    a.network.kill(a)
    assert a.ask(ReenlistmentTimeout()) == {"in_doubt": [str(unit)]}
    assert a.refusal(CommitTransaction(unit)).startswith("the coordinator did not report the outcome of transactions")
    assert "restart" in a.refusal(ReceiveMessage(TRANSACTIONAL))
    assert units(a)[0]["state"] == "prepared"
    b.send(direct(1, TRANSACTIONAL), b"later", transactional=True)
    a.network.advance(60_000)
    a.network.kill(a)
    commit(a, unit)
    a.network.advance(60_000)
    assert seen(a, b) == (["older", "new", "later"], ["1", "2"])


def test_reenlistment_timeout_without_transaction_in_doubt_is_refused(pair):
    a, _ = pair
    unit_of_work(a)
    assert "no transaction is in doubt" in a.refusal(ReenlistmentTimeout())
