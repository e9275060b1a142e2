"""The catalogue: each name once, a plain fallback for what has none."""

import csv
import functools
import re

import pytest
import yaml

from matrixdp.checks import InputError
from reproduction import catalogue, files
from reproduction.theory import published_settings


class _Strict(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML keeps the last without a word."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len({*keys}) == len(keys), f"a key stands twice in {node.start_mark}: {keys}"
        return super().construct_mapping(node, deep)


def test_no_key_stands_twice():
    folder = catalogue.FOLDER.parent
    for file in [
        *folder.glob("*.yaml"),
        *catalogue.FOLDER.iterdir(),
        *folder.glob("config/*.yaml"),
        folder.parent / "config.yaml",
    ]:
        yaml.load(re.sub(r"<<: [*]\w+,?", "", file.read_text(encoding="utf-8")), Loader=_Strict)


@pytest.mark.parametrize(
    ("stem", "path", "value", "sentence"),
    [
        ("words", "metrics/rmse/axes", "RMSE", "metrics.rmse has the unknown key 'axes'; did you"),
        ("words", "metrics/rmse", {"name": "RMSE"}, "metrics.rmse lacks the key 'axis': its name"),
        ("words", "glossary", {}, " has the unknown key 'glossary'; it must be one of"),
        ("experiments", "experiments/cora/title", "C", "experiments.cora has the unknown key 'tit"),
        ("experiments", "experiments/cora/paper", "MGV", "paper is 'MGV'; did you mean 'MVG'?"),
        ("experiments", "experiments/cora/table", "3", "table is '3'; it must be a whole number"),
        ("mechanisms", "families/MVG/mvg_iid/color", "red", "key 'color'; did you mean 'colour'"),
        ("mechanisms", "families/MVG/mvg_iid/colour", "red", "colour is 'red'; it must be its col"),
        ("schemes", "schemes/gradient", {}, "schemes has the unknown key 'gradient'; did you mean"),
        ("papers", "papers/MVG", "mvg_iid", "papers.MVG is 'mvg_iid'; it must be a list, each"),
        ("glossary", "glossary/trial", 1, "glossary.trial is 1; it must be a text"),
        ("citations", "cite/laplace", {}, "cite has the unknown key 'laplace'; it must be one of"),
    ],
)
def test_a_wrong_entry_is_one_sentence(stem, path, value, sentence, tmp_path, monkeypatch):
    content = files.read_yaml(catalogue.FOLDER / f"{stem}.yaml")
    *above, last = path.split("/")
    functools.reduce(dict.__getitem__, above, content)[last] = value
    (tmp_path / f"{stem}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    monkeypatch.setattr(catalogue, "FOLDER", tmp_path)
    with pytest.raises(InputError) as raised:
        catalogue.read_file.__wrapped__(stem)
    text = str(raised.value)
    assert text.startswith(f"workflow/catalogue/{stem}.yaml")
    assert sentence in text
    assert "\n" not in text


def test_what_has_no_entry_goes_by_its_identifier():
    assert catalogue.label("unheard_of") == "unheard_of"
    assert catalogue.family("unheard_of") == catalogue.OTHER
    assert catalogue.experiment("unheard_of").title == "unheard_of"
    assert catalogue.rank("unheard_of") > max(map(catalogue.rank, catalogue.legends()))


def test_the_papers_compare_what_their_tables_print():
    papers, others = catalogue.section("papers"), catalogue.section("compared")
    printed = {
        row["mechanism"]
        for file in catalogue.FOLDER.parent.glob("published/*.csv")
        for row in csv.DictReader(file.open(encoding="utf-8"))
        if "mechanism" in row
    }
    assert {*papers["MVG"], *others["MVG"]} == printed - {*catalogue.BASELINES}
    imgm = {*papers["IMGM"], *others["IMGM"]}
    assert {*published_settings.SCHEMES} <= imgm
    schemes = {**catalogue.schemes("gradients"), **catalogue.schemes("features")}
    assert imgm <= schemes.keys()
    # The rest is beyond the papers, or the formulas of public code.
    rest = {*schemes} - imgm - {*papers["MVG"]}
    assert rest == {"pld_gaussian", "banded", "generalized_gamma", "mvg_iid"} | {
        name for name in schemes if "_code" in name
    }
    names = [name for lists in (papers, others) for each in lists.values() for name in each]
    assert len(names) == len(catalogue.papers_mechanisms())
