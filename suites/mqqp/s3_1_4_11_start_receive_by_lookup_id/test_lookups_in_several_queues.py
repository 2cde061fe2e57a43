"""MS-MQQP 3.1.4.11 RemoteQMStartReceiveByLookupId: lookups of several messages in several queues."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import each, facts, in_queue, none
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId
from suites.messages import Sequence
from suites.mqqp.steps.lookups import find_lookup_ids
from suites.mqqp.steps.reading import send_messages_to_queue

pytestmark = needs("qm2qm")

MESSAGE_LABELS = ("first", "second", "third")
LARGE_BODY = bytes(range(250)) * 280


@covers("MQQP-3.1.4.11-37", "MQQP-3.1.4.11-D04")
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_lookup_receive_current_removes_each_message_of_its_queue(remote, judge, kind):
    """A queue contains three messages, of which the second is large; in a nontransactional queue, the other two are
    express messages. A second queue contains four messages. LOOKUP_PEEK_CURRENT returns each of the three messages.
    With the LookupIds of the second queue, it returns no message of that queue. LOOKUP_RECEIVE_CURRENT removes the
    third, the first and the second message.
    """
    queue, admin = remote.open(kind), remote.open("admin")
    send_messages_to_queue(remote, "admin", *(f"other {number}" for number in range(4)))
    bodies = (b"1", LARGE_BODY, b"3")
    if kind == "transactional":
        sequence = Sequence(remote.peer)
        remote.send_messages_and_require_acks(
            [sequence.message(label=one, body=body) for one, body in zip(MESSAGE_LABELS, bodies, strict=True)]
        )
    else:
        modes = (0, 1, 0)
        remote.send_messages_and_require_acks(
            [
                remote.peer.message({"DM": mode}, label=label, body=body)
                for label, body, mode in zip(MESSAGE_LABELS, bodies, modes, strict=True)
            ]
        )
    known, of_admin = find_lookup_ids(queue, len(MESSAGE_LABELS)), find_lookup_ids(admin, 4)
    if len(known) < len(MESSAGE_LABELS):
        first = queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST)
        case = "messages found by the identifiers that the SUT returns"
        judge("MQQP-3.1.4.11-37", expected=len(MESSAGE_LABELS), observed=len(known), case=case, evidence=first.evidence)
        raise ConformanceFailure(f"lookups found only {len(known)} of {len(MESSAGE_LABELS)} messages")
    peeks = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in known]
    elsewhere = [queue.look_up(Action.LOOKUP_PEEK_CURRENT, one) for one in of_admin]
    judge(
        "MQQP-3.1.4.11-37",
        expected=facts(peeks=list(MESSAGE_LABELS), peeks_with_ids_of_second_queue=none("message of the second queue")),
        observed={
            "peeks": [one.label_or_outcome for one in peeks],
            "peeks_with_ids_of_second_queue": [
                one.label for one in elsewhere if str(one.label or "").startswith("other")
            ],
        },
        evidence=[*peeks, *elsewhere],
    )
    received, ends = [], []
    for at in (2, 0, 1):
        received.append(queue.look_up(Action.LOOKUP_RECEIVE_CURRENT, known[at]))
        ends.append(queue.acknowledge(received[-1]))
    judge(
        "MQQP-3.1.4.11-D04",
        expected=facts(received=["third", "first", "second"], ends=each("MQ_OK"), queue=in_queue()),
        observed={
            "received": [one.label_or_outcome for one in received],
            "ends": [one.outcome for one in ends],
            "queue": queue.labels(),
        },
        evidence=[*received, *ends],
    )
