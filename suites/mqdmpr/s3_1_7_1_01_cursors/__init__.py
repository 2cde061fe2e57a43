"""MS-MQDMPR 3.1.7.1.1 Open Cursor, 3.1.7.1.2 Close Cursor."""
