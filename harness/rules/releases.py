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
    ``spx``: whether the release serves SPX, or None if it may serve SPX (notes <3>, <19>). ``aes``: whether the
    release has the AES provider (MS-MQQB notes <58>, <65>). ``later_methods``: whether the release has the later
    methods of qm2qm (note <2>). ``dead_letters``: whether the release keeps undeliverable messages (MS-MQMQ note
    <3>). ``transaction_marks``: whether the release sets FM and LM in transactional messages that it sends (MS-MQMQ
    note <18>). ``no_queue_to_cancel``: the result of RemoteQMCancelReceive for a pQueue of 0 (note <17>).
    """

    version: tuple[int, int] = (6, 1)
    first_build: int | None = None
    no_queue_to_cancel: str = "MQ_ERROR_INVALID_PARAMETER"
    spx: bool | None = False
    aes: bool = True
    later_methods: bool = True
    dead_letters: bool = True
    transaction_marks: bool = True


RELEASE_AS_SPECIFIED = Release(spx=None)
_RELEASE_SINCE_WINDOWS_7 = Release((6, 1), 6531)
RELEASES = MappingProxyType(
    {
        NO_RELEASE: RELEASE_AS_SPECIFIED,
        "windows-nt": Release(
            (4, 0),
            None,
            _INVALID_HANDLE_STATUS_NAME,
            spx=True,
            aes=False,
            later_methods=False,
            dead_letters=False,
            transaction_marks=False,
        ),
        "windows-2000": Release((5, 0), 645, _INVALID_HANDLE_STATUS_NAME, spx=True, aes=False, later_methods=False),
        "windows-xp": Release((5, 1), 1020, aes=False),
        "windows-server-2003": Release((5, 2), 1716, aes=False),
        "windows-server-2003-r2": Release((5, 2), 1716, aes=False),
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
