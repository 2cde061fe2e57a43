"""Exchanges that several sections of MS-MQSO share."""
