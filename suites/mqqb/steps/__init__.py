"""Exchanges that several sections of MS-MQQB share."""
