"""What the tables of set-ups say of each training is what it is."""

from __future__ import annotations

from reproduction import catalogue, discovery
from reproduction.experiments import training
from reproduction.experiments.readings import DEFAULT
from reproduction.experiments.training import features
from reproduction.report.tables.training import READINGS


def test_every_training_says_what_is_protected_and_of_which_kind_it_is():
    for name in discovery.trainings():
        one = training.find_training(name)
        about = catalogue.experiment(name)
        assert about.protected
        assert about.perturbation == one.perturbation


def test_the_tables_have_a_title_for_each_reading_of_features():
    assert (DEFAULT, *READINGS) == features.READINGS
