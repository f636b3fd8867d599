"""Explain a torch network in the manner of BrainNetCNN on correlation matrices."""

import numpy as np
import torch

import countergraph as cg

# Correlations of 40 people, 20 regions: in patients, the regions 0 to 4 share a signal.
rng = np.random.default_rng(0)
labels = np.arange(40) % 2
shared = [label * rng.normal(size=(120, 1)) * (np.arange(20) < 5) for label in labels]
correlations = np.array([np.corrcoef((signal + rng.normal(size=(120, 20))).T) for signal in shared])
data = cg.GraphDataset(correlations, labels, classes=("control", "patient"))

torch.manual_seed(0)
network = torch.nn.Sequential(
    torch.nn.Conv2d(1, 8, (1, 20)),  # edges to nodes
    torch.nn.LeakyReLU(0.3),
    torch.nn.Conv2d(8, 16, (20, 1)),  # nodes to graph
    torch.nn.LeakyReLU(0.3),
    torch.nn.Flatten(),
    torch.nn.Linear(16, 2),
)
optimiser = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=0.01)
matrices, targets = torch.tensor(correlations, dtype=torch.float32)[:, None], torch.tensor(labels)
for _ in range(50):
    optimiser.zero_grad()
    loss = torch.nn.functional.cross_entropy(network(matrices), targets)
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()

model = cg.TorchModel(network, prepare=lambda batch: (batch[:, None],), diagonal=1.0)  # (batch, 1, n, n)
[result] = cg.find_counterfactuals(model, data.subset([1]), dataset=data, amounts=True)
print(result.sentence)
