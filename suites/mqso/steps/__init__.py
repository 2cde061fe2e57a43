"""Steps of checks of the system as a whole."""
