"""The protocol between queue managers: sessions, acknowledgments, receiving, sending, security. Spec: MS-MQQB 3.1."""
