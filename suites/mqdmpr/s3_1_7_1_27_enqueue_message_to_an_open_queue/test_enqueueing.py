"""MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue: what who sends learns, and what each queue gets."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome
from suites.mqqb.steps.sender import Sender, tags

QUOTA_KB = 4
LITTLE, TOO_MUCH = "x" * 64, "x" * 16_384


def count_at(peer, sut, queue, label):
    """Wait for a message to come into a queue of the SUT; return how often it is there."""
    peer.eventually(lambda: label in sut.labels(queue))
    return sut.labels(queue).count(label)


@needs("send")
@covers("MQDMPR-3.1.7.1.27-04")
def test_a_message_for_one_queue_is_put_there_once(peer, sut, judge):
    """A message that is sent to one queue is put into it once."""
    sender = Sender(peer, sut, peer.direct_name("mqc-once"))
    sender.send(1, 2)
    session = sender.session()
    came = sender.collect_all(session, 2)
    judge("MQDMPR-3.1.7.1.27-04", expected=[1, 2], observed=tags(came), evidence=came)
    sender.acknowledge_all(session)


@needs("send", "queue_control", "receive")
@covers("MQDMPR-3.1.7.1.27-08")
def test_who_sends_to_one_queue_learns_whether_it_takes_the_message(peer, sut, judge):
    """Who sends to one queue learns whether the queue has room for the message."""
    queue = sut.new_queue("small", quota_kb=QUOTA_KB)
    answers = {
        label: sut.attempt("send", to=sut.direct_name(queue), label=label, body=body)
        for label, body in (("fits", LITTLE), ("does not fit", TOO_MUCH))
    }
    there = [label for label in answers if count_at(peer, sut, queue, label)]
    judge(
        "MQDMPR-3.1.7.1.27-08",
        expected={"fits": Outcome.DONE, "does not fit": Outcome.REFUSED, "queue": ["fits"]},
        observed={**answers, "queue": there},
    )


@needs("send", "queue_control", "receive", "several_queues")
@covers("MQDMPR-3.1.7.1.27-18", "MQDMPR-3.1.7.1.27-19")
def test_who_sends_to_several_queues_learns_whether_all_take_their_copies(peer, sut, judge):
    """Who sends to several queues learns whether all have room; none behind one without room gets a copy."""
    queues = [sut.new_queue(f"several-{quota}", quota_kb=quota) for quota in (64, QUOTA_KB, 65)]
    to = ",".join(sut.direct_name(queue) for queue in queues)
    refused = sut.attempt("send", to=to, label="too much", body=TOO_MUCH)
    taken = sut.attempt("send", to=to, label="little", body=LITTLE)
    copies = [count_at(peer, sut, queue, "little") for queue in queues]
    too_many = [sut.labels(queue).count("too much") for queue in queues[1:]]
    judge(
        "MQDMPR-3.1.7.1.27-18",
        expected={"send": Outcome.REFUSED, "copies": [0, 0]},
        observed={"send": refused, "copies": too_many},
    )
    judge(
        "MQDMPR-3.1.7.1.27-19",
        expected={"send": Outcome.DONE, "copies": [1, 1, 1]},
        observed={"send": taken, "copies": copies},
    )
