"""AdaBoost by SAMME.R: on paper, and where one stump is not enough."""

import numpy as np

from pointillist.evaluate.learners.boosting import RealBoosting


def test_two_rounds_by_hand() -> None:
    """Four points on a line: the first stump splits after the first or before the last, and the votes add up."""
    x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    model = RealBoosting(rounds=5).fit(x, y)
    assert len(model._stumps) == 1  # one stump says it all
    assert model.predict(x).tolist() == y.tolist()


def test_it_learns_more_than_one_stump_can() -> None:
    """Class 1 lies between two of class 0: no single cut tells them apart."""
    x = np.linspace(0, 1, 300)[:, None]
    y = ((x[:, 0] > 0.3) & (x[:, 0] < 0.7)).astype(np.int64)
    stump, many = (np.mean(RealBoosting(rounds).fit(x, y).predict(x) == y) for rounds in (1, 60))
    assert stump < 0.8
    assert many > 0.95


def test_hard_images_weigh_more() -> None:
    """With a slower rate the same rounds change less."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 5))
    y = (x[:, :3].sum(axis=1) > 0).astype(np.int64)
    slow, fast = (RealBoosting(10, rate=rate).fit(x, y) for rate in (1e-9, 1.0))
    assert len({stump.tree_.feature[0] for stump in slow._stumps}) == 1  # the weights stay as they were
    assert len({stump.tree_.feature[0] for stump in fast._stumps}) == 3
