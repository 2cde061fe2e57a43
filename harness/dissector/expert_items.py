"""Define the expert items of the dissector. Each expert item is a rule that a single packet can break.

Each condition is a Lua expression over the fields of the packet's layers (``base.PR``). The packet keeps the rule if
the condition is true. The passive predicates of ``suites`` judge the same rules, and tests compare the conditions and
the predicates on the same packets.
"""

from __future__ import annotations

from typing import NamedTuple


class ExpertItem(NamedTuple):
    """A rule that the dissector judges, with its condition. The rule applies to packets with all layers that the
    condition reads. ``says``: the sentence of the rule.
    """

    rule: str
    layers: tuple[str, ...]
    condition: str
    says: str


def _list_unused_bit_items(rules: dict[str, str], layer: str) -> list[ExpertItem]:
    return [ExpertItem(rule, (layer,), f"{layer}.{bits} == 0", f"{bits} is 0") for rule, bits in rules.items()]


EXPERT_ITEMS: tuple[ExpertItem, ...] = (
    *_list_unused_bit_items(
        {
            "MQMQ-2.2.19.1-10": "X9",
            "MQMQ-2.2.19.1-11": "X8",
            "MQMQ-2.2.19.1-14": "X6",
            "MQMQ-2.2.19.1-15": "X5",
            "MQMQ-2.2.19.1-16": "X4",
            "MQMQ-2.2.19.1-17": "X3",
            "MQMQ-2.2.19.1-18": "X2",
            "MQMQ-2.2.19.1-19": "X1",
            "MQMQ-2.2.19.1-20": "X0",
        },
        "base",
    ),
    *_list_unused_bit_items(
        {
            "MQMQ-2.2.19.2-12": "X1",
            "MQMQ-2.2.19.2-24": "X2",
            "MQMQ-2.2.19.2-26": "X3",
            "MQMQ-2.2.19.2-28": "X4",
        },
        "user",
    ),
    ExpertItem("MQMQ-2.2.19.1-04", ("base", "transaction"), "base.PR == 0", "PR is 0 if TH is 1"),
    ExpertItem("MQMQ-2.2.19.1-08", ("base", "internal"), "base.DH == 0 or internal.PT > 3", "DH is 0"),
    ExpertItem("MQMQ-2.2.19.1-13", ("base", "user"), "base.TR == 0 or base.DH == 1", "DH is 1 if TR is 1"),
    ExpertItem(
        "MQMQ-2.2.19.1-25",
        ("base", "internal"),
        "base.TimeToReachQueue == 0xFFFFFFFF or internal.PT > 3 or internal.PT == 0",
        "TimeToReachQueue is 0xFFFFFFFF",
    ),
    ExpertItem(
        "MQMQ-2.2.19.2-04",
        ("user",),
        'user.DQ ~= 7 or user.QueueManagerAddress == "00000000-0000-0000-0000-000000000000"',
        "QueueManagerAddress is zero if DQ is 7",
    ),
    ExpertItem("MQMQ-2.2.19.2-08", ("user",), "user.RC <= 0x1D", "RC is at most 0x1D"),
    ExpertItem("MQMQ-2.2.19.2-09", ("user",), "user.DM <= 1", "DM is 0 or 1"),
    ExpertItem("MQMQ-2.2.19.2-20", ("user",), "user.TH == 0 or user.DM ~= 0", "DM is not 0 if TH is 1"),
    ExpertItem("MQMQ-2.2.19.2-25", ("user",), "user.AH == 0", "AH is 0"),
    ExpertItem(
        "MQMQ-2.2.19.3-20",
        ("properties",),
        "one_of(properties.PrivacyLevel, {0, 1, 3, 5})",
        "PrivacyLevel is 0, 1, 3 or 5",
    ),
    ExpertItem(
        "MQMQ-2.2.19.3-24",
        ("properties",),
        "one_of(properties.EncryptionAlgorithm, {0x6602, 0x6801, 0x660E, 0x660F, 0x6610})",
        "EncryptionAlgorithm is RC2, RC4 or AES",
    ),
    ExpertItem(
        "MQMQ-2.2.19.3-26",
        ("properties",),
        "(not one_of(properties.PrivacyLevel, {1, 3}) or one_of(properties.EncryptionAlgorithm, {0x6602, 0x6801}))"
        " and (properties.PrivacyLevel ~= 5 or one_of(properties.EncryptionAlgorithm, {0x660E, 0x660F, 0x6610}))",
        "EncryptionAlgorithm is permitted for the PrivacyLevel",
    ),
    ExpertItem("MQQB-2.2.1-02", ("internal",), "internal.PT >= 1 and internal.PT <= 3", "PT is 1, 2 or 3"),
    ExpertItem("MQQB-2.2.1-04", ("internal", "session"), "internal.CS == 0", "CS is 0"),
)
