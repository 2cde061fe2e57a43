"""List the releases of Windows that product notes name; ``[sut] profile`` of the SUT file names one of these
releases.

The profile ``none`` is not a release of Windows. A system with this profile is checked against the text of the
specifications. The deviations that the notes allow to a release are in the ``notes.toml`` of the documents
(harness/rules/product_notes.py). This module contains only values that checks need.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from reference_qm.releases.names import NO_RELEASE

_INVALID_HANDLE_STATUS_NAME = "MQ_ERROR_INVALID_HANDLE"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of Windows. The values are from the product notes of MS-MQQP unless another document is named.
    ``version``: pMajor and pMinor. ``first_build``: the pBuildNumber of the first build, or None if it is unknown.
    ``serves_spx``: whether the release serves SPX, or None if it may serve SPX (notes <3>, <19>). ``has_aes_provider``:
    whether the release has the AES provider (MS-MQQB notes <58>, <65>). ``has_later_qm2qm_methods``: whether the
    release has the later methods of qm2qm (note <2>). ``keeps_undeliverable_messages``: whether the release keeps
    undeliverable messages (MS-MQMQ note <3>). ``sets_first_and_last_message_flags``: whether the release sets FM and LM
    in transactional messages that it sends (MS-MQMQ note <18>). ``status_of_cancel_without_queue``: the result of
    RemoteQMCancelReceive for a pQueue of 0 (note <17>).
    """

    version: tuple[int, int] = (6, 1)
    first_build: int | None = None
    status_of_cancel_without_queue: str = "MQ_ERROR_INVALID_PARAMETER"
    serves_spx: bool | None = False
    has_aes_provider: bool = True
    has_later_qm2qm_methods: bool = True
    keeps_undeliverable_messages: bool = True
    sets_first_and_last_message_flags: bool = True


RELEASE_WITHOUT_DEVIATIONS = Release(serves_spx=None)
_RELEASE_SINCE_WINDOWS_7 = Release((6, 1), 6531)
RELEASES = MappingProxyType(
    {
        NO_RELEASE: RELEASE_WITHOUT_DEVIATIONS,
        "windows-nt": Release(
            (4, 0),
            None,
            _INVALID_HANDLE_STATUS_NAME,
            serves_spx=True,
            has_aes_provider=False,
            has_later_qm2qm_methods=False,
            keeps_undeliverable_messages=False,
            sets_first_and_last_message_flags=False,
        ),
        "windows-2000": Release(
            (5, 0),
            645,
            _INVALID_HANDLE_STATUS_NAME,
            serves_spx=True,
            has_aes_provider=False,
            has_later_qm2qm_methods=False,
        ),
        "windows-xp": Release((5, 1), 1020, has_aes_provider=False),
        "windows-server-2003": Release((5, 2), 1716, has_aes_provider=False),
        "windows-server-2003-r2": Release((5, 2), 1716, has_aes_provider=False),
        "windows-vista": Release((6, 0), 6000),
        "windows-server-2008": Release((6, 0), 6001),
        "windows-7": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2008-r2": _RELEASE_SINCE_WINDOWS_7,
        "windows-8": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2012": _RELEASE_SINCE_WINDOWS_7,
        "windows-8.1": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2012-r2": _RELEASE_SINCE_WINDOWS_7,
        "windows-10": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2016": _RELEASE_SINCE_WINDOWS_7,
        "windows-server": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2019": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2022": _RELEASE_SINCE_WINDOWS_7,
        "windows-11": _RELEASE_SINCE_WINDOWS_7,
        "windows-server-2025": _RELEASE_SINCE_WINDOWS_7,
    }
)
"""The releases by name, in chronological order (MS-MQDMPR 6), with values from MS-MQQP notes <3>, <17>, <19>, <22>
to <24>. Windows 7 and later return version 6.1 (<22>, <23>). The name ``windows-server`` without a year stands for
the releases between 2016 and 2019.
"""
