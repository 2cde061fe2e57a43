"""Where time passes and bytes travel: a virtual environment and the real one, which a check cannot tell apart."""

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
