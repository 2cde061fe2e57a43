"""Checks of MS-MQSO: the system as a whole."""
