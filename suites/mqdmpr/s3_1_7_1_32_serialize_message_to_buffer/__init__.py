"""MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer."""
