"""Other published methods as searches of our protocol, so that the driver counts their calls as it counts ours."""

from __future__ import annotations

from bench.rivals.grabnel import ScoreState, grabnel
from bench.rivals.local_search import local_search
from bench.rivals.sign_opt import sign_opt
from countergraph.search.methods import Method, Phase, parse_method

RIVALS: dict[str, Phase | Method] = {
    "Sign-OPT": Phase("sign-opt", "forward", sign_opt),
    "OFS+OBS+Sign-OPT": parse_method("ofs+obs") + Phase("sign-opt-after", "backward", sign_opt),
    "OFS+OBS+LocalSearch": parse_method("ofs+obs") + Phase("local-search", "backward", local_search),
    "GRABNEL": Phase("grabnel", "forward", grabnel, shared=ScoreState),
}
"""The methods by name, for ``countergraph.find_counterfactuals``; GRABNEL needs ``scores=True``."""
