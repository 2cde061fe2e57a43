"""Checks of MS-MQMQ, by section."""
