"""MS-MQDMPR 3.1.1.12 (PositiveJournalingRequested, NegativeJournalingRequested, ApplicationDeadletterQueue)."""

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct

from reference_qm.surface.commands import CreateQueue, SendMessage

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
def test_dead_letter_queue_name_survives_crash(transactional):
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
def test_unusable_dead_letter_queue_is_refused(queue, transactional):
    near, _ = hosts(True)
    error = near.refusal(SendMessage(to=direct(2), transactional=transactional, dead_letter_queue=queue))
    assert "dead_letter_queue" in error
