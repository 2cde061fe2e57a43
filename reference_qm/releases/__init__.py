"""Configures a queue manager as a release of Windows, according to the product notes of the specifications."""
