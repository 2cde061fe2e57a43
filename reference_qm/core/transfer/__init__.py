"""Receives and sends messages and their acknowledgments on sessions. Spec: MS-MQQB."""
