"""Pictures of error against epsilon: from public facts, and only where somebody asks for one."""

import sys

import pytest
import samplefile
from exactness import same_copies
from matplotlib.figure import Figure

import matrixdp as mdp
from matrixdp import cli
from matrixdp.release import choices, specification
from matrixdp.release.recommend import options


@pytest.fixture
def folder(tmp_path):
    samplefile.save(tmp_path / "people.csv")
    return tmp_path


def recommend(folder, picture, **given):
    path = samplefile.written(folder, **given)
    return cli.main(["recommend", str(path), "--picture", str(folder / picture)])


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_recommend_draws_a_picture_and_reads_no_record(folder, suffix, capsys):
    (folder / "people.csv").write_text("age,income\nsecret,secret\n")
    assert recommend(folder, f"error.{suffix}") == 0
    assert f"picture: {folder / f'error.{suffix}'}" in capsys.readouterr().out
    assert (folder / f"error.{suffix}").stat().st_size > 1000


def test_several_releases_have_a_picture_each(folder):
    path = folder / "spec.toml"
    path.write_text(
        """
        file = "people.csv"
        records = 400
        missing = "refuse"
        total = {epsilon = 2, delta = 1e-5}
        [bounds]
        age = [0, 120]
        [[release]]
        query = "mean"
        [[release]]
        query = "covariance"
        """
    )
    assert cli.main(["recommend", str(path), "--picture", str(folder / "e.svg")]) == 0
    assert {file.name for file in folder.glob("*.svg")} == {"e-mean.svg", "e-covariance.svg"}


def test_curves_are_the_announced_errors_and_the_stated_epsilon_is_marked():
    query = mdp.MeanQuery(mdp.Box((0, 0), (120, 200_000)), n_records=40)
    budget = {"epsilon": 0.5, "delta": 1e-6}
    (axes,) = mdp.plot_error(query, **budget).axes
    curves = {line.get_label(): line.get_xydata() for line in axes.lines}
    for option in options(query, **budget):
        points = curves[f"{option.name}: {100 * option.error:.3g} % at epsilon 0.5"]
        assert points[[0, -1], 0] == pytest.approx([0.05, 5])
        for epsilon, error in points[::8]:
            (same,) = (
                other
                for other in options(query, epsilon=epsilon, delta=1e-6)
                if other.name == option.name
            )
            assert error == pytest.approx(same.error)
    assert any(same_copies(line.get_xdata(), [0.5, 0.5]) for line in axes.lines)
    assert axes.get_xlabel() == "epsilon, at delta 1e-06"
    assert axes.get_ylabel().startswith("noise in the numbers (root mean square)")
    assert axes.texts[0].get_text() == "above this line noise hides everything"


def test_every_mechanism_of_a_specification_has_a_curve(folder, monkeypatch):
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: figures.append(self))
    assert recommend(folder, "error.svg", query="regression", more='target = "income"') == 0
    spec = specification.read(folder / "spec.toml")
    (axes,) = figures[0].axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [label.partition(":")[0] for label in labels] == [
        option.name for option in choices.candidates(spec)
    ]
    assert sum("of what records that fill the radius allow" in label for label in labels) == 1


def test_a_curve_ends_where_no_safe_noise_gives_the_epsilon():
    query = mdp.MeanQuery(mdp.Box((0, 0), (120, 200_000)), n_records=40)
    with pytest.raises(mdp.InputError, match="safe noise"):
        options(query, epsilon=30, delta=1e-6)
    (axes,) = mdp.plot_error(query, epsilon=3, delta=1e-6).axes
    ends = max((line.get_xdata() for line in axes.lines), key=len)[[0, -1]]
    assert ends[0] == pytest.approx(0.3)
    assert 3 < ends[1] < 30


@pytest.mark.parametrize(
    ("picture", "words"),
    [
        ("people.csv", "give a name that ends in .svg, .png, .pdf"),
        ("nowhere/error.svg", "cannot be written (no such file or directory)"),
    ],
)
def test_a_picture_that_cannot_be_written_is_one_sentence(folder, picture, words, capsys):
    before = (folder / "people.csv").read_text()
    assert recommend(folder, picture) == 2
    assert words in capsys.readouterr().err
    assert (folder / "people.csv").read_text() == before


def test_without_matplotlib_one_sentence_says_so(folder, monkeypatch, capsys):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert recommend(folder, "error.svg") == 2
    assert "a picture needs the package matplotlib" in capsys.readouterr().err
    assert cli.main(["recommend", str(folder / "spec.toml")]) == 0
