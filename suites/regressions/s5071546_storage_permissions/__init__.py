"""REGRESSIONS 5071546 KB5071546 Storage permissions of December 2025.

The updates of 9 December 2025 (KB5071546 for Windows 10, KB5071544 for Server 2019, KB5071543 for Server 2016) changed
the permissions of the folder where messages are stored: who is no administrator could not write there, and his sends
failed for want of resources. Undone by the updates of 18 December 2025.
"""
