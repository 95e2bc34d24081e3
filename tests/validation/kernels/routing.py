"""How many rows each local expert of a rank gets: balanced, or drawn from a power law as the tables' authors drew it."""

import functools

import numpy as np

DRAWS = 100
TILES = (16, 32, 64, 128, 256)


@functools.lru_cache(maxsize=None)
def drawn_loads(tokens, experts, topk, ranks, exponent):
    """Rows of each local expert, one line per draw, on the rank of the most rows.

    Loads are drawn between 1 and 0.8 x tokens with density ~ x^-exponent and scaled to tokens x topk rows. A token cannot choose
    an expert twice: rows beyond `tokens` go to the rank's other experts.
    """
    random = np.random.default_rng(1)
    power = 1 - exponent
    low, high = 1.0, (.8 * tokens) ** power
    loads = (low + (high - low) * random.random((DRAWS, experts))) ** (1 / power)
    loads *= tokens * topk / loads.sum(1, keepdims=True)
    local = loads.reshape(DRAWS, ranks, experts // ranks)
    local = local[np.arange(DRAWS), local.sum(2).argmax(1)]
    beyond = np.maximum(local - tokens, 0).sum(1, keepdims=True)
    local = np.minimum(local, tokens)
    room = tokens - local
    total = room.sum(1, keepdims=True)
    return np.round(local + room * np.minimum(beyond / np.maximum(total, 1), 1))


@functools.lru_cache(maxsize=None)
def loads(tokens, experts, topk, ranks, distribution):
    """Means over draws: rows of the rank, experts with any, and tiles of TILES rows."""
    if distribution == "balanced":
        local = np.full((1, experts // ranks), tokens * topk / experts)
        local = np.where(local < 1, np.arange(experts // ranks) < local.sum(), local)
    else:
        local = drawn_loads(tokens, experts, topk, ranks, float(distribution.removeprefix("power_law_")))
    features = {"rows": local.sum(1), "active": np.maximum((local > 0).sum(1), 1)}
    features |= {f"tiles_{tile}": np.ceil(local / tile).sum(1) for tile in TILES}
    return {name: float(values.mean()) for name, values in features.items()}


def balanced_tiles(tokens, rows):
    """Tiles of the local experts were `tokens` routed evenly."""
    each = tokens * rows.topk / rows.num_experts
    return {f"tiles_{tile}": np.ceil(each / tile) * np.minimum(each, 1) * (rows.num_experts // rows.moe_ep_size) for tile in TILES}
