"""Inputs and the commands of higher layers. Spec: MS-MQQB 3.1.4."""
