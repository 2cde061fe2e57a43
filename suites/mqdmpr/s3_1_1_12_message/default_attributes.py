"""The default values of the attributes of a message, as its packet shows them. Spec: MS-MQDMPR 3.1.1.12."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.capture.recorder import Frame
from harness.judging.judge import Judge
from suites.mqmq.steps.layout import ABSENT_FIELD, Layout

BASE, USER, PROPERTIES, SECURITY = "BaseHeader.", "UserHeader.", "MessagePropertiesHeader.", "SecurityHeader."
FOREVER, FOUR_DAYS_S = 0xFFFF_FFFF, 0x5_4600
RC4_ALGORITHM = 0x6801
SENDER_TYPE_SID = 1
SID_REVISION, SID_HEAD, SUBAUTHORITY = 1, 8, 4

DEFAULT_FIELDS: dict[str, dict[str, Any]] = {
    "MQDMPR-3.1.1.12-19": {f"{USER}Flags.DM": 0, f"{USER}Flags.TH": 0},
    "MQDMPR-3.1.1.12-47": {f"{BASE}TimeToReachQueue": FOUR_DAYS_S},
    "MQDMPR-3.1.1.12-49": {f"{PROPERTIES}EncryptionAlgorithm": RC4_ALGORITHM},
    "MQDMPR-3.1.1.12-D05": {f"{PROPERTIES}MessageClass": 0},
    "MQDMPR-3.1.1.12-D28": {f"{PROPERTIES}MessageClass": 0},
    "MQDMPR-3.1.1.12-D29": {f"{PROPERTIES}PrivacyLevel": 0},
    "MQDMPR-3.1.1.12-D30": {f"{SECURITY}Signature": ABSENT_FIELD, f"{USER}Flags.MQ": 0},
    "MQDMPR-3.1.1.12-D31": {f"{BASE}Flags.TR": 0},
    "MQDMPR-3.1.1.12-D32": {"DebugHeader.QueueIdentifier": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D33": {f"{USER}Flags.JP": 0},
    "MQDMPR-3.1.1.12-D34": {f"{USER}Flags.JN": 0},
    "MQDMPR-3.1.1.12-D35": {f"{USER}Flags.RQ": 0, f"{USER}ResponseQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D36": {f"{USER}Flags.AQ": 0, f"{USER}AdminQueue": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D37": {f"{PROPERTIES}Flags.{bit}": 0 for bit in ("PA", "PR", "NA", "NR")},
    "MQDMPR-3.1.1.12-D38": {f"{PROPERTIES}ApplicationTag": 0},
    "MQDMPR-3.1.1.12-D39": {f"{PROPERTIES}MessageSize": 0, f"{PROPERTIES}MessageBody": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D40": {f"{PROPERTIES}BodyType": 0},
    "MQDMPR-3.1.1.12-D41": {"label": ""},
    "MQDMPR-3.1.1.12-D42": {f"{USER}TimeToBeReceived": FOREVER},
    "MQDMPR-3.1.1.12-D44": {f"{PROPERTIES}ExtensionSize": 0, f"{PROPERTIES}ExtensionData": ABSENT_FIELD},
    "MQDMPR-3.1.1.12-D45": {f"{USER}Flags.CQ": 0},
    "MQDMPR-3.1.1.12-D47": {f"{PROPERTIES}CorrelationID": bytes(20).hex()},
    "MQDMPR-3.1.1.12-D48": {f"{BASE}Flags.PR": 3},
}
"""For each rule, the fields of the packet, with their default values."""
DEFAULTS_OF_EACH_DELIVERY = tuple(
    rule for rule in DEFAULT_FIELDS if rule not in ("MQDMPR-3.1.1.12-19", "MQDMPR-3.1.1.12-D48")
)
"""The rules whose defaults do not depend on the delivery."""


def judge_defaults(judge: Judge, frame: Frame, rules: Iterable[str]) -> None:
    """Judge the rules about the defaults of the fields of a packet."""
    layout = Layout(frame)
    label = str(layout.fields.get(f"{PROPERTIES}Label", "")).rstrip("\0")
    for rule in rules:
        default = DEFAULT_FIELDS[rule]
        observed = layout.of(*default) | ({"label": label} if "label" in default else {})
        judge(rule, expected=default, observed=observed, evidence=frame)


def is_sid(text: str) -> bool:
    """Return whether bytes, given in hexadecimal, are a SID with a correct subauthority count (MS-DTYP 2.4.2.2)."""
    value = b"" if text == ABSENT_FIELD else bytes.fromhex(text)
    return len(value) > SID_HEAD and value[0] == SID_REVISION and len(value) == SID_HEAD + SUBAUTHORITY * value[1]
