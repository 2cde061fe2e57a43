"""MS-MQQB 3.1.7.15 Send Administration Acknowledgment."""
