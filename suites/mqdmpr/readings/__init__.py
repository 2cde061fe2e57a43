"""Variants of the reference that follow other readings of errata: no fault, and no check may convict one."""
