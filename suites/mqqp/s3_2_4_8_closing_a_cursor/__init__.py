"""MS-MQQP 3.2.4.8 Closing a Cursor."""
