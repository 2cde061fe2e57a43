"""MS-MQDMPR 3.1.7.1.4: deleting queues."""

import pytest
from queueing_made import PLAIN, one_host, put

from harness.faults.parts import override_method
from reference_qm.codec import MessageClass
from reference_qm.core.replacing import replace_part_by_subclass
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.surface.commands import CreateQueue, DeleteQueue, MoveMessage, PeekMessages

SUB = f"{PLAIN};sub"


def test_messages_of_a_deleted_queue_leave_with_reason_queue_deleted(host):
    host.ask(CreateQueue(SUB))
    ids = put(host, "a", "b", "c")
    host.ask(MoveMessage(PLAIN, ids[1], SUB))
    left = []
    replace_part_by_subclass(
        host.core,
        override_method(
            FinalAcks.on_message_position_deleted,
            lambda original: lambda qm, position, reason, now: left.append((position.MessageReference.Body, reason)),
        ),
    )
    host.ask(DeleteQueue(PLAIN))
    assert sorted(left) == [(body, MessageClass.MQMSG_CLASS_NACK_Q_DELETED) for body in (b"a", b"b", b"c")]
    assert host.core.adm.storage.used_bytes == 0
    for name in (PLAIN, SUB, f"{PLAIN};journal"):
        assert "create it first" in host.refusal(PeekMessages(name))


def test_deleting_subqueue_keeps_its_queue(host):
    host.ask(CreateQueue(SUB))
    put(host, "a")
    host.ask(DeleteQueue(SUB))
    assert host.bodies() == ["a"]
    assert "create it first" in host.refusal(PeekMessages(SUB))


@pytest.mark.parametrize("name", ["system$;deadletter", f"{PLAIN};journal"])
def test_system_queue_cannot_be_deleted(host, name):
    assert "system queue" in host.refusal(DeleteQueue(name))


def test_deleted_queue_stays_deleted_after_a_crash():
    host = one_host()
    host.ask(CreateQueue("private$\\new"))
    host.ask(CreateQueue("private$\\new;sub"))
    host.send("DIRECT=TCP:10.0.0.1\\private$\\new", b"a", recoverable=True)
    host.ask(DeleteQueue("private$\\new"))
    host.network.kill(host)
    assert "private$\\new" not in host.core.adm.QueueCollection
    host.ask(CreateQueue("private$\\new"))
    assert host.bodies("private$\\new") == []
