"""MS-MQDMPR 3.1.7.3.1 Wait For New Message."""
