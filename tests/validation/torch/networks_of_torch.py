"""The networks of networks.py as modules."""

import torch
from torch import nn
from torch.nn import functional


class Perceptron(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(widths, widths[1:]))

    def forward(self, samples):
        for layer in self.layers:
            samples = functional.relu(layer(samples))
        return samples

    @staticmethod
    def loss(outputs, targets):
        return functional.mse_loss(outputs, targets)


def masked_softmax(scores, width, mask):
    """The square between the products of attention."""
    return functional.softmax((scores * width ** -0.5).masked_fill(mask, float("-inf")), dim=-1)


class Block(nn.Module):
    """GPT-2's, attention spelled out, so that it is the same with every release."""

    def __init__(self, hidden, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(hidden)
        self.queries_keys_values = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.mlp_norm = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)

    def attention(self, x, mask):
        batch, length, hidden = x.shape
        width = hidden // self.heads
        q, k, v = (part.view(batch, length, self.heads, width).transpose(1, 2)
                   for part in self.queries_keys_values(x).split(hidden, dim=2))
        values = masked_softmax(q @ k.transpose(-2, -1), width, mask) @ v
        return self.output(values.transpose(1, 2).reshape(batch, length, hidden))

    def forward(self, x, mask):
        x = x + self.attention(self.attention_norm(x), mask)
        return x + self.down(functional.gelu(self.up(self.mlp_norm(x))))


class Decoder(nn.Module):
    def __init__(self, hidden, layers, heads, sequence, vocabulary):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Parameter(torch.randn(sequence, hidden) * 0.01)
        self.blocks = nn.ModuleList(Block(hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.mask = torch.ones(sequence, sequence, dtype=torch.bool).triu(1)  # none of DDP's

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions
        for block in self.blocks:
            x = block(x, self.mask)
        return functional.linear(self.norm(x), self.tokens.weight)

    @staticmethod
    def loss(logits, targets):
        return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def build(network):
    sizes = {key: value for key, value in network.items() if key != "kind"}
    return Perceptron(**sizes) if network["kind"] == "perceptron" else Decoder(**sizes)


def draw_samples(network, batch):
    """Inputs and targets."""
    if network["kind"] == "perceptron":
        return torch.randn(batch, network["widths"][0]), torch.rand(batch, network["widths"][-1])
    tokens = torch.randint(network["vocabulary"], (batch, network["sequence"] + 1))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
