"""Benchmarks: every speed is a ratio of two things timed in the same run."""
