"""Reads that wait: MS-MQDMPR 3.1.6.3, 3.1.7.3.1, 3.1.7.3.4, 3.1.7.3.5, 3.1.7.3.6 and 3.1.7.3.7.

And what ends their wait, MS-MQDMPR 3.1.7.2.1 and 3.1.7.2.2: messages that leave and become available.
"""

from reference_qm.model.statuses import Status


def wait(host, reads, name, descriptor, timeout_ms=None, destructive=True, **named):
    core = host.core
    core.waiting.wait_for_new_message(
        descriptor, timeout_ms, destructive, reads.answered(name), host.network.now, **named
    )


def test_a_wait_for_a_queue_that_is_gone_fails_at_once(host, reads, descriptor):
    descriptor.QueueReference = None
    wait(host, reads, "x", descriptor, 100)
    assert reads.answers == {"x": (Status.MQ_ERROR_QUEUE_NOT_AVAILABLE, None)}
