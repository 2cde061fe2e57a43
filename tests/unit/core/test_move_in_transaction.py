"""MS-MQDMPR 3.1.7.1.16 Move Message and 3.1.7.1.13 Read Message By Lookup Identifier, with a transaction."""

import pytest
from core_network import TRANSACTIONAL, Network, direct
from core_transactions import abort, begin, commit, fill, prepare

from reference_qm.surface.commands import (
    CreateQueue,
    DeleteQueue,
    MoveMessage,
    PeekMessages,
)

LOCAL, REMOTE = direct(1, TRANSACTIONAL), direct(2, TRANSACTIONAL)
SUB = TRANSACTIONAL + ";sub"


@pytest.fixture
def host():
    host = Network().host(1)
    host.ask(CreateQueue(SUB, transactional=True))
    fill(host, LOCAL, "1", "2", "3")
    return host


def lookup(host, body, queue=TRANSACTIONAL):
    messages = host.ask(PeekMessages(queue, 10))["messages"]
    return next(one["lookup_id"] for one in messages if one["body"] == body)


def move(host, body, unit):
    host.ask(MoveMessage(TRANSACTIONAL, lookup(host, body), SUB, transaction=unit))


def seen(host):
    return host.bodies(TRANSACTIONAL), host.bodies(SUB)


@pytest.mark.parametrize(("end", "after"), [(commit, (["1", "3"], ["2"])), (abort, (["1", "2", "3"], []))])
def test_a_prepared_move_survives_a_crash(host, end, after):
    unit = begin(host, external=True)
    move(host, "2", unit)
    prepare(host, unit)
    host.network.kill(host)
    assert seen(host) == (["1", "3"], [])
    end(host, unit)
    assert seen(host) == after
    host.network.kill(host)
    assert seen(host) == after


def test_a_message_stays_when_the_queue_it_was_moved_to_is_deleted(host):
    unit = begin(host)
    move(host, "2", unit)
    host.ask(DeleteQueue(SUB))
    commit(host, unit)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]
    host.network.kill(host)
    assert host.bodies(TRANSACTIONAL) == ["1", "2", "3"]
