"""Variants of the reference that follow other readings of MS-MQSO."""
