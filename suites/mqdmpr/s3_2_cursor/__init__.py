"""MS-MQDMPR 3.2 Cursor: its states, 3.2.1, and its events, 3.2.7."""
