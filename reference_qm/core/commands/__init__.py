"""Passes the inputs of a queue manager to its parts, and carries out the commands of higher layers.

Spec: MS-MQQB 3.1.4.
"""
