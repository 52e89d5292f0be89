import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pointillist.studio.plan_folder import PlanFolder


def test_one_of_many_confirms(tmp_path: Path) -> None:
    plan = PlanFolder(tmp_path)
    assert not plan.confirmed
    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(lambda _: PlanFolder(tmp_path).confirm(), range(40)))
    assert first.count(True) == 1
    assert plan.confirmed
    plan.withdraw()
    assert not plan.confirmed


def test_the_latest_synthetic_data_count(tmp_path: Path) -> None:
    plan = PlanFolder(tmp_path)
    assert plan.synthetic is None
    for time, name in enumerate(("synthetic.csv", "synthetic.parquet")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time, time))
    assert plan.synthetic == tmp_path / "synthetic.parquet"
