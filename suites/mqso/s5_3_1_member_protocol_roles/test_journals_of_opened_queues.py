"""MS-MQSO 5.3.1 Member Protocol Roles: queue journals that qmcomm opens and qm2qm reads."""

from __future__ import annotations

from harness.expectations import facts
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs
from harness.wire.rpc_qmcomm import DIRECT, JOURNAL, SYSTEM_QUEUE_SUFFIX, queue_format


@needs("qm2qm", "queue_control")
@covers("MQSO-5.3.1-01")
def test_journal_opened_by_qmcomm_is_read_by_qm2qm(remote, sut, judge):
    """Three messages of a queue are received, so that its journal contains copies of them. qmcomm opens the journal
    (MS-MQMP). qm2qm peeks at the copies, with and without a cursor, and receives the first copy (MS-MQQP).
    """
    name = sut.new_queue("journaled", journaling=True)
    path = rf"TCP:{sut.address}\{name}"
    labels = ["first", "second", "third"]
    queue = remote.open(form=queue_format(DIRECT, path))
    remote.send_messages_and_require_acks(
        [remote.peer.recoverable_message(destination=path, label=label) for label in labels]
    )
    for _ in labels:
        queue.receive()
    association = remote.associate()
    forms = (queue_format(DIRECT, path, JOURNAL | SYSTEM_QUEUE_SUFFIX), queue_format(DIRECT, f"{path};journal"))
    openings = [remote.open_remote(association, form=form) for form in forms]
    opened = [call for call in openings if call.outcome == "MQ_OK"]
    if not opened:
        judge.mark_not_exercised("MQSO-5.3.1-01", reason="the SUT opens no queue journal for a remote reader")
        return
    journal = RemoteQueue(remote, association, opened[-1], settled=False)
    cursor = journal.cursor()
    handle = 0 if cursor.out is None else cursor.out.phCursor
    peeks = [journal.peek(), journal.peek(hCursor=handle), journal.peek_next(hCursor=handle)]
    received = journal.start_receive()
    ended = journal.acknowledge(received) if received.outcome == "MQ_OK" else received
    later = journal.peek()
    judge(
        "MQSO-5.3.1-01",
        expected=facts(
            opening_by_qm2qm="MQ_OK",
            peeks=["first", "first", "second"],
            receive="first",
            end_of_the_receive="MQ_OK",
            peek_after_the_receive="second",
        ),
        observed={
            "opening_by_qm2qm": journal.session.outcome,
            "peeks": [peek.label_or_outcome for peek in peeks],
            "receive": received.label_or_outcome,
            "end_of_the_receive": ended.outcome,
            "peek_after_the_receive": later.label_or_outcome,
        },
        evidence=[*opened, *peeks, received, later],
    )
