"""Drives a system beside a model of the required behaviour, and compares everything visible."""
