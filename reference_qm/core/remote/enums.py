"""Defines the values of parameters of qm2qm and qmcomm. Spec: MS-MQQP 2.2.2.1, 3.1.4.2, 3.1.4.8; MS-MQMP 3.1.4.2."""

from __future__ import annotations

from enum import IntEnum

INFINITE_MS = 0xFFFFFFFF
"""The value of REMOTEREADDESC.ulTimeout for a read without a time limit."""


class ReadAction(IntEnum):
    """The values of REMOTEREADDESC.ulAction. Spec: MS-MQQP 2.2.2.1."""

    MQ_ACTION_RECEIVE = 0x00000000
    MQ_ACTION_PEEK_CURRENT = 0x80000000
    MQ_ACTION_PEEK_NEXT = 0x80000001
    MQ_LOOKUP_PEEK_CURRENT = 0x40000010
    MQ_LOOKUP_PEEK_NEXT = 0x40000011
    MQ_LOOKUP_PEEK_PREV = 0x40000012
    MQ_LOOKUP_RECEIVE_CURRENT = 0x40000020
    MQ_LOOKUP_RECEIVE_NEXT = 0x40000021
    MQ_LOOKUP_RECEIVE_PREV = 0x40000022


RECEIVE_ACTIONS = frozenset(
    {
        ReadAction.MQ_ACTION_RECEIVE,
        ReadAction.MQ_LOOKUP_RECEIVE_CURRENT,
        ReadAction.MQ_LOOKUP_RECEIVE_NEXT,
        ReadAction.MQ_LOOKUP_RECEIVE_PREV,
    }
)
"""The actions that remove a message. All other actions only peek at a message."""


class RemoteReadAck(IntEnum):
    """The values of dwAck. Spec: MS-MQQP 2.2.1.3, 3.1.4.2."""

    RR_NACK = 1
    RR_ACK = 2


class PortType(IntEnum):
    """The values of dwPortType and fIP. Spec: MS-MQQP 3.1.4.8, MS-MQMP 3.1.4.24."""

    IP_HANDSHAKE = 0
    IP_READ = 1
    IPX_HANDSHAKE = 2
    IPX_READ = 3


class DesiredAccess(IntEnum):
    """The values of dwDesiredAccess. Spec: MS-MQMP 3.1.4.2."""

    MQ_RECEIVE_ACCESS = 0x00000001
    MQ_PEEK_ACCESS = 0x00000020


class ShareMode(IntEnum):
    """The values of dwShareMode. Spec: MS-MQMP 3.1.4.2."""

    MQ_DENY_NONE = 0x00000000
    MQ_DENY_RECEIVE_SHARE = 0x00000001
