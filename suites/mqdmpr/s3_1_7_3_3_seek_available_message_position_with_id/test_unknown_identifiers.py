"""MS-MQDMPR 3.1.7.3.3 Seek Available Message Position With Id: lookups by an unknown identifier."""

from __future__ import annotations

from harness.expectations import each, in_queue
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action

MESSAGE_NOT_FOUND_STATUS = "MQ_ERROR_MESSAGE_NOT_FOUND"
UNKNOWN_LOOKUP_ID = 0x0055_0000_0000_0007
"""A LookupIdentifier that no message has."""
CURRENT_MESSAGE_LOOKUP_ACTIONS = (Action.LOOKUP_PEEK_CURRENT, Action.LOOKUP_RECEIVE_CURRENT)
NEXT_AND_PREVIOUS_LOOKUP_ACTIONS = (
    Action.LOOKUP_PEEK_NEXT,
    Action.LOOKUP_PEEK_PREV,
    Action.LOOKUP_RECEIVE_NEXT,
    Action.LOOKUP_RECEIVE_PREV,
)


@needs("qm2qm")
@covers("MQDMPR-3.1.7.3.3-04", "MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.3.3-26", "MQDMPR-3.1.7.1.13-18")
def test_lookup_of_unknown_identifier_finds_no_message(remote, judge):
    """If no message has a LookupIdentifier, lookups of the current, next and previous message with that identifier fail
    with MQ_ERROR_MESSAGE_NOT_FOUND, and the queue is unchanged.
    """
    queue = remote.open_with_messages("first", "second", "third")
    by_action = {
        action: queue.look_up(action, UNKNOWN_LOOKUP_ID)
        for action in (*CURRENT_MESSAGE_LOOKUP_ACTIONS, *NEXT_AND_PREVIOUS_LOOKUP_ACTIONS)
    }
    labels = queue.labels()
    for rules, actions in (
        (
            ("MQDMPR-3.1.7.3.3-06", "MQDMPR-3.1.7.1.13-18"),
            (*CURRENT_MESSAGE_LOOKUP_ACTIONS, *NEXT_AND_PREVIOUS_LOOKUP_ACTIONS),
        ),
        (("MQDMPR-3.1.7.3.3-04", "MQDMPR-3.1.7.3.3-26"), CURRENT_MESSAGE_LOOKUP_ACTIONS),
    ):
        judge(
            *rules,
            expected={"reads": each(MESSAGE_NOT_FOUND_STATUS), "queue": in_queue("first", "second", "third")},
            observed={"reads": [by_action[action].outcome for action in actions], "queue": labels},
            evidence=by_action.values(),
        )
