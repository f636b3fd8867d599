"""The tables and figures of the paper, one module each, and the list of all of them."""

from countergraph.experiments.exhibits.dataset_search import DATASET_SEARCH
from countergraph.experiments.exhibits.exhibit import Exhibit
from countergraph.experiments.exhibits.figure4 import FIGURE4
from countergraph.experiments.exhibits.figure5 import FIGURE5
from countergraph.experiments.exhibits.figure6 import FIGURE6
from countergraph.experiments.exhibits.figure8 import FIGURE8
from countergraph.experiments.exhibits.figure9 import FIGURE9
from countergraph.experiments.exhibits.figure10 import FIGURE10
from countergraph.experiments.exhibits.neighbours import NEIGHBOURS
from countergraph.experiments.exhibits.table1 import TABLE1

EXHIBITS: dict[str, Exhibit] = {
    exhibit.name: exhibit
    for exhibit in (TABLE1, NEIGHBOURS, FIGURE4, FIGURE5, DATASET_SEARCH, FIGURE6, FIGURE8, FIGURE9, FIGURE10)
}
