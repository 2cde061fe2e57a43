"""MS-MQDMPR 3.1.7.1.4: deleting queues."""

from queueing_made import one_host

from reference_qm.surface.commands import CreateQueue, DeleteQueue


def test_a_deleted_queue_is_deleted_after_a_crash_too():
    host = one_host()
    host.ask(CreateQueue("private$\\new"))
    host.ask(CreateQueue("private$\\new;sub"))
    host.send("DIRECT=TCP:10.0.0.1\\private$\\new", b"a", recoverable=True)
    host.ask(DeleteQueue("private$\\new"))
    host.network.kill(host)
    assert "private$\\new" not in host.core.adm.QueueCollection
    host.ask(CreateQueue("private$\\new"))
    assert host.bodies("private$\\new") == []
