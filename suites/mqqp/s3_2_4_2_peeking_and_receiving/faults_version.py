"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6: by which version the method is chosen."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, Version
from reference_qm.core.remote.client_steps import RemoteError, Sequence


@fault(
    "remote-read-version-not-asked",
    breaks=("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01"),
)
class VersionNotAsked(ClientReading):
    """RemoteQmGetVersion is not called."""

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        yield from ()
        return Version(6, 1, 7600)


def _old_when(test: Callable[[Version], bool]) -> Install:
    """Take a server for old when a test says so, and not as the rules say."""

    class OldWhen(ClientReading):
        def is_old_version(self, version: Version | None) -> bool:
            return version is not None and test(version)

    return replace_part(OldWhen)


add(
    "remote-read-every-server-old",
    (
        "MQQP-3.2.4.2-08",
        "MQQP-3.2.4.2-23",
        "MQQP-3.2.4.3-08",
        "MQQP-3.2.4.3-23",
        "MQQP-3.2.4.5-08",
        "MQQP-3.2.4.5-23",
        "MQQP-3.2.4.6-07",
        "MQQP-3.2.4.6-22",
    ),
    "Every server counts as old.",
    _old_when(lambda version: True),
)


@fault(
    "remote-read-old-server-not-asked",
    breaks=("MQQP-3.2.4.2-13", "MQQP-3.2.4.3-13", "MQQP-3.2.4.5-13", "MQQP-3.2.4.6-12"),
)
class OldServerNotAsked(ClientReading):
    """An old server is not read from at all."""

    def start_receive(self, read: RemoteRead) -> Sequence:
        yield from ()
        raise RemoteError("the server is too old")


add(
    "remote-read-four-is-new",
    ("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08"),
    "A server of version 4 counts as new.",
    _old_when(lambda version: version.Major == 5 and version.Minor < 1),
)
add(
    "remote-read-five-is-new",
    ("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10", "MQQP-3.2.4.5-10", "MQQP-3.2.4.6-09"),
    "A server of version 5.0 counts as new.",
    _old_when(lambda version: version.Major < 5),
)
add(
    "remote-read-early-build-is-new",
    ("MQQP-3.2.4.2-11", "MQQP-3.2.4.3-11", "MQQP-3.2.4.5-11", "MQQP-3.2.4.6-10"),
    "A server of version 5.0 counts as new when its build is below 951.",
    _old_when(lambda version: version < (5, 1) and not (version.Major == 5 and version.BuildNumber < 951)),
)
