"""Converts messages to packets and back, writes records to the disk, and writes changes to the directory."""
