"""Graphs on a fixed set of regions: the atlas, the order of the pairs, datasets and their files."""
