"""Configures a queue manager as a release of Windows, by the appendices of product behaviour."""
