"""Steps that put the SUT into hardened security mode (MS-MQDMPR 3.1.1.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.sut.sut import Sut

HARDENED_SECURITY_SETTING_NAME = "hardened_security"


def has_hardened_security_setting(sut: Sut) -> bool:
    """Return whether the SUT shows the setting, so that a check can change it."""
    return HARDENED_SECURITY_SETTING_NAME in sut.control.call("configure")


@contextmanager
def harden_security(sut: Sut) -> Iterator[None]:
    """Set hardened security mode, which takes effect at the next restart; clear it at the end."""
    sut.configure(hardened_security=True)
    try:
        yield
    finally:
        sut.configure(hardened_security=False)
        sut.restart()
