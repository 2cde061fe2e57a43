"""The error of this package besides FormatError, which stands for bytes without the printed structure."""

from __future__ import annotations


class SecurityError(ValueError):
    """A failure to sign, authenticate, encrypt or decrypt something.

    It begins with the printed name (``subject``), such as ``MessagePropertiesHeader.HashAlgorithm``, and ends with the
    section, such as ``MS-MQQB 3.1.5.8.3``.
    The message is one line, and never holds key material.
    """

    def __init__(self, subject: str, section: str, message: str) -> None:
        super().__init__(f"{subject}: {message} ({section})")
