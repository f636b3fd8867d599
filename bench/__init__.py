"""Benchmarks. Speed is reported as the ratio of two times that are measured in the same run."""
