"""MS-MQQB 3.1.7.14 Resume Queue Event: an application pauses and resumes two outgoing queues."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.run.marks import covers, needs
from suites.mqqb.steps.provoking import SecondQueueManager
from suites.mqqb.steps.sender import Sender


@needs("send", "pause")
@covers("MQQB-3.1.7.14-01", "MQQB-3.1.7.14-02", "MQQB-3.1.7.14-03", "MQQB-3.1.7.14-04")
def test_each_of_two_queues_connects_each_time_it_is_resumed(peer, sut, judge):
    """An application pauses two outgoing queues of the SUT, and the sessions of both end. One message waits in each
    queue. When the application resumes one queue, the SUT sends only the message of this queue. The application repeats
    these steps; then an urgent message waits in one queue, and an acknowledgment in the other queue.
    """
    peer.listen(ignore_incoming=True)
    queues = [peer.direct_name(f"mqc-resumed-{number}") for number in range(2)]

    def has_arrived(tag: int) -> bool:
        return tag in Sender.list_tags(peer.inbox.copies)

    for queue in queues:
        tag = peer.next_message_id()
        sut.send(queue, body="first", application_tag=tag)
        if not peer.environment.run_until(lambda tag=tag: has_arrived(tag), sut.connect_timeout_ms):
            raise ConformanceFailure("a message to a queue that is not paused did not arrive")
    provoker = SecondQueueManager(peer, queues[0])
    for turn in ("first", "second"):
        peer.inbox.acknowledge()
        peer.settle()
        for queue in queues:
            sut.pause(queue)
        peer.hang_up()
        peer.settle()
        waiting = {queue: peer.next_message_id() for queue in queues}
        if turn == "second":
            provoker.connection = None
            provoker.send(waiting[queues[0]])
        else:
            sut.send(queues[0], body="waits", application_tag=waiting[queues[0]])
        sut.send(queues[1], body="waits", application_tag=waiting[queues[1]], priority=7)
        peer.settle()
        for resumed in reversed(queues):
            before = {tag for tag in waiting.values() if has_arrived(tag)}
            sut.resume(resumed)
            wanted = waiting[resumed]
            peer.environment.run_until(lambda tag=wanted: has_arrived(tag), sut.connect_timeout_ms)
            new = [tag for tag in waiting.values() if has_arrived(tag) and tag not in before]
            judge.all(
                expected=[wanted],
                observed=new,
                case=f"numbers of the messages that the {turn} resumption of a queue causes",
                evidence=peer.inbox.copies,
            )
            judge.conclude()
    peer.inbox.acknowledge()
