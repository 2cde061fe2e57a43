"""Defines the error that this package raises for all failures except malformed bytes, which raise FormatError."""

from __future__ import annotations


class SecurityError(ValueError):
    """Raised when a message cannot be signed, authenticated, encrypted or decrypted.

    The message text begins with the printed name (``subject``), such as ``MessagePropertiesHeader.HashAlgorithm``,
    and ends with the section, such as ``MS-MQQB 3.1.5.8.3``. The text has one line, and never contains key
    material.
    """

    def __init__(self, subject: str, section: str, message: str) -> None:
        super().__init__(f"{subject}: {message} ({section})")
