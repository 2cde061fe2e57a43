"""Faults in the selection of the method for later reads, and at the limits of versions (MS-MQQP 3.2.4.2 to 3.2.4.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence

_FIRST_BUILD_OF_NEW_METHOD = 951


class ReadKind(NamedTuple):
    """A kind of read: its name, whether it receives, and whether it uses a cursor."""

    name: str
    receives: bool
    by_cursor: bool

    def includes_read(self, read: RemoteRead) -> bool:
        """Return whether a read is of this kind."""
        by_cursor = bool(read.CursorHandle)
        return read.LookupId is None and read.receives is self.receives and by_cursor is self.by_cursor


_PEEK_KIND, _RECEIVE_KIND = ReadKind("peek", False, False), ReadKind("receive", True, False)
_PEEK_BY_CURSOR_KIND, _RECEIVE_BY_CURSOR_KIND = (
    ReadKind("peek-by-cursor", False, True),
    ReadKind("receive-by-cursor", True, True),
)

VersionCondition = Callable[[ServerVersion | None, int], bool]
"""The type of conditions for the version of a server and the number of the read, which is counted from 1."""


def _call_method_of_new_servers(kind: ReadKind, when: VersionCondition) -> Install:
    """Return an installer of a fault with which the client calls the method of new servers when a condition holds for
    an old server.
    """

    class OtherMethod(ClientMessageReading):
        version: ServerVersion | None = None
        count = 0

        def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
            self.version = yield from super().ask_server_version(read)
            self.count += kind.includes_read(read)
            return self.version

        def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
            if kind.includes_read(read) and when(self.version, self.count):
                return (yield from super().start_receive2(read))
            return (yield from super().start_receive(read))

    return replace_part(OtherMethod)


def _keep_version_of_earlier_read(kind: ReadKind, first: int) -> Install:
    """Return an installer of a fault with which the client does not call RemoteQmGetVersion before a read of one kind,
    from the read with the number ``first`` on, if it knows the version from an earlier read of any kind.
    """

    class VersionKept(ClientMessageReading):
        known: list[ServerVersion | None]
        count = 0

        def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
            if not hasattr(self, "known"):
                self.known = []
            self.count += kind.includes_read(read)
            if kind.includes_read(read) and self.known and self.count >= first:
                return self.known[-1]
            version = yield from super().ask_server_version(read)
            self.known.append(version)
            return version

    return replace_part(VersionKept)


def _is_old_version_with_new_minor(version: ServerVersion | None, count: int) -> bool:
    return version is not None and version.Major < 5 and version.Minor >= 1


def _is_later_read_of_version_5_0(version: ServerVersion | None, count: int) -> bool:
    return version is not None and (version.Major, version.Minor) == (5, 0) and count > 1


def _is_version_5_0_with_last_old_build(version: ServerVersion | None, count: int) -> bool:
    return (
        version is not None
        and (version.Major, version.Minor) == (5, 0)
        and version.BuildNumber == _FIRST_BUILD_OF_NEW_METHOD - 1
    )


def _is_version_5_0_without_build(version: ServerVersion | None, count: int) -> bool:
    return version is not None and (version.Major, version.Minor, version.BuildNumber) == (5, 0, 0)


def _is_version_5_0_with_new_build(version: ServerVersion | None, count: int) -> bool:
    return (
        version is not None
        and (version.Major, version.Minor) == (5, 0)
        and version.BuildNumber >= _FIRST_BUILD_OF_NEW_METHOD
    )


for _rule, _kind, _cases in (
    ("MQQP-3.2.4.2-08", _PEEK_KIND, ("old-with-new-minor",)),
    ("MQQP-3.2.4.2-11", _PEEK_KIND, ("build-950", "build-0")),
    ("MQQP-3.2.4.3-08", _RECEIVE_KIND, ("old-with-new-minor",)),
    ("MQQP-3.2.4.3-11", _RECEIVE_KIND, ("build-950", "build-0")),
    ("MQQP-3.2.4.5-08", _PEEK_BY_CURSOR_KIND, ("old-with-new-minor",)),
    ("MQQP-3.2.4.5-10", _PEEK_BY_CURSOR_KIND, ("later-read-of-5-0", "build-951")),
    ("MQQP-3.2.4.5-11", _PEEK_BY_CURSOR_KIND, ("build-950", "build-0")),
    ("MQQP-3.2.4.6-07", _RECEIVE_BY_CURSOR_KIND, ("old-with-new-minor",)),
    ("MQQP-3.2.4.6-09", _RECEIVE_BY_CURSOR_KIND, ("later-read-of-5-0", "build-951")),
    ("MQQP-3.2.4.6-10", _RECEIVE_BY_CURSOR_KIND, ("build-950", "build-0")),
):
    for _case in _cases:
        _condition, _server = {
            "old-with-new-minor": (_is_old_version_with_new_minor, "a server of version 4 with pMinor 1 or higher"),
            "later-read-of-5-0": (_is_later_read_of_version_5_0, "a server of version 5.0 for its second read"),
            "build-950": (_is_version_5_0_with_last_old_build, "a server of version 5.0 with build 950"),
            "build-0": (_is_version_5_0_without_build, "a server of version 5.0 with build 0"),
            "build-951": (_is_version_5_0_with_new_build, "a server of version 5.0 with build 951 or higher"),
        }[_case]
        add(
            f"client-{_kind.name}-{_case}-calls-start-receive2",
            _rule,
            f"The client calls RemoteQMStartReceive2 for a {_kind.name.replace('-', ' ')} of {_server}.",
            _call_method_of_new_servers(_kind, _condition),
            blind=True,
        )

for _rule, _kind in (("MQQP-3.2.4.5-07", _PEEK_BY_CURSOR_KIND), ("MQQP-3.2.4.6-D01", _RECEIVE_BY_CURSOR_KIND)):
    for _first, _when in ((1, "after another read"), (2, "for the second time")):
        add(
            f"client-{_kind.name}-version-not-requested-{_when.replace(' ', '-')}",
            _rule,
            f"The client does not call RemoteQmGetVersion before a {_kind.name.replace('-', ' ')} {_when}.",
            _keep_version_of_earlier_read(_kind, _first),
            blind=True,
        )
