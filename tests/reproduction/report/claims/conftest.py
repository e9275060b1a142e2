import pandas as pd
import pytest
import yaml
from claimentries import KNOWN
from trialrows import trials

from reproduction import catalogue
from reproduction.report import comparisons, findings, inputs, summary
from reproduction.report.claims import definitions
from reproduction.report.claims.judge import Judge


@pytest.fixture
def run(tmp_path):
    """Return a function that puts trials in a run's folder and judges claims on them."""

    there = {}

    def same(frames, experiment):
        """Whether these trials are there already."""
        before = there.get(experiment, {})
        return before.keys() == frames.keys() and all(
            frames[name].equals(before[name]) for name in frames
        )

    def put(frames, experiment="regression"):
        there[experiment] = {name: frame.copy() for name, frame in frames.items()}
        paths = []
        for name, frame in frames.items():
            path = tmp_path / "trials" / experiment / "default" / f"{name}.csv.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            frame.to_csv(path, index=False)
            paths.append(path)
        results = tmp_path / "summary" / f"{experiment}.csv"
        summary.write_summary(paths, results)
        comparisons.write_comparisons(
            paths, results, tmp_path / "comparisons" / f"{experiment}.csv"
        )

    def judge(entries, rows=None, table_epsilon="1", **fields):
        experiment = fields.get("experiment", "regression")
        if rows is not None:
            # A baseline has no epsilon.
            free = {name: {"epsilon": ""} for name in catalogue.BASELINES}
            frames = {
                name: value
                if isinstance(value, pd.DataFrame)
                else trials(name, value, **fields | free.get(name, {}))
                for name, value in rows.items()
            }
            if not same(frames, experiment):
                put(frames, experiment)
        path = tmp_path / "claims.yaml"
        path.write_text(yaml.safe_dump(entries))
        judge = Judge(inputs.files_of_folder(tmp_path), epsilon=table_epsilon)
        table, comparisons = judge.judge(definitions.read_definitions(KNOWN, path))
        said = [findings.sentences(row) for row in table.to_dict("records")]
        return table.assign(said=said).set_index("id"), comparisons

    judge.put, judge.folder = put, tmp_path
    return judge
