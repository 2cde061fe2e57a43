"""MS-MQDMPR 3.1.4.6 to 3.1.4.11: a coordinator decides, also after a crash, or does not come back."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, fill, prepare, receive, saves, units

from reference_qm.surface.commands import (
    AbortTransaction,
    CommitTransaction,
    PrepareTransaction,
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


def test_the_vote_is_given_when_it_is_on_disk(pair):
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


def test_a_vote_that_cannot_be_saved_is_one_against(pair):
    a, b = pair
    unit = unit_of_work(a)
    a.disk = "broken"
    assert "could not be saved" in a.refusal(PrepareTransaction(unit))
    assert units(a)[0]["state"] == "active"
    abort(a, unit)
    assert seen(a, b) == (["old", "older"], [])


@pytest.mark.parametrize("end", [CommitTransaction, AbortTransaction])
@pytest.mark.parametrize("written", [0, 1])
def test_a_crash_while_it_ends_leaves_it_in_doubt_or_ended(pair, end, written):
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
def test_an_outcome_that_cannot_be_saved_leaves_it_in_doubt(pair, end):
    a, _ = pair
    unit = unit_of_work(a)
    prepare(a, unit)
    a.disk = "broken"
    assert "could not be saved" in a.refusal(end(unit))
    assert units(a)[0]["state"] == "prepared"
