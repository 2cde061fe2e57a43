"""MS-MQQP 3.1.4.10 RemoteQMStartReceive2: the SequentialId of a message that arrives while a read waits."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

LONG_READ_TIMEOUT_MS = 600_000


@covers("MQQP-3.1.4.10-05", "MQQP-3.1.4.10-52", "MQQP-3.1.4.10-D01")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
@pytest.mark.parametrize("action", [Action.PEEK_CURRENT, Action.RECEIVE], ids=["peek", "receive"])
def test_waiting_read_returns_sequential_id_of_message(remote, judge, action, kind):
    """A RemoteQMStartReceive2 waits, and returns a message that arrives. A receive then ends with RR_NACK. A later
    RemoteQMStartReceive2 that peeks at the message returns the same SequentialId.
    """
    queue = remote.open(kind)
    waiting = queue.begin(action, by=Method.START_RECEIVE2, ulTimeout=LONG_READ_TIMEOUT_MS)
    before = waiting.state_after_silence()
    send_messages_to_queue(remote, kind, "first")
    waiting.wait()
    if action == Action.RECEIVE and waiting.outcome == "MQ_OK":
        queue.put_message_back(waiting)
    later = queue.peek(by=Method.START_RECEIVE2)
    observed = {
        "read_before_an_arrival": before,
        "waiting_read": waiting.label_or_outcome,
        "later_peek": later.label_or_outcome,
        "sequential_id_of_the_waiting_read": waiting.sequential_id_of_read,
    }
    expected = facts(
        read_before_an_arrival=waiting.WAITING,
        waiting_read="first",
        later_peek="first",
        sequential_id_of_the_waiting_read=later.sequential_id_of_read,
    )
    judge.all(expected=expected, observed=observed, evidence=[*waiting.evidence, later])
