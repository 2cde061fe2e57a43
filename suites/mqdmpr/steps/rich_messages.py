"""Steps that checks of read, moved and restored messages share: they build and compare messages in which every property
differs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from harness.errors import ConformanceFailure
from harness.peer.party import NO_CHANGED_FIELDS
from suites.applications import Application

HOUR_S = 3_600
PROPERTIES_CHANGED_BY_MOVE_TO_QUEUE = ("lookup_id",)
"""The properties that belong to the place of a message in a queue."""


def build_message_with_all_properties(
    application: Application, label: str, number: int, user: Mapping[str, Any] = NO_CHANGED_FIELDS, **base: Any
) -> Any:
    """Build a message to an application's queue; each property depends on the number and differs from its default.
    ``base``: fields of BaseHeader.
    """
    address = application.peer.address
    queues = {
        "AdminQueue": rf"TCP:{address}\private$\mqc-acks-{number}",
        "ResponseQueue": rf"TCP:{address}\private$\mqc-responses-{number}",
    }
    lifetimes = {"TimeToBeReceived": 2 * HOUR_S + number, "JN": number & 1, "JP": number >> 1 & 1}
    return application.build_message(
        label,
        {**queues, **lifetimes, **user},
        base={"TimeToReachQueue": HOUR_S + number, **base},
        properties={
            "ApplicationTag": 0x8000_0000 | number,
            "BodyType": 8 + number,
            "CorrelationID": bytes(range(number, number + 20)),
            "ExtensionData": bytes([number, 0, 0xFF]) * number,
            "NA": 1,
            "NR": number & 1,
        },
        body=bytes([number, 0]) * (100 * number + 1),
    )


def store_messages_with_all_properties(
    application: Application, labels: Iterable[str], priorities: Iterable[int] = ()
) -> Any:
    """Let the peer send messages in which every property differs from its default to an application's queue; return the
    packets, by label. Raise ConformanceFailure if the messages do not arrive. ``priorities``: the priorities of the
    first messages, for a nontransactional queue.
    """
    labels, chosen = [*labels], [*priorities]
    before, connection = len(application.labels()), application.peer.open_raw()
    packets = {}
    for number, label in enumerate(labels, start=1):
        base: dict[str, Any] = {"PR": chosen[number - 1]} if number <= len(chosen) else {}
        packets[label] = connection.send(build_message_with_all_properties(application, label, number, **base))
    if not application.await_message_count(before + len(labels)):
        raise ConformanceFailure("the SUT did not store the messages")
    connection.close()
    return packets


def map_properties_by_label(
    messages: Iterable[Mapping[str, Any]], but: Collection[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return those properties of messages that must not change, by label."""
    return {
        one["label"]: {name: one[name] for name in one if name not in (*PROPERTIES_CHANGED_BY_MOVE_TO_QUEUE, *but)}
        for one in messages
    }


def list_changed_properties(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the labels of the changed messages, each with the names of the changed properties; a missing message has
    no properties.
    """
    return [
        f"{label}: {name}"
        for label, properties in before.items()
        for name, value in properties.items()
        if label not in after or after[label].get(name) != value
    ]
