"""Exchanges that several sections of MS-MQDMPR share."""
