"""AIM and MST on the inference of `mbi` 2.0, in the environment of mbi.txt. Called with a folder: see `job.py`.

mbi 2.0 fits graphical models to noisy marginals and samples from them; the mechanisms that choose what to measure are
written here after the papers: AIM (McKenna et al., "AIM: An Adaptive and Iterative Mechanism for Differentially Private
Synthetic Data", VLDB 2022) and MST (McKenna et al., "Winning the NIST Contest", JPC 2021). Both get level numbers and
the sizes of the domains, so they read nothing off the rows unpaid.

What was done for speed (the mechanism's budget, scores and noise are the paper's):
- JAX compiles every new set of cliques anew: ten seconds and more for a fit that then runs in a fifth of a second. So the
  fits between rounds are made in numpy, by mirror descent as in mbi (same loss, same junction tree, steps that grow faster).
  The last fit, which starts from there, and the rows drawn from it are mbi's own.
- Each round starts from the model and the step length of the round before, and stops when the loss hardly falls.
- Measurements of the same columns are joined to one, weighted by their precision: the loss is the same.
- All pairs of the model come from one calibrated junction tree, not from an elimination for each pair.
- The exponential mechanism is drawn as the best of scores with Gumbel noise among the candidates that fit in memory; so
  only the best few candidates have to be checked for fitting.
"""

import json
import math
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any

# One thread. JAX reads these when it is first imported.
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false --xla_cpu_parallel_codegen_split_count=1"
os.environ["NPROC"] = "1"

import jax  # type: ignore[import-not-found, unused-ignore]
import networkx  # type: ignore[import-untyped, import-not-found, unused-ignore]
import numpy as np
from numpy.typing import NDArray

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_enable_compilation_cache", False)

import mbi  # type: ignore[import-not-found, unused-ignore]  # noqa: E402

Clique = tuple[int, ...]
Table = NDArray[np.float64]
Potentials = dict[Clique, Table]

_MB = 2**20 / 8
"""Cells of eight bytes in a megabyte."""

_LARGE = 20_000
"""Cells from which on a table is worth a plan."""


@dataclass(frozen=True)
class Rows:
    """The private rows as level numbers, and the public sizes of their domains."""

    levels: NDArray[np.int64]
    sizes: tuple[int, ...]

    @property
    def columns(self) -> range:
        return range(len(self.sizes))

    @property
    def domain(self) -> Any:
        return mbi.Domain(tuple(self.columns), self.sizes)

    @property
    def pairs(self) -> list[Clique]:
        return list(combinations(self.columns, 2))

    def cells(self, clique: Clique) -> int:
        return math.prod(self.sizes[column] for column in clique)

    def count(self, clique: Clique) -> Table:
        """Exact counts; adding or removing one row changes one of them by one."""
        shape = tuple(self.sizes[column] for column in clique)
        flat = np.ravel_multi_index(tuple(self.levels[:, column] for column in clique), shape)
        return np.bincount(flat, minlength=math.prod(shape)).astype(np.float64)


@dataclass
class Measurements:
    """Noisy counts, with repeated ones joined."""

    rows: Rows
    found: dict[Clique, tuple[Table, float]] = field(default_factory=dict)
    """Mean and precision for each clique."""

    def measure(self, clique: Clique, sigma: float, rng: np.random.Generator) -> None:
        """Gaussian noise of the given scale; costs 1/(2 sigma²) of zCDP."""
        counts = self.rows.count(clique)
        noisy, precision = counts + sigma * rng.standard_normal(len(counts)), sigma**-2
        old, known = self.found.get(clique, (np.zeros_like(noisy), 0.0))
        joined = precision + known
        self.found[clique] = ((noisy * precision + old * known) / joined, joined)

    @property
    def cliques(self) -> list[Clique]:
        return sorted(self.found)

    @property
    def listed(self) -> list[Any]:
        """As mbi takes them."""
        return [mbi.LinearMeasurement(self.found[each][0], each, self.found[each][1] ** -0.5) for each in self.cliques]

    @property
    def total(self) -> float:
        """The best estimate of the number of rows, which is private."""
        return float(mbi.estimation.minimum_variance_unbiased_total(self.listed))


def rho_of(epsilon: float, delta: float) -> float:
    """The largest rho for which rho-zCDP implies (epsilon, delta), by the conversion of Canonne, Kamath and Steinke."""
    orders = 1 + np.geomspace(1e-3, 1e6, 20_000)

    def log_delta(rho: float) -> float:
        exponent = (orders - 1) * (orders * rho - epsilon)
        return float(np.min(exponent + orders * np.log1p(-1 / orders) - np.log(orders - 1)))

    low, high = 0.0, epsilon + 1.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if log_delta(middle) <= math.log(delta) else (low, middle)
    return low


def model_cells(sizes: tuple[int, ...], cliques: list[Clique]) -> int:
    """Cells of the junction tree's tables, eliminating the cheapest column first, as mbi does."""
    near: dict[int, set[int]] = {column: {column} for column in range(len(sizes))}
    for clique in cliques:
        for column in clique:
            near[column].update(clique)
    tables: list[set[int]] = []
    cost = {column: math.prod(sizes[other] for other in near[column]) for column in near}
    while near:
        column = min(cost, key=lambda each: cost[each])
        del cost[column]
        table = near.pop(column)
        if not any(table <= other for other in tables):
            tables.append(set(table))
        table.discard(column)
        for other in table:
            near[other] |= table
            near[other].discard(column)
            cost[other] = math.prod(sizes[each] for each in near[other])
    return sum(math.prod(sizes[column] for column in table) for table in tables)


class Tree:
    """Exact marginals of a graphical model: two waves of messages over a junction tree, in numpy.

    Tables are products of exponentials, not logarithms; every message is scaled to a largest entry of one. What still
    becomes zero has a probability of e^-700.
    """

    def __init__(self, sizes: tuple[int, ...], cliques: list[Clique]):
        self.sizes, self.cliques = sizes, cliques
        domain = mbi.Domain(tuple(range(len(sizes))), sizes)
        self.graph: Any = mbi.junction_tree.make_junction_tree(domain, cliques)[0]
        self.nodes: list[Clique] = list(self.graph.nodes)
        self.home = {
            clique: min((node for node in self.nodes if set(clique) <= set(node)), key=self.cells) for clique in cliques
        }
        self.homed = {node: [each for each in cliques if self.home[each] == node] for node in self.nodes}
        roots = [min(part) for part in networkx.connected_components(self.graph)]
        self.edges = [edge for root in roots for edge in networkx.dfs_edges(self.graph, root)]

    def cells(self, columns: Clique) -> int:
        return math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: Clique, within: Clique) -> tuple[int, ...]:
        """A table of some columns, shaped to be multiplied with a table of more."""
        return tuple(self.sizes[column] if column in columns else 1 for column in within)

    def beliefs(self, potentials: Potentials) -> dict[Clique, Table]:
        """The distribution of every node."""
        tables = {node: self._product(node, self.homed[node], potentials) for node in self.nodes}
        sent: dict[Clique, Table] = {}
        for parent, child in reversed(self.edges):
            message = _scaled(_sum(tables[child], child, _shared(child, parent)))
            sent[child] = message
            tables[parent] *= message.reshape(self.shape(_shared(child, parent), parent))
        for parent, child in self.edges:
            message = _sum(tables[parent], parent, _shared(parent, child))
            back = np.divide(message, sent[child], out=np.zeros_like(message), where=sent[child] > 0)
            tables[child] *= _scaled(back).reshape(self.shape(_shared(parent, child), child))
        return {node: table / table.sum() for node, table in tables.items()}

    def marginals(self, potentials: Potentials) -> Potentials:
        """The distribution of every clique."""
        return {
            clique: values.ravel()
            for node, table in self.beliefs(potentials).items()
            for clique, values in self._sums(table, node, self.homed[node])
        }

    def _product(self, columns: Clique, cliques: list[Clique], potentials: Potentials) -> Table:
        """The table of a node: the product of its cliques, those without some column first, while the table is small."""
        table = np.ones(self.shape(columns, columns))
        while cliques:
            free, some = _most_free(columns, cliques) if table.size > _LARGE else (-1, [])
            if len(some) > 1:
                rest = tuple(column for column in columns if column != free)
                table *= np.expand_dims(self._product(rest, some, potentials), columns.index(free))
            else:
                some = cliques[:1]
                values = potentials[some[0]]
                table *= np.exp(values - values.max()).reshape(self.shape(some[0], columns))
            cliques = [each for each in cliques if each not in some]
        return table

    def _sums(self, table: Table, columns: Clique, cliques: list[Clique]) -> Iterator[tuple[Clique, Table]]:
        """The marginals of a node's cliques: a column is summed out once for all cliques that do without it."""
        while cliques:
            free, some = _most_free(columns, cliques) if table.size > _LARGE else (-1, [])
            if len(some) > 1:
                rest = tuple(column for column in columns if column != free)
                yield from self._sums(table.sum(axis=columns.index(free)), rest, some)
            else:
                some = cliques[:1]
                yield some[0], _sum(table, columns, some[0])
            cliques = [each for each in cliques if each not in some]


def _most_free(columns: Clique, cliques: list[Clique]) -> tuple[int, list[Clique]]:
    """The column that is missing from most cliques, and those cliques."""
    without = {column: [each for each in cliques if column not in each] for column in columns}
    free = max(columns, key=lambda column: len(without[column]))
    return free, without[free]


def _shared(one: Clique, other: Clique) -> Clique:
    return tuple(column for column in one if column in other)


def _sum(table: Table, columns: Clique, kept: Clique) -> Table:
    return np.asarray(table.sum(axis=tuple(i for i, column in enumerate(columns) if column not in kept)))


def _scaled(message: Table) -> Table:
    return message / message.max()


@dataclass(frozen=True)
class Model:
    """A fitted graphical model: potentials of the measured cliques, and the length of step that the fit ended with."""

    rows: Rows
    tree: Tree
    potentials: Potentials
    total: float
    step: float

    def pairs(self) -> Iterator[tuple[Clique, Table]]:
        """Every pair of columns with its expected counts."""
        return ((pair, table * self.total) for pair, table in Pairs(self.tree, self.potentials))

    def triples(self, target: int) -> Iterator[tuple[Clique, Table]]:
        """Every two columns together with the target, with their expected counts: all pairs, given each of its levels."""
        marginal = self.tree.marginals(self.potentials)[target,]
        given: list[dict[Clique, Table]] = []
        for level in range(len(marginal)):
            only = np.where(np.arange(len(marginal)) == level, self.potentials[target,], -np.inf)
            given.append(dict(Pairs(self.tree, self.potentials | {(target,): only})))
        for pair in self.rows.pairs:
            if target not in pair:
                clique = tuple(sorted((*pair, target)))
                table = np.stack([part[pair] * share for part, share in zip(given, marginal, strict=True)])
                yield clique, np.moveaxis(table, 0, clique.index(target)) * self.total

    def singles(self) -> dict[Clique, Table]:
        found = self.tree.marginals(self.potentials)
        return {(column,): found[column,] * self.total for column in self.rows.columns}


def fit(measured: Measurements, iterations: int, tolerance: float, start: Model | None = None) -> Model:
    """The model of most entropy among those that fit best, by mirror descent with Armijo's rule."""
    tree, total = Tree(measured.rows.sizes, measured.cliques), measured.total
    known = start.potentials if start else {}
    potentials = {each: known.get(each, np.zeros_like(measured.found[each][0])) for each in measured.cliques}
    step = start.step if start else 2 / (total * max(weight for _, weight in measured.found.values()))

    def look(at: Potentials) -> tuple[float, Potentials, Potentials]:
        """Loss, gradient and marginals."""
        made = tree.marginals(at)
        gaps = {each: total * made[each] - values for each, (values, _) in measured.found.items()}
        loss = sum(0.5 * weight * float(gaps[each] @ gaps[each]) for each, (_, weight) in measured.found.items())
        return loss, {each: weight * gaps[each] for each, (_, weight) in measured.found.items()}, made

    loss, slope, made = look(potentials)
    before = loss
    for iteration in range(1, iterations + 1):
        moved = {each: potentials[each] - step * slope[each] for each in potentials}
        its_loss, its_slope, its_made = look(moved)
        gain = total * sum(float(slope[each] @ (made[each] - its_made[each])) for each in potentials)
        if loss - its_loss >= 0.5 * step * gain:
            potentials, loss, slope, made = moved, its_loss, its_slope, its_made
            step *= 1.05
        else:
            step /= 2
        if iteration % 50 == 0:
            if before - loss <= tolerance * loss:
                break
            before = loss
    return Model(measured.rows, tree, potentials, total, step)


def last_fit(measured: Measurements, start: Model) -> Any:
    """The same once more by mbi itself, from where numpy ended."""
    domain = measured.rows.domain
    tables = {
        each: mbi.Factor(domain.project(each), values.reshape(domain.project(each).shape))
        for each, values in start.potentials.items()
    }
    return mbi.estimation.MirrorDescent().estimate(
        domain, measured.listed, known_total=measured.total, iters=100,
        warm_start=mbi.CliqueVector(domain, list(tables), tables),
    )  # fmt: skip


class Pairs:
    """All pairs of columns of a model, from its calibrated junction tree."""

    def __init__(self, tree: Tree, potentials: Potentials):
        self.tree, self.graph, self.beliefs = tree, tree.graph, tree.beliefs(potentials)
        self.memo: dict[tuple[Clique, Clique], Table] = {}

    def marginal(self, home: Clique, columns: Clique) -> Table:
        """The marginal of some columns of one clique, in the order asked for."""
        key = (home, columns)
        if key not in self.memo:
            kept = _shared(home, columns)
            self.memo[key] = _sum(self.beliefs[home], home, kept).transpose([kept.index(each) for each in columns])
        return self.memo[key]

    def __iter__(self) -> Iterator[tuple[Clique, Table]]:
        """Every pair of columns with its distribution."""
        for first in range(len(self.tree.sizes)):
            home = self.tree.home[first,]
            found = dict(self._walk(first, home))
            alone = self.marginal(home, (first,))
            for second in range(first + 1, len(self.tree.sizes)):
                if second not in found:  # in another part of the forest: independent
                    found[second] = np.outer(alone, self.marginal(self.tree.home[second,], (second,)))
                yield (first, second), found[second]

    def _walk(self, first: int, home: Clique) -> Iterator[tuple[int, Table]]:
        """Carry the joint distribution of one column and the separators outwards from a clique that has the column."""
        for column in home:
            if column > first:
                yield column, self.marginal(home, (first, column))
        reach: dict[Clique, tuple[Clique, Table]] = {}
        for parent, child in networkx.dfs_edges(self.graph, home):
            shared = tuple(column for column in parent if column in child)
            if first in parent:
                others = tuple(column for column in shared if column != first)
                carried = self.marginal(parent, (first, *others))
            else:
                others, carried = shared, self._carry(*reach[parent], parent, shared)
            if first not in child:
                reach[child] = (others, carried)
            for column in child:
                if column > first and column not in shared:
                    if first in child:
                        yield column, self.marginal(child, (first, column))
                    else:
                        yield column, self._carry(others, carried, child, (column,))

    def _carry(self, given: Clique, carried: Table, home: Clique, wanted: Clique) -> Table:
        """From P(first, given) to P(first, wanted), both within a clique: sum of P(first, given) P(wanted | given)."""
        kept = tuple(column for column in wanted if column in given)
        gone = tuple(column for column in given if column not in kept)
        new = tuple(column for column in wanted if column not in given)
        size = self.tree.cells
        left = carried.transpose([0, *(1 + given.index(column) for column in (*kept, *gone))])
        left = left.reshape(len(carried), size(kept), size(gone)).transpose(1, 0, 2)
        key = (home, (-1, *kept, -1, *gone, -1, *new))
        if key not in self.memo:
            joint = self.marginal(home, (*kept, *gone, *new)).reshape(size(kept), size(gone), size(new))
            self.memo[key] = joint / np.maximum(joint.sum(axis=2, keepdims=True), 1e-300)
        made = np.matmul(left, self.memo[key]).transpose(1, 0, 2)
        made = made.reshape(len(carried), *(self.tree.sizes[column] for column in (*kept, *new)))
        return made.transpose([0, *(1 + (*kept, *new).index(column) for column in wanted)])


def aim(
    rows: Rows,
    rho: float,
    rng: np.random.Generator,
    *,
    rounds_per_column: float = 16,
    least_rounds: float = 0,
    iterations: int = 1000,
    tolerance: float = 1e-4,
    max_model_size: float = 80,
    target: int | None = None,
) -> Any:
    """AIM for all pairs of columns: measure the pair that the model gets most wrong, fit, and so on.

    With a target, the workload has all triples that hold it, too. The number of rounds sets the noise and the budget of the
    first ones; annealing may make them fewer.
    """
    rounds = max(rounds_per_column * len(rows.sizes), least_rounds)
    sigma, epsilon = math.sqrt(rounds / (2 * 0.9 * rho)), math.sqrt(8 * 0.1 * rho / rounds)
    measured = Measurements(rows)
    for column in rows.columns:
        measured.measure((column,), sigma, rng)
    used = len(rows.sizes) / (2 * sigma**2)
    weight = weights(rows, target)
    exact = {clique: rows.count(clique) for clique in weight}
    model = fit(measured, iterations, tolerance)
    last = False
    while not last:
        if rho - used < 2 * (1 / (2 * sigma**2) + epsilon**2 / 8):
            last, rest = True, rho - used
            sigma, epsilon = math.sqrt(1 / (2 * 0.9 * rest)), math.sqrt(8 * 0.1 * rest)
        used = min(rho, used + 1 / (2 * sigma**2) + epsilon**2 / 8)
        believed = model.singles() | {pair: table.ravel() for pair, table in model.pairs()}
        if target is not None:
            believed |= {triple: table.ravel() for triple, table in model.triples(target)}
        bias = math.sqrt(2 / math.pi) * sigma
        scores = {
            clique: weight[clique] * (np.abs(exact[clique] - believed[clique]).sum() - bias * rows.cells(clique))
            for clique in exact
        }
        clique = _choose(scores, epsilon, measured, max_model_size * _MB * used / rho, rng)
        measured.measure(clique, sigma, rng)
        model = fit(measured, iterations * (3 if last else 1), tolerance / (10 if last else 1), model)
        after = model.tree.marginals(model.potentials)[clique] * model.total
        if np.abs(after - believed[clique]).sum() <= bias * rows.cells(clique):
            sigma, epsilon = sigma / 2, epsilon * 2
    return last_fit(measured, model)


def weights(rows: Rows, target: int | None) -> dict[Clique, float]:
    """Candidates, which are the workload and what it contains, by their weights, the largest of which is one.

    A candidate's weight is how many columns it shares with the members of the workload, so its columns' weights add up.
    """
    members = rows.pairs
    if target is not None:
        members = members + [tuple(sorted((*pair, target))) for pair in rows.pairs if target not in pair]
    held = [sum(column in member for member in members) for column in rows.columns]
    candidates = [*((column,) for column in rows.columns), *members]
    found = {clique: float(sum(held[column] for column in clique)) for clique in candidates}
    most = max(found.values())
    return {clique: weight / most for clique, weight in found.items()}


def _choose(
    scores: dict[Clique, float], epsilon: float, measured: Measurements, most: float, rng: np.random.Generator
) -> Clique:
    """The exponential mechanism, with sensitivity one, among the candidates with which the model stays small enough."""
    noisy = {clique: epsilon / 2 * score + rng.gumbel() for clique, score in scores.items()}
    cliques, sizes = measured.cliques, measured.rows.sizes
    now = model_cells(sizes, cliques)
    for clique in sorted(noisy, key=lambda each: noisy[each], reverse=True):
        inside = any(set(clique) <= set(known) for known in cliques)
        if inside or (now <= most and model_cells(sizes, [*cliques, clique]) <= most):
            return clique
    raise AssertionError("single columns always fit")


def mst(rows: Rows, rho: float, rng: np.random.Generator, *, iterations: int = 5000, tolerance: float = 1e-5) -> Any:
    """MST: a third of the budget for all columns, a third to choose a tree of pairs, a third for the pairs of the tree."""
    measured = Measurements(rows)
    for column in rows.columns:
        measured.measure((column,), math.sqrt(3 * len(rows.sizes) / (2 * rho)), rng)
    model = fit(measured, iterations, tolerance)
    alone = model.singles()
    gaps = {
        pair: float(np.abs(rows.count(pair) - np.outer(alone[pair[0],], alone[pair[1],]).ravel() / model.total).sum())
        for pair in rows.pairs
    }
    edges = len(rows.sizes) - 1
    tree: Any = networkx.Graph()
    tree.add_nodes_from(rows.columns)
    epsilon = math.sqrt(8 * rho / 3 / edges)
    for _ in range(edges):
        part = {column: number for number, some in enumerate(networkx.connected_components(tree)) for column in some}
        noisy = {pair: epsilon / 2 * gap + rng.gumbel() for pair, gap in gaps.items() if part[pair[0]] != part[pair[1]]}
        tree.add_edge(*max(noisy, key=lambda each: noisy[each]))
    for pair in tree.edges:
        measured.measure(tuple(sorted(pair)), math.sqrt(3 * edges / (2 * rho)), rng)
    return last_fit(measured, fit(measured, iterations, tolerance, model))


def main(folder: Path) -> None:
    job = json.loads((folder / "job.json").read_text())
    rows = Rows(np.load(folder / "train.npy").astype(np.int64), tuple(job["sizes"]))
    mechanism = {"aim": aim, "mst": mst}[job["method"].split("-")[0]]
    settings = job["settings"]
    if settings.pop("told_target", False):
        settings["target"] = job["columns"].index(job["target"])
    # The privacy noise has no seed; the sampling of rows from the model has.
    model = mechanism(rows, rho_of(job["epsilon"], job["delta"]), np.random.default_rng(), **settings)
    np.random.seed(job["seed"])
    made = model.synthetic_data(rows=len(rows.levels)).to_dict()
    np.save(folder / "synthetic.npy", np.stack([made[column] for column in rows.columns], axis=1).astype(np.int64))
    packages = ("mbi", "jax", "jaxlib", "numpy")
    (folder / "versions.json").write_text(json.dumps({name: version(name) for name in packages}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
