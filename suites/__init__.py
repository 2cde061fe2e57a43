"""What is checked: one pytest module per section of a specification, beside the catalogue of its rules."""
