"""Passes the inputs of a queue manager to its parts, and carries out the commands of a higher layer.

Spec: MS-MQQB 3.1.4.
"""
