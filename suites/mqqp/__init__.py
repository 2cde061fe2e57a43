"""Checks of MS-MQQP: reading the queues of another queue manager."""
