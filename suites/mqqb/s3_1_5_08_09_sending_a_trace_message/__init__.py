"""MS-MQQB 3.1.5.8.9 Sending a Trace Message."""
