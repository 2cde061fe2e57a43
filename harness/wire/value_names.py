"""Add the names of message classes and statuses to the texts of verdicts. Spec: MS-MQMQ 2.2.18.1.6, 2.4; MS-MQDMPR
3.1.1.12, 3.1.7.1.32.
"""

from __future__ import annotations

import re

from harness.wire.rpc_status import RETURN_VALUE_NAMES

MESSAGE_CLASS_NAMES = {
    0x0000: "Normal",
    0x0001: "Report",
    0x0002: "AckReachQueue",
    0x00FF: "OrderAck",
    0x4000: "AckReceive",
    0x8000: "NackBadDestQueue",
    0x8001: "NackPurged",
    0x8002: "NackReachQueueTimeout",
    0x8003: "NackQueueExceedQuota",
    0x8004: "NackAccessDenied",
    0x8005: "NackHopCountExceeded",
    0x8006: "NackBadSignature",
    0x8007: "NackBadEncryption",
    0x8009: "NackNotTransactionalQueue",
    0x800A: "NackNotTransactionalMessage",
    0x800B: "NackUnsupportedCryptoProvider",
    0xC000: "NackQueueDeleted",
    0xC001: "NackQueuePurged",
    0xC002: "NackReceiveTimeout",
    0xC004: "NackReceiveRejected",
}
"""The name of each message class in MS-MQDMPR (MESSAGE_CLASS_VALUES), by value. That list has no name for 0x00FF,
which MS-MQMQ calls ORDER_ACK.
"""

_CLASS_NUMBER_PATTERN = re.compile(r"(?:(?<=')|(?<=FinalAck )|(?<=MessageClass is ))0x([0-9A-F]{4})(?![0-9A-Za-z])")
"""Matches a message class in the text of a check: an item of a list, or a number after the name of its field. The
same number after the name of another field does not match.
"""
_STATUS_NUMBER_PATTERN = re.compile(r"(?<![0-9A-Za-z])0x([0-9A-Fa-f]{8})(?![0-9A-Za-z])")
_LIST_ITEM_PATTERN = r"'[^'\\]*'"
_LIST_PATTERN = re.compile(rf"\[(?:{_LIST_ITEM_PATTERN}(?:, {_LIST_ITEM_PATTERN})*)?\]")


def with_names(text: str) -> str:
    """Return a text in which the name of each message class and status is added, and lists of words have a readable
    form.
    """
    if "0x" in text:
        text = _STATUS_NUMBER_PATTERN.sub(
            lambda found: _add_name_after_number(found, RETURN_VALUE_NAMES),
            _CLASS_NUMBER_PATTERN.sub(lambda one: _add_name_after_number(one, MESSAGE_CLASS_NAMES), text),
        )
    if _LIST_PATTERN.fullmatch(text):
        return ", ".join(re.findall(r"'([^']*)'", text)) or "nothing"
    return text


def _add_name_after_number(found: re.Match[str], names: dict[int, str]) -> str:
    name = names.get(int(found[1], 16)) if int(found[1], 16) or names is MESSAGE_CLASS_NAMES else None
    return f"{found[0]} {name}" if name else found[0]
