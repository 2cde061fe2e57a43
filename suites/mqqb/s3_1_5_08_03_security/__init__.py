"""MS-MQQB 3.1.5.8.3 Security."""
