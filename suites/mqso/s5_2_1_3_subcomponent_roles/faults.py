"""Faults that break rules of MS-MQSO 5.2.1.3 Subcomponent Roles."""

from __future__ import annotations
