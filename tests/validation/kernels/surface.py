"""A form of few constants times a tabulated correction, fitted to times of a kernel, and how far off it is where it saw nothing."""

import numpy as np
import pandas as pd
import scipy.sparse as sparse
from scipy.optimize import least_squares
from scipy.sparse.linalg import spsolve

# Streaming multiprocessors; bytes/s and bytes of the second-level cache, of the data sheets.
DEVICES = {
    "a100_sxm": (108, 2.04e12, 40e6), "h100_sxm": (132, 3.35e12, 50e6), "h200_sxm": (132, 4.8e12, 50e6), "l40s": (142, 0.864e12, 96e6),
    "b200_sxm": (148, 8e12, 126e6), "b300_sxm": (148, 8e12, 126e6), "gb200": (152, 8e12, 126e6), "gb300": (152, 8e12, 126e6),
}
ROBUST = 0.05    # relative error beyond which a row pulls less
FIT_ROWS = 3000  # that the constants of a form are fitted to; corrections take all
FOLDS = 5


def either(a, b):
    """The larger of two times, rounded where they are alike."""
    return np.sqrt(np.sqrt(a ** 4 + b ** 4))


class Correction:
    """Logarithm of measured / form: multilinear in the logarithms of sizes, flat beyond the grid, smoothed."""

    def __init__(self, knots):
        self.axes = [np.log(k) for k in knots]
        self.values = None

    def design(self, sizes):
        count = len(sizes[0])
        cells = []
        for axis, size in zip(self.axes, sizes):
            at = np.clip(np.log(size), axis[0], axis[-1])
            below = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, len(axis) - 2)
            cells.append((below, (at - axis[below]) / (axis[below + 1] - axis[below])))
        rows, columns, weights = [], [], []
        for corner in range(1 << len(cells)):
            index, weight = np.zeros(count, int), np.ones(count)
            for axis, (below, part) in enumerate(cells):
                up = corner >> axis & 1
                index = index * len(self.axes[axis]) + below + up
                weight = weight * (part if up else 1 - part)
            rows.append(np.arange(count))
            columns.append(index)
            weights.append(weight)
        return sparse.csr_matrix((np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))),
                                 shape=(count, int(np.prod([len(a) for a in self.axes]))))

    def bends(self):
        """Second differences along each axis."""
        parts = []
        for bent, axis in enumerate(self.axes):
            step = np.diff(axis)
            second = sparse.diags([1 / step[:-1], -(1 / step[:-1] + 1 / step[1:]), 1 / step[1:]], [0, 1, 2],
                                  shape=(len(axis) - 2, len(axis)))
            part = sparse.identity(1)
            for other, axis_of in enumerate(self.axes):
                part = sparse.kron(part, second if other == bent else sparse.identity(len(axis_of)))
            parts.append(part)
        return sparse.vstack(parts).tocsr()

    def fit(self, sizes, residuals):
        design, bends = self.design(sizes), self.bends()
        scale = len(residuals) / design.shape[1]
        penalty = scale * (.1 * bends.T @ bends + .002 * sparse.identity(design.shape[1]))
        weight = np.ones(len(residuals))
        for _ in range(6):
            left = design.T @ sparse.diags(weight) @ design + penalty
            self.values = spsolve(left.tocsc(), design.T @ (weight * residuals))
            weight = 1 / np.sqrt(1 + ((residuals - design @ self.values) / ROBUST) ** 2)

    def __call__(self, sizes):
        return self.design(sizes) @ self.values


class Surface:
    def __init__(self, form, rows):
        self.form = form
        seen = rows.sample(min(FIT_ROWS, len(rows)), random_state=1)
        target = np.log(seen.latency_ms.to_numpy() / 1e3)
        fits = [least_squares(lambda x: np.log(form(x, seen)) - target, start, loss="soft_l1", f_scale=ROBUST,
                              diff_step=1e-3, max_nfev=60, bounds=(form.low, form.high)) for start in form.starts]
        self.x = min(fits, key=lambda f: f.cost).x
        self.correction = Correction(form.knots)
        self.correction.fit(self.sizes(rows), np.log(rows.latency_ms.to_numpy() / 1e3) - np.log(form(self.x, rows)))

    def sizes(self, rows):
        return [rows[size].to_numpy(float) for size in self.form.sizes]

    def errors(self, rows):
        """|predicted / measured - 1|"""
        log = np.log(self.form(self.x, rows)) + self.correction(self.sizes(rows))
        return np.abs(np.exp(log) / (rows.latency_ms.to_numpy() / 1e3) - 1)

    def constants(self):
        """The first `logs` of the form are fitted as logarithms."""
        return np.r_[np.exp(self.x[:self.form.logs]), self.x[self.form.logs:]]

    def written(self):
        constants = dict(zip(self.form.names, map(float, self.constants())))
        blocks = {name: int(value) for name, value in constants.items() if name.endswith("block")}
        return {"constants": constants | blocks,
                "correction": {"sizes": self.form.sizes, "knots": self.form.knots,
                               "per_mille": [round(1000 * v) for v in self.correction.values]}}


def spread(chosen, other, sizes):
    """|one / other - 1| of shapes that two frameworks timed with the same kernel, about the median ratio."""
    both = pd.merge(chosen, other, on=sizes)
    ratio = np.log(both.latency_ms_x / both.latency_ms_y)
    return np.abs(np.expm1(ratio - ratio.median()))


def study(make_form, device, name, rows):
    """The surface of all rows; errors in it, of what was left out, and of larger sizes. make_form(device, name, rows) gives a form."""
    rows = rows.reset_index(drop=True)
    form = make_form(device, name, rows)
    wholes = rows[form.whole].drop_duplicates().reset_index(drop=True)
    wholes["fold"] = np.random.default_rng(1).permutation(len(wholes)) % FOLDS
    rows = rows.merge(wholes, on=form.whole)
    fit = lambda seen: Surface(make_form(device, name, seen), seen)
    left_out = [fit(rows[rows.fold != fold]).errors(rows[rows.fold == fold]) for fold in range(min(FOLDS, len(wholes)))]
    larger = form.larger(rows)
    surface = Surface(form, rows)
    beyond = fit(rows[~larger]).errors(rows[larger]) if larger.any() else np.array([])
    return surface, surface.errors(rows), np.concatenate(left_out), beyond


def text(errors):
    return "" if errors is None or not len(errors) else "%.1f / %.1f %%" % tuple(100 * np.quantile(errors, [.5, .9]))
