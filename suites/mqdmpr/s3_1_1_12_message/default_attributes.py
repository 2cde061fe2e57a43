"""The default values of the attributes of a message, as its packet shows them. Spec: MS-MQDMPR 3.1.1.12."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.capture.recorder import Frame
from harness.judging.judge import Judge
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout

BASE_HEADER_PREFIX, USER_HEADER_PREFIX, PROPERTIES_HEADER_PREFIX, SECURITY_HEADER_PREFIX = (
    "BaseHeader.",
    "UserHeader.",
    "MessagePropertiesHeader.",
    "SecurityHeader.",
)
INFINITE_LIFETIME_S, FOUR_DAYS_S = 0xFFFF_FFFF, 0x5_4600
RC4_ALGORITHM = 0x6801
SENDER_TYPE_SID = 1
SID_REVISION, SID_FIXED_BYTES, SUBAUTHORITY_BYTES = 1, 8, 4

DEFAULT_FIELDS_BY_RULE: dict[str, dict[str, Any]] = {
    "MQDMPR-3.1.1.12-19": {f"{USER_HEADER_PREFIX}Flags.DM": 0, f"{USER_HEADER_PREFIX}Flags.TH": 0},
    "MQDMPR-3.1.1.12-47": {f"{BASE_HEADER_PREFIX}TimeToReachQueue": FOUR_DAYS_S},
    "MQDMPR-3.1.1.12-49": {f"{PROPERTIES_HEADER_PREFIX}EncryptionAlgorithm": RC4_ALGORITHM},
    "MQDMPR-3.1.1.12-D05": {f"{PROPERTIES_HEADER_PREFIX}MessageClass": 0},
    "MQDMPR-3.1.1.12-D28": {f"{PROPERTIES_HEADER_PREFIX}MessageClass": 0},
    "MQDMPR-3.1.1.12-D29": {f"{PROPERTIES_HEADER_PREFIX}PrivacyLevel": 0},
    "MQDMPR-3.1.1.12-D30": {f"{SECURITY_HEADER_PREFIX}Signature": ABSENT_FIELD, f"{USER_HEADER_PREFIX}Flags.MQ": 0},
    "MQDMPR-3.1.1.12-D31": {f"{BASE_HEADER_PREFIX}Flags.TR": 0},
    "MQDMPR-3.1.1.12-D32": {"DebugHeader.QueueIdentifier": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D33": {f"{USER_HEADER_PREFIX}Flags.JP": 0},
    "MQDMPR-3.1.1.12-D34": {f"{USER_HEADER_PREFIX}Flags.JN": 0},
    "MQDMPR-3.1.1.12-D35": {f"{USER_HEADER_PREFIX}Flags.RQ": 0, f"{USER_HEADER_PREFIX}ResponseQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D36": {f"{USER_HEADER_PREFIX}Flags.AQ": 0, f"{USER_HEADER_PREFIX}AdminQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D37": {f"{PROPERTIES_HEADER_PREFIX}Flags.{bit}": 0 for bit in ("PA", "PR", "NA", "NR")},
    "MQDMPR-3.1.1.12-D38": {f"{PROPERTIES_HEADER_PREFIX}ApplicationTag": 0},
    "MQDMPR-3.1.1.12-D39": {
        f"{PROPERTIES_HEADER_PREFIX}MessageSize": 0,
        f"{PROPERTIES_HEADER_PREFIX}MessageBody": ABSENT_FIELD,
    },
    "MQDMPR-3.1.1.12-D40": {f"{PROPERTIES_HEADER_PREFIX}BodyType": 0},
    "MQDMPR-3.1.1.12-D41": {"label": ""},
    "MQDMPR-3.1.1.12-D42": {f"{USER_HEADER_PREFIX}TimeToBeReceived": INFINITE_LIFETIME_S},
    "MQDMPR-3.1.1.12-D44": {
        f"{PROPERTIES_HEADER_PREFIX}ExtensionSize": 0,
        f"{PROPERTIES_HEADER_PREFIX}ExtensionData": ABSENT_FIELD,
    },
    "MQDMPR-3.1.1.12-D45": {f"{USER_HEADER_PREFIX}Flags.CQ": 0},
    "MQDMPR-3.1.1.12-D47": {f"{PROPERTIES_HEADER_PREFIX}CorrelationID": bytes(20).hex()},
    "MQDMPR-3.1.1.12-D48": {f"{BASE_HEADER_PREFIX}Flags.PR": 3},
}
"""For each rule, the fields of the packet, with their default values."""
DEFAULT_RULES_FOR_EVERY_DELIVERY_MODE = tuple(
    rule for rule in DEFAULT_FIELDS_BY_RULE if rule not in ("MQDMPR-3.1.1.12-19", "MQDMPR-3.1.1.12-D48")
)
"""The rules whose defaults do not depend on the delivery mode."""


def judge_default_fields(judge: Judge, frame: Frame, rules: Iterable[str]) -> None:
    """Judge the rules about the defaults of the fields of a packet."""
    layout = Layout(frame)
    label = str(layout.fields.get(f"{PROPERTIES_HEADER_PREFIX}Label", "")).rstrip("\0")
    for rule in rules:
        default = DEFAULT_FIELDS_BY_RULE[rule]
        observed = layout.of(*default) | ({"label": label} if "label" in default else {})
        judge(rule, expected=default, observed=observed, evidence=frame)


def is_sid(text: str) -> bool:
    """Return whether bytes, given in hexadecimal, are a SID with a correct subauthority count (MS-DTYP 2.4.2.2)."""
    value = b"" if text == ABSENT_FIELD else bytes.fromhex(text)
    return (
        len(value) > SID_FIXED_BYTES
        and value[0] == SID_REVISION
        and len(value) == SID_FIXED_BYTES + SUBAUTHORITY_BYTES * value[1]
    )
