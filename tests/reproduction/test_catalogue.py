"""The catalogue: each name once, a plain fallback for what has none."""

import csv
import re

import yaml

from reproduction import catalogue
from reproduction.theory import published_settings


class _Strict(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML keeps the last without a word."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len({*keys}) == len(keys), f"a key stands twice in {node.start_mark}: {keys}"
        return super().construct_mapping(node, deep)


def test_no_key_stands_twice():
    folder = catalogue.FILE.parent
    for file in [
        *folder.glob("*.yaml"),
        *folder.glob("config/*.yaml"),
        folder.parent / "config.yaml",
    ]:
        yaml.load(re.sub(r"<<: [*]\w+,?", "", file.read_text(encoding="utf-8")), Loader=_Strict)


def test_what_has_no_entry_goes_by_its_identifier():
    assert catalogue.label("unheard_of") == "unheard_of"
    assert catalogue.family("unheard_of") == catalogue.OTHER
    assert catalogue.experiment("unheard_of").title == "unheard_of"
    assert catalogue.rank("unheard_of") > max(map(catalogue.rank, catalogue.legends()))


def test_the_papers_compare_what_their_tables_print():
    papers, others = catalogue.section("papers"), catalogue.section("compared")
    printed = {
        row["mechanism"]
        for file in catalogue.FILE.parent.glob("published/*.csv")
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
    assert len(names) == len(catalogue.of_papers())
