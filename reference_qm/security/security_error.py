"""The error of this package besides FormatError, which stands for bytes without the printed structure."""

from __future__ import annotations


class SecurityError(ValueError):
    """A failure to sign, authenticate, encrypt or decrypt something.

    ``subject``: the printed name, ``MessagePropertiesHeader.HashAlgorithm``. ``section``: ``MS-MQQB 3.1.5.8.3``.
    ``message``: one line. It never holds key material.
    """

    def __init__(self, subject: str, section: str, message: str) -> None:
        super().__init__(f"{subject}: {message} ({section})")
