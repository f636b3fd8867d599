"""The parts of the learned search: what a run remembers, and what a search makes of it.

memory, deviation, smoothing, calibration   what all answers say, and what those about one graph say besides
guide                                       all of that as one search sees it
views, neighbours                           what the known graphs say
slant, winnow, closeup, sift                a graph of which nothing else is known
race, proposals, luck                       ways to start and to come closer, and which of them pay
enumeration                                 asking everything, where everything is little
"""
