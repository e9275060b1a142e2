"""Which tables and figures a run makes, and what from."""

from pathlib import Path

import yaml

from reproduction import config, exhibits

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())


def test_templates_are_made_for_each_experiment_of_their_kind():
    kinds = {"regression": exhibits.RELEASES, "adult": exhibits.TRAINING}
    (curves,) = exhibits.fill("curves_{experiment}", "releases", ("summary/{experiment}",), kinds)
    assert (curves.name, curves.inputs) == ("curves_regression", ("summary/regression",))
    (plain,) = exhibits.fill("price", "", ("summary/{experiment}", "summary/{training}"), kinds)
    assert plain.inputs == ("summary/regression", "summary/adult")


def test_what_a_run_does_not_make_is_left_out():
    tables, figures = exhibits.plan(config.resolve(SHIPPED))
    assert {"table1", "table3", "imgm_adult", "claims", "advice"} <= tables.keys()
    assert {"figure4_left", "section10_2", "nominal"} <= figures.keys()
    assert "summary/first_pc" not in tables["table3"]
    first_pc = {"first_pc": SHIPPED["experiments"]["first_pc"]}
    tables, figures = exhibits.plan(config.resolve({"experiments": first_pc, "training": {}}))
    assert not {"table3", "section10_2", "imgm_adult"} & tables.keys()
    assert "figure4_middle" in figures
