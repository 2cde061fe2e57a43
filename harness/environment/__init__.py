"""The environments that provide the time and the network of a check. One environment is virtual, the other is real;
both have the same interface.
"""

from harness.environment.base import DatagramSink, Environment, Stream, StreamSink, TcpListener, UdpPort
from harness.environment.real import RealEnvironment
from harness.environment.virtual import VirtualEnvironment

__all__ = [
    "DatagramSink",
    "Environment",
    "RealEnvironment",
    "Stream",
    "StreamSink",
    "TcpListener",
    "UdpPort",
    "VirtualEnvironment",
]
