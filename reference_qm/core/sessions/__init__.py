"""Opens, keeps and closes the connection to another queue manager. Spec: MS-MQQB 3.1.5.2 to 3.1.5.4."""
