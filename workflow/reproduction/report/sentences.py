"""Sentences are text: Jinja with numbers of a run by name, and guards on what they assume.

``n("inflation.low")`` is a number of ``workflow/numbers.yaml``. A sentence that holds only for some
verdicts or counts stands in a guard, which is a block; it names each with the value that the
sentence assumes::

    {% call when("claims.M2", "reproduced", "refuted.MVG", "0") %}
    MVG asks for {{ n("inflation.low") }} times the noise that it needs.
    {% endcall %}

``has("tables/second_seed")`` says whether a run has a result that others lack.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

import jinja2

from matrixdp.checks import InputError
from reproduction import catalogue, files, job_settings
from reproduction.report import inputs, numbers
from reproduction.report.inputs import Files, Run
from reproduction.report.numbers import PrintedNumber

#: The texts of plain files, such as README.
TEXTS = numbers.FILE.with_name("texts")

#: The settings that the sentences are written for.
REFERENCE = numbers.FILE.parents[1] / "results" / "reference" / "settings.yaml"


class Sentences:
    """The numbers of a run, and what becomes of a sentence that does not hold in it.

    In the run that the sentences are written for it is an error, which quotes the sentence. Any
    other run, with fewer trials or on simulated data, does without the sentence.

    Args:
        of_run: files of the run by name.
        look: from a number to what a text shows of it; by default its plain text.
        otherwise: what stands in place of a sentence, by the name of what it assumes, the value
            there and the one that it has here; by default nothing.
    """

    def __init__(
        self,
        of_run: Files,
        look: Callable[[PrintedNumber], str] = lambda number: number.text,
        otherwise: Callable[[str, str, str], str] = lambda *_: "",
    ) -> None:
        self.numbers = numbers.load_numbers(of_run)
        self._results = {*of_run}
        self.strict = not missing_parts(of_run)
        self._look, self._otherwise = look, otherwise
        self._missing = 0
        #: The numbers that texts and guards have named so far.
        self.used: dict[str, PrintedNumber] = {}

    def names(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that a template calls."""
        return {"n": self.n, "when": self.when, "has": self._results.__contains__}

    def text(self, name: str) -> str:
        """Return a text of ``workflow/texts`` in Markdown."""
        return _environment().get_template(name).render(**self.names())

    def headlines(self) -> dict[str, str]:
        """Return what one finds in tables and figures by their names; empty for nothing."""
        _, *parts = re.split(r"^## (\S+)\n", self.text("headlines.md"), flags=re.MULTILINE)
        texts = zip(parts[::2], parts[1::2], strict=True)
        return {name: " ".join(text.split()) for name, text in texts}

    def n(self, name: str) -> str:
        """Return a number as text; ``n/a`` where a run has none."""
        number = self._number(name)
        self._missing += number.text == numbers.MISSING
        return self._look(number)

    def when(self, *assumed: str, caller: Callable[[], str]) -> str:
        """Return a sentence if each name, which comes before its value, has the value.

        A sentence with a number that the run lacks counts as one that does not hold.

        Raises:
            InputError: it has another one in the run that the sentences are written for.
        """
        for name, value in zip(assumed[::2], assumed[1::2], strict=True):
            if (actual := self._number(name).text) == value:
                continue
            if self.strict:
                self._look = lambda number: number.text
                raise InputError(
                    f"the sentence «{' '.join(caller().split())}» assumes that {name} is "
                    f"«{value}»; in this run it is «{actual}»: rewrite the sentence"
                )
            return self._otherwise(name, value, actual)
        before = self._missing
        sentence = caller()
        return "" if self._missing > before else sentence

    def _number(self, name: str) -> PrintedNumber:
        number = self.numbers.get(name)
        if number is None and not name.startswith(("claims.", "count.")):
            raise InputError(f"numbers.yaml has no entry {name}; add it, or correct the name")
        number = number or PrintedNumber(numbers.MISSING, None, "none", "claims", "claims.csv")
        if self.strict and number.text == numbers.MISSING:
            raise InputError(f"this run has no value for {name} ({number.source}); run it again")
        self.used[name] = number
        return number


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEXTS),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def missing_parts(of_run: Files) -> str:
    """Return why a run is not the one that the sentences are written for; empty if it is."""
    run = Run(of_run)
    if not job_settings.covers_papers(run.settings):
        return "A run on other experiments than the papers'"
    statuses = [inputs.provenance(path)["status"] for path in inputs.data_sets(of_run)]
    if "simulated" in statuses:
        return "Simulated data: a test of the workflow, not a result"
    names = [name for name in run.experiments if f"summary/{name}" not in run]
    if names:
        return f"A run without {' and '.join(catalogue.experiment(name).title for name in names)}"
    return "" if _is_full(run.settings) else "A run with other settings than the full one"


def _is_full(settings: Mapping[str, Any]) -> bool:
    if not REFERENCE.is_file():
        return True
    reference = files.read_yaml(REFERENCE)
    return all(
        settings.get(key) == reference.get(key) for key in ("experiments", "training", "reading")
    )
