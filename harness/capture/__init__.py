"""Write and read the captures of the harness, which are pcapng files with raw IP packets. This package does not use
scapy to write or read the files.
"""

from harness.capture.capture_error import CaptureError
from harness.capture.pcapng import CapturedFrame, read_pcapng
from harness.capture.streams import (
    ByteRange,
    CapturedDatagram,
    CapturedDirection,
    CapturedStream,
    CapturedStreamsAndDatagrams,
    read_streams,
)
from harness.capture.writer import CaptureWriter

__all__ = [
    "ByteRange",
    "CaptureError",
    "CaptureWriter",
    "CapturedDatagram",
    "CapturedDirection",
    "CapturedFrame",
    "CapturedStream",
    "CapturedStreamsAndDatagrams",
    "read_pcapng",
    "read_streams",
]
