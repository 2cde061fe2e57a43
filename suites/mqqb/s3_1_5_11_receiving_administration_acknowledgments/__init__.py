"""MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments."""
