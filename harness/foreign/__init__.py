"""Read captures of other tools in all usual formats, and judge the complete packets in them."""
