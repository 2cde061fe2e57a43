"""Converts messages to packets and back, writes records to the disk, and reads and changes the directory."""
