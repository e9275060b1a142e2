"""What the tables of set-ups say of each training is what it is."""

from __future__ import annotations

from reproduction import catalogue, discovery
from reproduction.experiments import training


def test_every_training_says_what_is_protected_and_of_which_kind_it_is():
    for name in discovery.trainings():
        one = training.find(name)
        about = catalogue.experiment(name)
        assert about.protected
        assert about.perturbation == one.perturbation
