"""Published: what the papers report for tables at (1, 1e-5), as data.

Means over twelve classifiers and five runs. ROC and PRC are computed from predicted classes, F1 is weighted: the
measures `hard_roc`, `hard_prc` and `hard_f1` of `pointillist.evaluate.research.papers_protocol`.

Sources:

- DP-MERF: Harder, Adamczewski and Park, "DP-MERF: Differentially Private Mean Embeddings with Random Features for
  Practical Privacy-Preserving Data Generation", AISTATS 2021, Table 1. Its credit and intrusion lines agree with the
  averages of Tables 6 and 8 of its supplement.
- DP-HP: Vinaroz, Charusaie, Harder, Adamczewski and Park, "Hermite Polynomial Features for Private Data Generation",
  ICML 2022, Table 2. It takes the best of several configurations of each classifier on the test rows.
"""

from dataclasses import dataclass

DP_MERF, DP_HP = "DP-MERF", "DP-HP"
"""The papers, and their own methods."""
REAL = "real rows"
BINARY, MANY = ("hard_roc", "hard_prc"), ("hard_f1",)

_HEADS = {
    DP_MERF: (REAL, "DP-CGAN", "DP-GAN", DP_MERF, "DP-MERF, not private"),
    DP_HP: (REAL, "DP-CGAN", "DP-GAN", DP_MERF, DP_HP),
}
_ROWS: dict[str, dict[str, tuple[float | None, ...]]] = {
    DP_MERF: {
        "adult": (0.730, 0.639, 0.509, 0.444, 0.511, 0.445, 0.650, 0.564, 0.653, 0.570),
        "census": (0.747, 0.415, 0.655, 0.216, 0.529, 0.166, 0.686, 0.358, 0.692, 0.369),
        "cervical": (0.786, 0.493, 0.519, 0.200, 0.485, 0.183, 0.545, 0.184, 0.896, 0.737),
        "credit": (0.923, 0.874, 0.664, 0.356, 0.435, 0.150, 0.772, 0.637, 0.898, 0.774),
        "epileptic": (0.797, 0.617, 0.578, 0.241, 0.505, 0.196, 0.611, 0.340, 0.616, 0.335),
        "isolet": (0.893, 0.728, 0.511, 0.198, 0.540, 0.205, 0.547, 0.404, 0.733, 0.424),
        "covtype": (0.643, 0.285, 0.492, 0.467, 0.513),
        "intrusion": (None, 0.302, 0.251, 0.850, 0.856),  # the copy at hand cannot be read where real rows stand
    },
    DP_HP: {
        "adult": (0.786, 0.683, 0.509, 0.444, 0.511, 0.445, 0.642, 0.524, 0.688, 0.632),
        "census": (0.776, 0.433, 0.655, 0.216, 0.529, 0.166, 0.685, 0.236, 0.699, 0.328),
        "cervical": (0.959, 0.858, 0.519, 0.200, 0.485, 0.183, 0.531, 0.176, 0.616, 0.312),
        "credit": (0.924, 0.864, 0.664, 0.356, 0.435, 0.150, 0.751, 0.622, 0.786, 0.744),
        "epileptic": (0.808, 0.636, 0.578, 0.241, 0.505, 0.196, 0.605, 0.316, 0.609, 0.554),
        "isolet": (0.895, 0.741, 0.511, 0.198, 0.540, 0.205, 0.557, 0.228, 0.572, 0.498),
        "covtype": (0.820, 0.285, 0.492, 0.467, 0.537),
        "intrusion": (0.971, 0.302, 0.251, 0.892, 0.890),
    },
}


@dataclass(frozen=True)
class Figure:
    """One line of one paper's table."""

    dataset: str
    paper: str
    method: str
    scores: dict[str, float]
    """By measure; without those that could not be read."""

    @property
    def private(self) -> bool:
        return self.method not in (REAL, "DP-MERF, not private")


def _figures() -> tuple[Figure, ...]:
    found = []
    for paper, rows in _ROWS.items():
        for dataset, values in rows.items():
            measures = BINARY if len(values) == 2 * len(_HEADS[paper]) else MANY
            for place, method in enumerate(_HEADS[paper]):
                mine = zip(measures, values[place * len(measures) :], strict=False)
                found.append(Figure(dataset, paper, method, {name: value for name, value in mine if value is not None}))
    return tuple(found)


FIGURES = _figures()
DATASETS = tuple(_ROWS[DP_MERF])


def measures_of(dataset: str) -> tuple[str, ...]:
    """What the papers report for a data set."""
    return MANY if len(_ROWS[DP_HP][dataset]) == len(_HEADS[DP_HP]) else BINARY


def figure(dataset: str, paper: str, method: str) -> Figure:
    """One line."""
    return next(each for each in FIGURES if (each.dataset, each.paper, each.method) == (dataset, paper, method))


def best_private(dataset: str, measure: str) -> Figure:
    """The highest private score over both papers' tables."""
    private = [each for each in FIGURES if each.dataset == dataset and each.private]
    return max(private, key=lambda each: each.scores[measure])


def attainable_prc(roc: float, share: float) -> float:
    """The highest `hard_prc` that goes with a `hard_roc` of at least one half, where `share` of the rows are positive.

    With recall R, false-positive rate F and precision P, hard_roc is (1 + R - F) / 2 and hard_prc is R P + (1 - R)
    share. For a given R - F it is highest without a false positive. Linear in roc, so it holds for means too, as long
    as no classifier is worse than chance. A published pair above it cannot come from this protocol and this share.
    """
    recall = max(0.0, 2 * roc - 1)
    return recall + (1 - recall) * share
