"""Convert integers to text for verdicts: counts in decimal digits; flags, handles and codes in hexadecimal digits."""

from __future__ import annotations

import re
from enum import IntEnum

from reference_qm.codec import MessageClass
from reference_qm.security.algorithms import EncryptionAlgorithm, HashAlgorithm

LEAST_NUMBER_SHOWN_IN_HEX = 0x8000_0000
"""The lowest integer that is always printed in hexadecimal digits. Such integers are failure statuses, infinite times
and 64-bit identifiers.
"""
_ENUM_BY_FIELD_NAME: dict[str, type[IntEnum]] = {
    "MessageClass": MessageClass,
    "EncryptionAlgorithm": EncryptionAlgorithm,
    "CryptoAlgorithm": EncryptionAlgorithm,
    "sessionKeyAlgorithm": EncryptionAlgorithm,
    "PreferredAdvancedAlgorithm": EncryptionAlgorithm,
    "PreferredEnhancedAlgorithm": EncryptionAlgorithm,
    "PreferredBaseAlgorithm": EncryptionAlgorithm,
    "HashAlgorithm": HashAlgorithm,
}
"""The names of the codes that a field can contain, by the printed name of the field."""
_FIELDS_SHOWN_IN_HEX = (
    *("VersionNumber", "Signature", "RecoverableMsgAckFlags", "m_SuffixAndFlags", "BodyType", "Cookie", "rights"),
    *("hQueue", "pQueue", "dwQueue", "hRemoteQueue", "hCursor", "dwpContext", "OpenQueueDescriptorHandle", "ulAction"),
    *("HeaderID", "type of property", "queue number"),
)
"""The names of fields whose values are printed in hexadecimal digits: flags, handles, and codes without names."""
_CODE_OR_HEX_FIELD_PATTERN = re.compile(rf"\b(?:{'|'.join([*_ENUM_BY_FIELD_NAME, *_FIELDS_SHOWN_IN_HEX])})\b")
"""Matches a field name from `_ENUM_BY_FIELD_NAME` or `_FIELDS_SHOWN_IN_HEX` inside the name of a value, for example in
``MessageClass of the OrderAck`` or ``BaseHeader.VersionNumber``.
"""


def show_integer(value: int, name: object = "") -> str:
    """Return the text of an integer. ``name`` is the name of the value, which may contain the name of a field. In a
    mapping, ``name`` is the key of the value, which may be a number.
    """
    field = _CODE_OR_HEX_FIELD_PATTERN.search(str(name))
    if field is None:
        return f"0x{value:X}" if value >= LEAST_NUMBER_SHOWN_IN_HEX else str(value)
    codes = _ENUM_BY_FIELD_NAME.get(field[0])
    known = {int(code): code.name.removeprefix("MQMSG_CLASS_") for code in codes} if codes else {}
    digits = f"0x{value:X}" if value > 9 else str(value)
    return f"{digits} ({known[value]})" if value in known else digits
