"""Faults that break rules of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6 about the choice of the method by the
version of the server.
"""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence, RemoteError


@fault(
    "client-get-version-not-called",
    breaks=("MQQP-3.2.4.2-07", "MQQP-3.2.4.3-07", "MQQP-3.2.4.5-07", "MQQP-3.2.4.6-D01"),
)
class ClientGetVersionNotCalled(ClientMessageReading):
    """The client does not call RemoteQmGetVersion."""

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        yield from ()
        return ServerVersion(6, 1, 7600)


def _change_old_server_test(test: Callable[[ServerVersion], bool]) -> Install:
    """Build a fault that replaces the client's decision whether a server is too old for RemoteQMStartReceive2 with the
    function ``test``.
    """

    class OldServerTestReplacer(ClientMessageReading):
        def is_old_version(self, version: ServerVersion | None) -> bool:
            return version is not None and test(version)

    return replace_part(OldServerTestReplacer)


add(
    "client-treats-every-server-version-as-old",
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
    "The client treats every server as a server below version 5.1.",
    _change_old_server_test(lambda version: True),
)


@fault(
    "client-refuses-to-read-from-server-below-version-5-1",
    breaks=("MQQP-3.2.4.2-13", "MQQP-3.2.4.3-13", "MQQP-3.2.4.5-13", "MQQP-3.2.4.6-12"),
)
class ClientRefusesToReadFromServerBelowVersion51(ClientMessageReading):
    """The client does not read from a server below version 5.1."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        yield from ()
        raise RemoteError("the server is too old")


add(
    "client-treats-server-version-4-as-new",
    ("MQQP-3.2.4.2-09", "MQQP-3.2.4.3-09", "MQQP-3.2.4.5-09", "MQQP-3.2.4.6-08"),
    "The client treats a server of version 4 as a server of version 5.1 or later.",
    _change_old_server_test(lambda version: version.Major == 5 and version.Minor < 1),
)
add(
    "client-treats-server-version-5-0-as-new",
    ("MQQP-3.2.4.2-10", "MQQP-3.2.4.3-10", "MQQP-3.2.4.5-10", "MQQP-3.2.4.6-09"),
    "The client treats a server of version 5.0 as a server of version 5.1 or later.",
    _change_old_server_test(lambda version: version.Major < 5),
)
add(
    "client-treats-early-build-of-version-5-0-as-new",
    ("MQQP-3.2.4.2-11", "MQQP-3.2.4.3-11", "MQQP-3.2.4.5-11", "MQQP-3.2.4.6-10"),
    "The client treats a server of version 5.0 with a build below 951 as a server of version 5.1 or later.",
    _change_old_server_test(
        lambda version: version < (5, 1) and not (version.Major == 5 and version.BuildNumber < 951)
    ),
)
