"""Exchanges that several sections of MS-MQMQ share."""
