"""List the bits and fields of received packets that the system must ignore, and choose some of them at random."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random

RULE_BY_UNUSED_BASE_HEADER_FIELD: Mapping[str, str] = {
    "base.X9": "MQMQ-2.2.19.1-10",
    "base.X8": "MQMQ-2.2.19.1-11",
    "base.X6": "MQMQ-2.2.19.1-14",
    "base.X5": "MQMQ-2.2.19.1-15",
    "base.X4": "MQMQ-2.2.19.1-16",
    "base.X3": "MQMQ-2.2.19.1-17",
    "base.X2": "MQMQ-2.2.19.1-18",
    "base.X1": "MQMQ-2.2.19.1-19",
    "base.X0": "MQMQ-2.2.19.1-20",
}
"""The rule about each unused bit of BaseHeader.Flags."""
RULE_BY_UNUSED_INTERNAL_HEADER_FIELD: Mapping[str, str] = {
    "internal.Reserved": "MQQB-2.2.1-01",
    "internal.X5": "MQQB-2.2.1-07",
    "internal.X6": "MQQB-2.2.1-08",
    "internal.X7": "MQQB-2.2.1-09",
    "internal.X8": "MQQB-2.2.1-10",
    "internal.X9": "MQQB-2.2.1-11",
    "internal.X10": "MQQB-2.2.1-12",
    "internal.X11": "MQQB-2.2.1-13",
    "internal.X12": "MQQB-2.2.1-14",
    "internal.X13": "MQQB-2.2.1-15",
    "internal.X14": "MQQB-2.2.1-16",
    "internal.X15": "MQQB-2.2.1-17",
}
"""The rule about each unused bit, and about the unused field, of the InternalHeader."""
RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD: Mapping[str, str] = {
    "establish.Reserved": "MQQB-2.2.3.1-14",
    "establish.X11": "MQQB-2.2.3.1-09",
    "establish.X12": "MQQB-2.2.3.1-10",
    "establish.X13": "MQQB-2.2.3.1-11",
    "establish.X14": "MQQB-2.2.3.1-12",
    "establish.X15": "MQQB-2.2.3.1-13",
}
RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD: Mapping[str, str] = {
    "parameters.Reserved": "MQQB-2.2.2.1-01",
}
RULE_BY_UNUSED_USER_MESSAGE_FIELD: Mapping[str, str] = {
    "user.X1": "MQMQ-2.2.19.2-12",
    "user.X2": "MQMQ-2.2.19.2-24",
    "user.X3": "MQMQ-2.2.19.2-26",
    "user.X4": "MQMQ-2.2.19.2-28",
    "properties.X4": "MQMQ-2.2.19.3-05",
    "properties.X5": "MQMQ-2.2.19.3-06",
    "properties.X6": "MQMQ-2.2.19.3-07",
    "properties.X7": "MQMQ-2.2.19.3-08",
}
"""The rule about each unused bit of the UserHeader and of the MessagePropertiesHeader."""
RULE_BY_UNUSED_TRANSACTION_HEADER_FIELD: Mapping[str, str] = {
    "transaction.X1": "MQMQ-2.2.20.5-08",
    "transaction.X2": "MQMQ-2.2.20.5-09",
    "transaction.X3": "MQMQ-2.2.20.5-10",
    "transaction.X4": "MQMQ-2.2.20.5-11",
    "transaction.X5": "MQMQ-2.2.20.5-12",
    "transaction.X6": "MQMQ-2.2.20.5-13",
    "transaction.X7": "MQMQ-2.2.20.5-14",
    "transaction.X8": "MQMQ-2.2.20.5-15",
}
"""The rule about each unused bit of TransactionHeader.Flags. E31 also permits a system to close the session."""
RULE_BY_UNUSED_PING_FIELD: Mapping[str, str] = {
    "X2": "MQQB-2.2.7-06",
    "X3": "MQQB-2.2.7-07",
    "X4": "MQQB-2.2.7-08",
    "X5": "MQQB-2.2.7-09",
    "X6": "MQQB-2.2.7-10",
    "X7": "MQQB-2.2.7-11",
    "X8": "MQQB-2.2.7-12",
    "X9": "MQQB-2.2.7-13",
    "X10": "MQQB-2.2.7-14",
    "X11": "MQQB-2.2.7-15",
    "X12": "MQQB-2.2.7-16",
    "X13": "MQQB-2.2.7-17",
    "X14": "MQQB-2.2.7-18",
    "X15": "MQQB-2.2.7-19",
}
"""The rule about each unused bit of Flags in a Ping Packet."""
_RULE_BY_UNUSED_FIELD: Mapping[str, str] = {
    **RULE_BY_UNUSED_BASE_HEADER_FIELD,
    **RULE_BY_UNUSED_INTERNAL_HEADER_FIELD,
    **RULE_BY_UNUSED_ESTABLISH_CONNECTION_FIELD,
    **RULE_BY_UNUSED_CONNECTION_PARAMETERS_FIELD,
    **RULE_BY_UNUSED_USER_MESSAGE_FIELD,
    **RULE_BY_UNUSED_TRANSACTION_HEADER_FIELD,
    **RULE_BY_UNUSED_PING_FIELD,
}


def draw_unused_fields(chance: Random, *groups: Mapping[str, str]) -> list[str]:
    """Choose at random the unused bits and fields that the peer sets in a packet, and return their names."""
    drawn = [chance.choice(list(chance.choice(groups))) for _ in range(chance.choice((0, 0, 1, 2)))]
    return sorted(set(drawn))


def list_rules_about_unused_fields(names: Iterable[str]) -> list[str]:
    """Return the rules about the given unused bits and fields."""
    return [_RULE_BY_UNUSED_FIELD[name] for name in names]
