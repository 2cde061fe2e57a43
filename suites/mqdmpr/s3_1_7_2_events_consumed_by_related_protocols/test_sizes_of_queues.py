"""MS-MQDMPR 3.1.7.2 Events Consumed by Related Protocols: the sizes of queues whose messages leave in several ways."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.applications import Application


@needs("queue_control", "receive", "subqueues")
@covers("MQDMPR-3.1.7.2.1-03", "MQDMPR-3.1.7.2.2-03")
def test_sizes_follow_moved_received_and_purged_messages(peer, sut, judge):
    """Messages are moved to a subqueue, received and purged. The size of the subqueue is the size of the messages in
    it. Each queue has the size 0 when it is empty, in whichever way its messages have left.
    """
    application, other = Application(peer, sut), Application(peer, sut)
    packets = [*application.fill_queue(*"abcd"), *other.fill_queue(*"efg")]
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)

    def read_size(queue):
        return sut.control.call("get_queue", name=queue)["bytes"]

    each = read_size(application.queue) // 4
    for label, one in application.get_lookup_ids_by_label().items():
        if label in "bc":
            application.call("move", queue=application.queue, lookup_id=one, to=subqueue)
    judge(
        "MQDMPR-3.1.7.2.2-03",
        expected=facts(a_message_has_a_size=True, size_of_the_subqueue=2 * each),
        observed={"a_message_has_a_size": each > 0, "size_of_the_subqueue": read_size(subqueue)},
        evidence=packets,
    )
    application.receive(queue=subqueue)
    sizes = {"after a receive": read_size(subqueue) == each}
    sut.control.call("purge", queue=subqueue)
    sizes["after a purge of the subqueue"] = read_size(subqueue) == 0
    sut.control.call("purge", queue=other.queue)
    sizes["after a purge"] = read_size(other.queue) == 0
    for _ in range(2):
        application.receive()
    sizes["after all receives"] = read_size(application.queue) == 0
    judge(
        "MQDMPR-3.1.7.2.1-03",
        expected=dict.fromkeys(sizes, True),
        observed=sizes,
        case="size of each queue is that of its messages",
        evidence=packets,
    )
