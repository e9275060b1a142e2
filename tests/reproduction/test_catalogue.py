"""The catalogue: each name once, a plain fallback for what has none."""

import re

import yaml

from reproduction import catalogue


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
        yaml.load(re.sub(r"<<: [*]\w+", "", file.read_text(encoding="utf-8")), Loader=_Strict)


def test_what_has_no_entry_goes_by_its_identifier():
    assert catalogue.label("unheard_of") == "unheard_of"
    assert catalogue.family("unheard_of") == catalogue.OTHER
    assert catalogue.experiment("unheard_of").title == "unheard_of"
    assert catalogue.rank("unheard_of") > max(map(catalogue.rank, catalogue.legends()))
