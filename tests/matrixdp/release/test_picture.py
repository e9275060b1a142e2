"""Pictures of the noise say what receipts and `recommend` say, and nothing of the records."""

import json
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import harness
import pytest

from matrixdp import cli
from matrixdp.release import choices, picture, receipt_page

SVG = "{http://www.w3.org/2000/svg}"
#: Width of a character of 13 pixels at most, on average.
LETTER = 7.2


def drawn(text):
    """Return the root of a picture, whose texts all lie within it."""
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    title, words = root[0], root[1]
    assert root.get("aria-labelledby") == f"{title.get('id')} {words.get('id')}"
    width = float(root.get("viewBox").split()[2])
    for label in root.iter(f"{SVG}text"):
        size = LETTER * len(label.text) * (12 / 13 if "small" in (label.get("class") or "") else 1)
        anchor = re.findall("end|middle", label.get("class") or "") or ["start"]
        start = float(label.get("x")) - size * {"start": 0, "middle": 0.5, "end": 1}[anchor[0]]
        assert 0 <= start <= start + size <= width + LETTER, label.text
    return root


def bars(root, kind="rect"):
    """Return the widths of the bars of noise, as shares of a range."""
    shapes = [shape for shape in root.iter(f"{SVG}{kind}") if "bar" in (shape.get("class") or "")]
    return [float(shape.get("width")) / (picture._RIGHT - picture._LEFT) for shape in shapes]


@pytest.mark.parametrize("keys", [{}, {"adjacency": "add_or_remove"}, {"query": "records"}])
def test_a_bar_is_as_wide_as_the_noise_of_the_receipt(tmp_path, keys):
    spec = harness.spec(tmp_path, mechanism="laplace", **keys)
    (option,) = choices.possible(spec, choices.alone(spec))
    root = drawn(picture.draw(picture.of_options(spec, [option])))
    noise = spec.by(option.key).noise_of(option)
    kinds = ("interval_95_plus_or_minus", "noise_std_with_means_at_a_bound", "noise_std")
    sizes = next(noise[kind] for kind in kinds if kind in noise)
    ranges = dict(zip(spec.columns, spec.box.widths, strict=True))
    wide = {name: min(2 * size / ranges[name], 1) for name, size in sizes.items()}
    assert bars(root) == pytest.approx([*wide.values()], abs=2e-3)
    assert bars(root) != pytest.approx([size / 2 for size in wide.values()], abs=2e-3)
    for size in sizes.values():
        assert f"± {receipt_page.up(size)}." in root[1].text


def test_a_curve_has_the_losses_of_the_table(tmp_path, capsys):
    path = harness.write(tmp_path, query="second_moments", bounds={"age": [0, 120]})
    file = tmp_path / "noise.svg"
    assert cli.main(["recommend", str(path), "--picture", str(file), "--json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)["releases"]
    root = drawn(file.read_text(encoding="utf-8"))
    shown = [label.text for label in root.iter(f"{SVG}text")]
    curves = [*root.iter(f"{SVG}polyline")]
    # Lines stand at powers of ten, the lowest at the least loss that a picture tells apart.
    paths = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("class") == "grid"]
    levels = [float(re.findall(r"[\d.]+", path)[1]) for path in paths]
    ten = levels[0] - levels[1]
    assert len(curves) == len(said["mechanisms"]) > 1
    for option, curve in zip(said["mechanisms"], curves, strict=True):
        at = shown.index(option["name"])
        assert shown[at + 1 : at + 5] == [f"{loss:.2f}" for loss in option["losses"]]
        heights = [float(point.split(",")[1]) for point in curve.get("points").split()]
        tens = [math.log10(max(loss, 0.01) / 0.01) for loss in option["losses"]]
        assert heights == pytest.approx([levels[0] - ten * share for share in tens], abs=0.1)


def test_each_answer_of_a_list_has_its_part(tmp_path, capsys):
    harness.save(tmp_path / "people.csv")
    query, bounds = ["mean", "covariance"], {"age": [0, 120]}
    path = harness.write(tmp_path, query=query, bounds=bounds, mechanism="gaussian")
    file = tmp_path / "noise.svg"
    assert cli.main(["recommend", str(path), "--picture", str(file)]) == 0
    title = drawn(file.read_text(encoding="utf-8"))[0].text
    assert title == "mean: noise at epsilon 2; covariance: noise at epsilon 2"
    assert cli.main(["release", str(path), "--out", str(tmp_path / "out")]) == 0
    assert {one.name for one in (tmp_path / "out").glob("*.svg")} == {
        "mean.receipt.svg",
        "covariance.receipt.svg",
    }


def test_bars_of_mechanisms_have_one_measure(tmp_path, capsys):
    """Some mechanisms state an interval of 95 %, and others a standard deviation alone."""
    harness.save(tmp_path / "people.csv")
    path = harness.write(tmp_path, query=["mean", "covariance"], bounds={"age": [0, 120]})
    file = tmp_path / "noise.svg"
    assert cli.main(["recommend", str(path), "--picture", str(file)]) == 0
    said = capsys.readouterr().out
    printed = dict(re.findall(r"^(\w+) +mean: noise of \+- ([\d.]+) in", said, re.M))
    words = drawn(file.read_text(encoding="utf-8"))[1].text.split("covariance: noise")[0]
    shown = dict(re.findall(r"(\w+): ± ([\d.]+\d)", words))
    assert {"clipped", "gaussian"} <= shown.keys()
    for key, size in shown.items():
        # Pictures round upwards.
        assert float(size) == pytest.approx(float(printed[key]), rel=0.01)


@pytest.mark.parametrize("query", ["mean", "covariance"])
def test_a_picture_is_the_same_whatever_the_records(tmp_path, query):
    keys = {"query": query, "mechanism": "gaussian", "total": {"epsilon": 4, "delta": 1e-5}}
    texts = []
    for shift in (0, 5e4):
        folder = tmp_path / str(shift)
        folder.mkdir()
        harness.save(folder / "people.csv", harness.ROWS - shift)
        assert harness.run(folder, insist=True, **keys) == 0
        texts.append((folder / "out" / f"{query}.receipt.svg").read_text(encoding="utf-8"))
        assert f"]({query}.receipt.svg)" in (folder / f"out/{query}.receipt.md").read_text()
        drawn(texts[-1])
    assert texts[0] == texts[1]
    # The control: public facts change it.
    assert harness.run(folder, "other", insist=True, **{**keys, "epsilon": 2.5}) == 0
    assert (folder / f"other/{query}.receipt.svg").read_text(encoding="utf-8") != texts[1]


NAMES = ['<b a="1">&amp;', "a\u0007b\u0085c", "long " * 60, "年" * 90, "]]>", "\ufffe"]


def test_any_name_of_a_column_stays_within_the_picture(tmp_path):
    bounds = {name: [-1e69, 1.23456789e69] for name in NAMES}
    bounds |= {str(number): [0, 1e-9] for number in range(12)}
    spec = harness.spec(tmp_path, bounds=bounds, label=NAMES[0])
    root = drawn(
        picture.draw(picture.of_options(spec, choices.possible(spec, choices.alone(spec))))
    )
    shown = [label.text for label in root.iter(f"{SVG}text")]
    assert NAMES[0] in shown
    assert "and 6 more columns" in shown
    assert not [label for label in shown if len(label) > 60]


COUNTS = {"by": "region", "categories": {"region": ["a", "b"]}, "bounds": None, "missing": None}
#: Requests without a picture, and why there is none.
WITHOUT = [
    ({"query": "covariance", "max_norm": 1e4}, "simulated without max_norm and for at most 100"),
    ({"query": ["mean", "covariance"], "max_norm": 1e4}, "simulated without max_norm"),
    ({"query": "counts", **COUNTS}, "as no range is stated of its numbers"),
    ({"query": "bounds", "columns": ["age"], "bounds": None}, "as no range is stated of its"),
]


@pytest.mark.parametrize(("keys", "reason"), WITHOUT)
def test_a_query_without_a_picture_says_so(tmp_path, capsys, keys, reason):
    path = harness.write(tmp_path, **keys)
    file = tmp_path / "noise.svg"
    assert cli.main(["recommend", str(path), "--picture", str(file)]) == 2
    says = capsys.readouterr().err
    assert reason in says
    assert "leave --picture out, and read the noise in words" in says
    assert not Path(file).exists()
    # The remedy.
    assert cli.main(["recommend", str(path)]) == 0
    words = "private bounds need" if keys["query"] == "bounds" else "noise"
    assert words in capsys.readouterr().out
