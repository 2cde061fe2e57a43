"""Exchanges that several sections of MS-MQQP share."""
