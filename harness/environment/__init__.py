"""The environments in which time passes and bytes travel: virtual and real, the same to a check."""

from harness.environment.base import Datagrams, DatagramSink, Environment, Listener, Stream, StreamSink
from harness.environment.real import RealEnvironment
from harness.environment.virtual import VirtualEnvironment

__all__ = [
    "DatagramSink",
    "Datagrams",
    "Environment",
    "Listener",
    "RealEnvironment",
    "Stream",
    "StreamSink",
    "VirtualEnvironment",
]
