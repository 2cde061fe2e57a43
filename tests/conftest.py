"""What all tests share. This folder is on the path: helpers in it can be imported by every test."""
