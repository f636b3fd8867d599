"""Explain torch modules: one that takes dense matrices, and one that takes node features and an edge index."""

import torch

import countergraph as cg

data = cg.make_cohort(n_subjects=40, n_rois=20, contrast=0.8)
matrices = torch.tensor(data.adjacency, dtype=torch.float32)
labels = torch.tensor(data.labels)


class DenseGraphNetwork(torch.nn.Module):
    """Two rounds of message passing on the dense adjacency matrix, then the mean over the ROIs."""

    def __init__(self, n_rois: int, width: int = 16) -> None:
        super().__init__()
        self.first = torch.nn.Linear(n_rois, width)
        self.second = torch.nn.Linear(width, width)
        self.last = torch.nn.Linear(width, 2)

    def forward(self, adjacency: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(adjacency @ self.first(torch.eye(adjacency.shape[-1])))
        hidden = torch.relu(adjacency @ self.second(hidden))
        logits: torch.Tensor = self.last(hidden.mean(dim=1))
        return logits


torch.manual_seed(0)
network = DenseGraphNetwork(data.n_rois)
optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
for _ in range(150):
    optimiser.zero_grad()
    torch.nn.functional.cross_entropy(network(matrices), labels).backward()  # type: ignore[no-untyped-call]
    optimiser.step()

[result] = cg.find_counterfactuals(cg.TorchModel(network), data.subset(["subject-001"]))
print(result.sentence)


class SparseNetwork(torch.nn.Module):
    """The same network with the inputs of torch_geometric: node features, edge index and batch index."""

    def __init__(self, network: DenseGraphNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        def gather(values: torch.Tensor) -> torch.Tensor:
            return torch.zeros_like(values).index_add(0, edge_index[1], values[edge_index[0]])

        hidden = torch.relu(gather(self.network.first(x)))
        hidden = torch.relu(gather(self.network.second(hidden)))
        count = int(batch.max()) + 1
        total = torch.zeros(count, hidden.shape[1]).index_add(0, batch, hidden)
        logits: torch.Tensor = self.network.last(total / (len(x) / count))
        return logits


def prepare(adjacency: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Convert matrices (batch, n, n) to the inputs of the network."""
    count, n, _ = adjacency.shape
    graph, source, target = adjacency.nonzero(as_tuple=True)
    features = torch.eye(n).repeat(count, 1)
    return features, torch.stack([graph * n + source, graph * n + target]), torch.arange(count).repeat_interleave(n)


black_box = cg.TorchModel(SparseNetwork(network), prepare=prepare)
[same] = cg.find_counterfactuals(black_box, data.subset(["subject-001"]))
print(
    "the result of the equivalent sparse network is the same:",
    (same.added, same.removed) == (result.added, result.removed),
)
