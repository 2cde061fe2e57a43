"""MS-MQDMPR 3.1.1.12 (PositiveJournalingRequested, NegativeJournalingRequested, ApplicationDeadletterQueue)."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct

from reference_qm.surface.commands import CreateQueue, DeleteQueue, ReceiveMessage, SendMessage

DEAD = "private$\\dead"
SYSTEM = {False: "system$;deadletter", True: "system$;deadxact"}
BOTH = frozenset({"positive", "negative"})


def hosts(transactional, network=None):
    near, far = (network or Network()).pair()
    near.ask(CreateQueue(DEAD, transactional=transactional))
    return near, far


def send(near, transactional, body=b"body", **fields):
    queue = TRANSACTIONAL if transactional else PLAIN
    near.send(direct(2, queue), body, transactional=transactional, recoverable=True, **fields)


@pytest.mark.parametrize("transactional", [False, True])
@pytest.mark.parametrize("named", [None, DEAD, DEAD.upper()])
def test_a_failed_message_goes_to_the_queue_that_the_application_named(transactional, named):
    near, far = hosts(transactional)
    far.reachable = False
    send(near, transactional, time_to_reach_queue_s=5, journal=frozenset({"negative"}), dead_letter_queue=named)
    near.network.advance(6_000)
    assert near.bodies(DEAD) == (["body"] if named else [])
    assert near.bodies(SYSTEM[transactional]) == ([] if named else ["body"])


def test_a_refused_transactional_message_does_too():
    near, _ = hosts(True)
    wanted = {"journal": frozenset({"negative"}), "dead_letter_queue": DEAD}
    near.send(direct(2), transactional=True, **wanted)
    assert near.bodies(DEAD) == ["body"]


def test_it_is_only_for_messages_that_want_negative_journaling():
    near, far = hosts(False)
    far.reachable = False
    send(near, False, time_to_reach_queue_s=5, dead_letter_queue=DEAD)
    near.network.advance(6_000)
    assert near.bodies(DEAD) == near.bodies(SYSTEM[False]) == []


@pytest.mark.parametrize("transactional", [False, True])
def test_the_queue_of_the_system_takes_what_the_application_has_no_queue_for_any_more(transactional):
    near, far = hosts(transactional)
    far.reachable = False
    send(near, transactional, time_to_reach_queue_s=5, journal=BOTH, dead_letter_queue=DEAD)
    near.ask(DeleteQueue(DEAD))
    near.network.advance(6_000)
    assert near.bodies(SYSTEM[transactional]) == ["body"]


@pytest.mark.parametrize("transactional", [False, True])
def test_the_name_survives_a_crash(transactional):
    network = Network()
    near, far = hosts(transactional, network)
    far.reachable = False
    send(near, transactional, time_to_reach_queue_s=5, journal=BOTH, dead_letter_queue=DEAD)
    network.kill(near)
    network.advance(6_000)
    assert near.bodies(DEAD) == ["body"]
    network.kill(near)
    assert near.bodies(DEAD) == ["body"]
    assert near.bodies(SYSTEM[transactional]) == []


@pytest.mark.parametrize(("queue", "transactional"), [("private$\\none", False), (DEAD, False), (PLAIN, True)])
def test_a_queue_that_could_not_take_the_message_is_refused(queue, transactional):
    near, _ = hosts(True)
    error = near.refusal(SendMessage(to=direct(2), transactional=transactional, dead_letter_queue=queue))
    assert "dead_letter_queue" in error


@pytest.mark.parametrize("transactional", [False, True])
def test_a_delivered_message_goes_to_the_journal_when_it_is_done(transactional):
    near, far = hosts(transactional)
    send(near, transactional, journal=BOTH)
    near.network.advance(2_000)
    assert near.bodies("system$;journal") == ([] if transactional else ["body"])
    far.ask(ReceiveMessage(TRANSACTIONAL if transactional else PLAIN))
    assert near.bodies("system$;journal") == ["body"]
    assert near.bodies(SYSTEM[transactional]) == []
