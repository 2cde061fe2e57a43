"""Declares the interfaces of a queue manager as tables of methods and parameters."""

from reference_qm.rpc.interfaces.ept import EPT
from reference_qm.rpc.interfaces.method import RETURN_VALUE_NAME, Direction, Interface, Method, Parameter
from reference_qm.rpc.interfaces.qm2qm import QM2QM
from reference_qm.rpc.interfaces.qmcomm import QMCOMM

__all__ = ["EPT", "QM2QM", "QMCOMM", "RETURN_VALUE_NAME", "Direction", "Interface", "Method", "Parameter"]
