"""A form of few constants times a tabulated correction, fitted to times of a kernel, and how far off it is where it saw nothing."""

import numpy as np
import pandas as pd
import scipy.sparse as sparse
from scipy.linalg import solve
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
SLOPE = .3       # what a correction's slope counts against its bends
RISE = .002      # of the logarithm of a time, at least, where a product doubles
HELD = (.1, 1, 10, 100)       # how a product that falls short of it counts against all that were measured


def either(a, b):
    """The larger of two times, rounded where they are alike."""
    return np.sqrt(np.sqrt(a ** 4 + b ** 4))


class Grid:
    """A function of a few sizes: multilinear in their logarithms between the knots, flat beyond."""

    def __init__(self, knots, smooth=1):
        self.axes = [np.log(k) for k in knots]
        self.smooth = smooth

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
                                 shape=(count, self.points()))

    def points(self):
        return int(np.prod([len(a) for a in self.axes]))

    def bends(self):
        """Second differences along each axis, and a little of the first, which keeps flat what no row says."""
        parts = []
        for bent, axis in enumerate(self.axes):
            step = np.diff(axis)
            first = sparse.diags([-1 / np.sqrt(step), 1 / np.sqrt(step)], [0, 1], shape=(len(axis) - 1, len(axis)))
            second = sparse.diags([1 / step[:-1], -(1 / step[:-1] + 1 / step[1:]), 1 / step[1:]], [0, 1, 2],
                                  shape=(len(axis) - 2, len(axis)))
            part = sparse.identity(1)
            for other, axis_of in enumerate(self.axes):
                part = sparse.kron(part, sparse.vstack([np.sqrt(self.smooth) * second, SLOPE * first]) if other == bent else sparse.identity(len(axis_of)))
            parts.append(part)
        return sparse.vstack(parts).tocsr()


class Correction:
    """Logarithm of measured / form: the sum of one grid or several, smoothed. grids: name -> (sizes, knots, how smooth)."""

    def __init__(self, grids):
        self.names = {name: (sizes, Grid(knots, smooth)) for name, (sizes, knots, smooth) in grids.items()}

    def design(self, columns):
        """columns: sizes by name."""
        return sparse.hstack([grid.design([columns[size] for size in sizes]) for sizes, grid in self.names.values()]).tocsr()

    def fit(self, columns, residuals, rising=None):
        """rising: columns of small and of larger products and the logarithm of the form's ratio, none of which may come out below 0."""
        design = self.design(columns)
        bends = sparse.block_diag([grid.bends() for _, grid in self.names.values()]).tocsr()
        scale = len(residuals) / design.shape[1]
        penalty = scale * (.1 * bends.T @ bends + .002 * sparse.identity(design.shape[1]))
        weight = np.ones(len(residuals))
        for _ in range(6):
            left = design.T @ sparse.diags(weight) @ design + penalty
            right = design.T @ (weight * residuals)
            self.values = spsolve(left.tocsc(), right)
            weight = 1 / np.sqrt(1 + ((residuals - design @ self.values) / ROBUST) ** 2)
        if rising:
            small, large, ratio = rising
            steps = self.design(large) - self.design(small)
            gap, dense = ratio - RISE, left.toarray()
            for held in HELD:
                for _ in range(12):
                    falls = steps @ self.values + gap < 0
                    hold = steps[falls]
                    pull = held * len(residuals) / len(gap)
                    step = solve(dense + pull * (hold.T @ hold).toarray(), right - pull * hold.T @ gap[falls], assume_a="pos") - self.values
                    self.values += step
                    if np.abs(step).max() < 1e-3:
                        break

    def __call__(self, columns):
        return self.design(columns) @ self.values

    def written(self):
        """Each grid's knots and values."""
        at, out = 0, {}
        for name, (sizes, grid) in self.names.items():
            values = self.values[at:at + grid.points()]
            at += grid.points()
            out[name] = {"sizes": sizes, "knots": [[round(k) for k in np.exp(axis)] for axis in grid.axes],
                         "per_mille": [round(1000 * v) for v in values]}
        return out


class Surface:
    def __init__(self, form, rows, starts=None):
        self.form = form
        seen = rows.sample(min(FIT_ROWS, len(rows)), random_state=1)
        target = np.log(seen.latency_ms.to_numpy() / 1e3)
        fits = [least_squares(lambda x: np.log(form(x, seen)) - target, start, loss="soft_l1", f_scale=ROBUST,
                              diff_step=1e-3, max_nfev=60, bounds=(form.low, form.high)) for start in starts or form.starts]
        self.x = min(fits, key=lambda f: f.cost).x
        self.correction = Correction(form.grids if hasattr(form, "grids") else {"correction": (form.sizes, form.knots, 1)})
        rising = form.rising(self.x) if hasattr(form, "rising") else None
        self.correction.fit(self.columns(rows), np.log(rows.latency_ms.to_numpy() / 1e3) - np.log(form(self.x, rows)), rising)

    def columns(self, rows):
        """Sizes by name, and what the form derives of them."""
        sizes = {size: rows[size].to_numpy(float) for size in self.form.sizes}
        return sizes | self.form.derived(rows) if hasattr(self.form, "derived") else sizes

    def errors(self, rows):
        """|predicted / measured - 1|"""
        log = np.log(self.form(self.x, rows)) + self.correction(self.columns(rows))
        return np.abs(np.exp(log) / (rows.latency_ms.to_numpy() / 1e3) - 1)

    def constants(self):
        """The first `logs` of the form are fitted as logarithms."""
        return np.r_[np.exp(self.x[:self.form.logs]), self.x[self.form.logs:]]

    def written(self):
        constants = dict(zip(self.form.names, map(float, self.constants())))
        blocks = {name: int(value) for name, value in constants.items() if name.endswith("block")}
        return {"constants": constants | blocks} | self.correction.written()


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
    surface = Surface(form, rows)

    def without(out):
        """Fitted to the others, from the constants of all on, inside bounds that follow the rows."""
        of = make_form(device, name, rows[~out])
        return Surface(of, rows[~out], [np.clip(surface.x, of.low + 1e-6, of.high - 1e-6)])

    left_out = [without(rows.fold == fold).errors(rows[rows.fold == fold]) for fold in range(min(FOLDS, len(wholes)))]
    larger = form.larger(rows)
    beyond = without(larger).errors(rows[larger]) if larger.any() else np.array([])
    return surface, surface.errors(rows), np.concatenate(left_out), beyond


def text(errors):
    return "" if errors is None or not len(errors) else "%.1f / %.1f %%" % tuple(100 * np.quantile(errors, [.5, .9]))
