"""The environments that provide time and network to a check: virtual and real, with the same interface."""

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
