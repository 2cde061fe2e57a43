"""Read captures of other tools in all usual formats, and judge the packets in them that are complete."""
