"""MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id, with 3.1.7.3.2: messages that cannot be read."""

from __future__ import annotations

from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import (
    LOOKUP_PEEK_CURRENT,
    LOOKUP_PEEK_NEXT,
    LOOKUP_PEEK_PREV,
    LOOKUP_RECEIVE_CURRENT,
    LOOKUP_RECEIVE_NEXT,
    LOOKUP_RECEIVE_PREV,
)
from suites.mqqp.steps.lookups import looked_up

NOT_FOUND = "MQ_ERROR_MESSAGE_NOT_FOUND"
UNKNOWN = 0x0055_0000_0000_0007
"""A LookupIdentifier of no message."""
ITSELF = (LOOKUP_PEEK_CURRENT, LOOKUP_RECEIVE_CURRENT)
BESIDE = (LOOKUP_PEEK_NEXT, LOOKUP_PEEK_PREV, LOOKUP_RECEIVE_NEXT, LOOKUP_RECEIVE_PREV)


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26", "MQDMPR-3.1.7.1.13-18")
def test_an_identifier_of_no_message_finds_none(remote, judge):
    """A read by an identifier that no message has fails with MQ_ERROR_MESSAGE_NOT_FOUND, and changes nothing."""
    queue = remote.filled("first", "second", "third")
    by_action = {action: looked_up(queue, action, UNKNOWN) for action in (*ITSELF, *BESIDE)}
    left = queue.labels()
    for rules, actions in (
        (("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.1.13-18"), (*ITSELF, *BESIDE)),
        (("MQDMPR-3.1.7.3.3-26",), ITSELF),
    ):
        judge(
            *rules,
            expected={"reads": each(NOT_FOUND), "queue": ["first", "second", "third"]},
            observed={"reads": [by_action[action].outcome for action in actions], "queue": left},
            evidence=by_action.values(),
        )
