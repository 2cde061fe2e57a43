"""MS-MQSO 5.1.1.2: the source journal after a restart."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

SYSTEM_JOURNAL_QUEUE = "system$;journal"


@needs("send", "receive", "queue_control", "restart")
@covers("MQSO-5.1.1.2-D12")
def test_journaled_messages_survive_restart(peer, sut, judge):
    """A recoverable and a transactional message with positive journaling are delivered, and are in the journal. They
    are still in the journal after each of two restarts.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-journaled"))
    labels = {f"{delivery} {sut.own}" for delivery in ("recoverable", "transactional")}
    for tag, label in enumerate(sorted(labels), 1):
        sender.send(tag, delivery=label.partition(" ")[0], label=label, journal=["positive"])
    session, frames = sender.await_first_messages(2)
    session.acknowledge_all()
    for frame in frames:
        if frame["UserHeader"].TH:
            session.send(build_order_ack(peer, frame))

    def list_journaled_labels() -> set[str]:
        return labels & {one["label"] for one in sut.read_kept_messages(SYSTEM_JOURNAL_QUEUE)}

    peer.eventually(lambda: "recoverable" in " ".join(list_journaled_labels()))
    peer.settle()
    before = list_journaled_labels()
    recoverable = {label for label in labels if label.startswith("recoverable")}
    journaled = recoverable <= before or ", ".join(sorted(before))
    judge.all(expected=holds("the recoverable message is in the journal"), observed=journaled, evidence=frames)
    for number in (1, 2):
        sut.restart()
        case = f"labels in the journal after restart {number}"
        judge.all(expected=before, observed=before & list_journaled_labels(), evidence=frames, case=case)
