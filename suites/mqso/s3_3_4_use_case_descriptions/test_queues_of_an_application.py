"""MS-MQSO 3.3.4.1 Create or Modify Queue, 3.3.4.2 Query Queue Information, 3.3.4.3 Send Message, 3.3.4.6 Receive
Message.
"""

from __future__ import annotations

from harness.expectations import facts, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from suites.applications import Application

SHOWN_PROPERTIES = ("label", "journaling", "quota_kb", "journal_quota_kb", "base_priority", "count", "bytes")
FIRST_PROPERTIES = {"label": "first", "journaling": True, "quota_kb": 64, "base_priority": 3}
LONG_LABEL = "l" * 125
"""A label with one character more than a queue's label may have in Windows."""
OTHER_PROPERTIES = {"label": "other", "journaling": False, "quota_kb": 32, "base_priority": -3}


@needs("queue_control")
@covers("MQSO-3.3.4.1-D01")
def test_queue_is_created_and_changed_as_requested_or_unchanged(sut, judge):
    """A queue has the properties that its creator set, and later the changed properties. The SUT refuses to create the
    queue again and to change a missing queue, and these requests change nothing.
    """
    name = sut.new_queue("made", **FIRST_PROPERTIES)
    missing = f"private$\\mqc-{sut.own}-missing"

    def read_properties() -> dict[str, object]:
        properties = sut.control.call("get_queue", name=name)
        return {key: properties[key] for key in FIRST_PROPERTIES}

    steps = (
        (
            "creation of an existing queue",
            "create_queue",
            {"name": name, **OTHER_PROPERTIES},
            Outcome.REFUSED,
            FIRST_PROPERTIES,
        ),
        (
            "change of a missing queue",
            "set_queue",
            {"name": missing, **OTHER_PROPERTIES},
            Outcome.REFUSED,
            FIRST_PROPERTIES,
        ),
    )
    judge("MQSO-3.3.4.1-D01", expected=FIRST_PROPERTIES, observed=read_properties())
    for step, verb, arguments, outcome, expected_state in steps:
        answer = sut.attempt(verb, **arguments)
        expected = facts(outcome=outcome, properties_of_the_queue=expected_state)
        judge.all(
            expected=expected, observed={"outcome": answer, "properties_of_the_queue": read_properties()}, case=step
        )
    long_label = {**OTHER_PROPERTIES, "label": LONG_LABEL}
    is_accepted = sut.attempt("set_queue", name=name, **long_label) == Outcome.DONE
    judge.all(
        expected=long_label if is_accepted else FIRST_PROPERTIES,
        observed=read_properties(),
        case="change with a long label, which a system may refuse",
    )
    answer = sut.attempt("set_queue", name=name, **OTHER_PROPERTIES)
    expected = facts(outcome=Outcome.DONE, properties_of_the_queue=OTHER_PROPERTIES)
    judge.all(
        expected=expected,
        observed={"outcome": answer, "properties_of_the_queue": read_properties()},
        case="change of the queue",
    )
    listed_names = [one["name"] for one in sut.control.call("list")["queues"] if one["name"] == missing]
    judge.all(expected=none("queue with the name of the missing queue"), observed=listed_names)


@needs("queue_control", "send", "receive")
@covers("MQSO-3.3.4.2-D01")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_queries_change_nothing(sut, judge):
    """Three queries of a queue's properties, labels and message count return the same result."""
    queue = sut.new_queue("asked")
    sut.send_here(queue, ["one", "two"], delivery="recoverable")

    def read_answers() -> dict[str, object]:
        shown_properties = sut.control.call("get_queue", name=queue)
        listed = [one["count"] for one in sut.control.call("list")["queues"] if one["name"] == queue]
        properties = {key: shown_properties[key] for key in SHOWN_PROPERTIES if key in shown_properties}
        return {"properties": properties, "labels": sut.labels(queue), "message_counts": listed, **read_times()}

    def read_times() -> dict[str, object]:
        if not sut.has("inspect"):
            return {}
        shown = next(one for one in sut.inspect_queue_manager()["QueueCollection"] if one["Pathname"] == queue)
        return {time: shown.get(time) for time in ("CreateTime", "ModifyTime")}

    first_answers = read_answers()
    observed = {name: first_answers[name] for name in ("labels", "message_counts")}
    judge.all(expected=facts(labels=["one", "two"], message_counts=[2]), observed=observed)
    sut.environment.run_until(lambda: False, 2_000)
    for _ in range(3):
        judge("MQSO-3.3.4.2-D01", expected=first_answers, observed=read_answers())


@needs("send", "receive", "queues")
@covers("MQSO-3.3.4.3-D01", "MQSO-3.3.4.3-D02", "MQSO-5.1.1.3-01")
@varied("priority", "response queue", "time to be received", "time to reach queue", "application tag")
def test_accepted_messages_are_stored_refused_one_is_not(sut, judge):
    """Two messages that are sent outside a transaction are in the queue; a message that exceeds the quota is refused
    and not stored.
    """
    queue = sut.new_queue("states", quota_kb=8)
    sut.send_here(queue, ["express"])
    sut.send_here(queue, ["recoverable"], delivery="recoverable")
    lost = sut.attempt(sut.send, sut.direct_name(queue), label="too much", body="x" * 10_000)
    judge(
        "MQSO-5.1.1.3-01",
        "MQSO-3.3.4.3-D01",
        "MQSO-3.3.4.3-D02",
        expected=facts(
            send_of_a_message_over_the_quota=Outcome.REFUSED, labels_in_the_queue=["express", "recoverable"]
        ),
        observed={"send_of_a_message_over_the_quota": lost, "labels_in_the_queue": sut.labels(queue)},
    )


@needs("receive", "queues")
@covers("MQSO-3.3.4.6-D02", "MQSO-5.1.1.3-D06")
@varied("priority", "response queue", "time to be received", "time to reach queue", "application tag")
def test_received_message_is_removed_from_its_queue(peer, sut, judge):
    """Two messages are received once each: the queue is empty afterwards, and a third read returns nothing."""
    application = Application(peer, sut)
    application.store("first", "second")
    labels = [sut.read_label("receive", queue=application.queue) for _ in range(3)]
    judge.all(expected=["first", "second", Outcome.NOTHING], observed=labels, case="labels returned by the reads")
    judge.all(expected=in_queue(), observed=application.labels())
