"""Converts messages to packets and back, and writes records to the disk and changes to the directory."""
