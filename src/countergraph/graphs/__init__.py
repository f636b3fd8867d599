"""Graphs on a fixed list of ROIs: the atlas, the order of the pairs, datasets and dataset files."""
