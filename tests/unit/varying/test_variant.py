"""A row applied to messages and requests: the row provides the values that the check does not set."""

from __future__ import annotations

from harness.varying.variant import VARIANT_WITHOUT_CHANGES, RowVariant

OWN = {"destination": "TCP:sut", "user": {"MessageID": 7, "SourceQueueManager": "peer"}, "body": b"own"}


def test_varied_row_replaces_defaults_but_no_given_values() -> None:
    row = RowVariant({"priority": "7", "positive journaling": "yes", "negative journaling": "yes", "body": "empty"})
    made = row.add_to_packet(OWN, {"user": {"JN": 0}, "label": "x"})
    assert made["base"] == {"PR": 7}
    assert made["user"] == {"MessageID": 7, "SourceQueueManager": "peer", "JP": 1, "JN": 0}
    assert (made["body"], made["label"]) == (b"", "x")
    assert row.applied == {"priority", "positive journaling", "body"}


def test_varied_row_extends_lists_of_a_request() -> None:
    row = RowVariant(
        {"positive journaling": "yes", "negative journaling": "yes", "acknowledgments": "of arrival"}, peer="::1"
    )
    made = row.add_to_request("send", {"to": "here"})
    assert sorted(made["journal"]) == ["negative", "positive"]
    assert made["admin_queue"] == "DIRECT=TCP:::1\\private$\\mqc-acks"


def test_value_given_in_a_request_is_not_varied() -> None:
    row = RowVariant({"priority": "7", "queue journaling": "yes"})
    assert row.add_to_request("send", {"priority": 1}) == {"priority": 1}
    assert row.add_to_request("create_queue", {"name": r"private$\q;sub"}) == {"name": r"private$\q;sub"}
    assert row.add_to_request("purge", {"queue": "q"}) == {"queue": "q"}
    assert row.applied == set()


def test_plain_varied_row_leaves_request_unchanged() -> None:
    given = {"user": {"DM": 1}, "label": "x"}
    assert VARIANT_WITHOUT_CHANGES.add_to_packet(OWN, given) == {
        **OWN,
        "label": "x",
        "user": {"MessageID": 7, "SourceQueueManager": "peer", "DM": 1},
    }
    assert VARIANT_WITHOUT_CHANGES.add_to_request("send", {"to": "here"}) == {"to": "here"}
