"""MS-MQSO 5.1.1.3: expired messages that name a dead-letter queue of the application."""

from __future__ import annotations

from harness.expectations import facts, none
from harness.run.marks import covers, needs

SYSTEM_DEAD_LETTER_QUEUES = ("system$;deadletter", "system$;deadxact")
SHORT_LIFETIME_S = 2
DELIVERY_MODES = ("express", "recoverable", "transactional")


@needs("send", "receive", "queue_control")
@covers("MQSO-5.1.1.3-D08", "MQDMPR-3.1.1.12-26")
def test_named_dead_letter_queue_is_used_only_on_request(peer, sut, judge):
    """Six messages name a dead-letter queue of the application, and expire unsent. Only those with negative journaling
    become dead letters, in the named queue or in a system queue.
    """
    to = peer.direct_name("mqc-named")
    queues = {
        delivery: sut.new_queue(f"dead-{delivery}", transactional=delivery == "transactional")
        for delivery in DELIVERY_MODES
    }
    for delivery, queue in queues.items():
        for journal in ([], ["negative"]):
            label = " ".join([sut.own, delivery, *journal])
            lost = {"time_to_reach_queue_s": SHORT_LIFETIME_S, "dead_letter_queue": queue}
            sut.send(to, label=label, body=label, delivery=delivery, journal=journal, **lost)

    def list_dead_letters() -> list[str]:
        kept = [one["label"] for name in SYSTEM_DEAD_LETTER_QUEUES for one in sut.read_kept_messages(name)]
        named = [label for queue in queues.values() for label in sut.labels(queue)]
        return [label for label in (*kept, *named) if label.startswith(f"{sut.own} ")]

    peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    requested = {f"{sut.own} {delivery} negative" for delivery in DELIVERY_MODES}
    peer.eventually(lambda: requested <= set(list_dead_letters()))
    peer.settle()
    dead = list_dead_letters()
    not_requested = [label for label in dead if label not in requested]
    judge(
        "MQSO-5.1.1.3-D08",
        expected=facts(requested=requested, not_requested=[]),
        observed={"requested": requested & set(dead), "not_requested": not_requested},
        case="dead letters",
    )
    judge("MQDMPR-3.1.1.12-26", expected=none("dead letter without negative journaling"), observed=not_requested)
