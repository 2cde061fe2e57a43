"""Where time passes and bytes travel: a virtual world and the real one, which a check cannot tell apart."""

from harness.world.base import Datagrams, DatagramSink, Listener, Stream, StreamSink, Timer, World
from harness.world.real import RealWorld
from harness.world.virtual import VirtualWorld

__all__ = [
    "DatagramSink",
    "Datagrams",
    "Listener",
    "RealWorld",
    "Stream",
    "StreamSink",
    "Timer",
    "VirtualWorld",
    "World",
]
