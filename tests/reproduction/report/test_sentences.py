"""A sentence states the numbers of a run, and is said only where it holds."""

import re

import jinja2
import pandas as pd
import pytest
import yaml
from packages import KEPT, ROOT

from matrixdp.checks import InputError
from reproduction.cli.texts import FILES
from reproduction.report import inputs, numbers, texts
from reproduction.report.sentences import TEXTS, Sentences

ARTICLE = (ROOT / "workflow/article/article.typ").read_text(encoding="utf-8")
PAGE = ROOT / "workflow/reproduction/report/page"


@pytest.fixture(scope="module")
def kept():
    return Sentences(inputs.files_of_folder(KEPT))


@pytest.fixture(scope="module")
def other(root):
    """Return the sentences of a run with other settings, and without claims."""
    return Sentences(inputs.files_of_folder(root))


def say(sentences, text):
    return jinja2.Template(text).render(**sentences.names())


GUARDED = '{% call when("claims.M15", "VERDICT") %}Of {{ n("I.zero") }} in full.{% endcall %}'


def test_a_sentence_has_the_numbers_of_the_run(kept):
    zero = pd.read_csv(KEPT / "tables/table3.csv").set_index("mechanism").loc["zero", "mean"]
    said = say(kept, GUARDED.replace("VERDICT", "not reproduced"))
    assert float(re.findall(r"[\d.]+\d", said)[0]) == pytest.approx(zero, rel=0.005)


def test_a_verdict_that_moves_stops_the_full_run_and_quotes_the_sentence(kept):
    with pytest.raises(InputError, match=r"«Of .* in full\.» assumes that claims\.M15 is «repr"):
        say(kept, GUARDED.replace("VERDICT", "reproduced"))
    with pytest.raises(InputError, match=r"numbers\.yaml has no entry I\.zeros"):
        say(kept, '{{ n("I.zeros") }}')


@pytest.mark.parametrize("text", [GUARDED, '{% call when() %}{{ n("code.high") }}{% endcall %}'])
def test_another_run_does_without_a_sentence_that_does_not_hold_or_has_no_number(text, other):
    assert say(other, text) == ""
    assert say(other, text.replace("code.high", "I.zero")) == say(other, '{{ n("I.zero") }}') * (
        "code" in text
    )


@pytest.mark.parametrize(("name", "said"), [("rows/regression", "x"), ("tables/second_seed", "")])
def test_of_a_result_that_a_run_lacks_nothing_is_said(name, said, other):
    assert say(other, f'{{% if has("{name}") %}}x{{% endif %}}') == said


def test_every_number_has_a_value_in_the_kept_run_and_is_used():
    entries = yaml.safe_load(numbers.FILE.read_text(encoding="utf-8"))
    sources = [*TEXTS.iterdir(), *PAGE.glob("*.j2"), *PAGE.glob("texts/*")]
    written = [ARTICLE, *(path.read_text(encoding="utf-8") for path in sources)]
    calls = [call for text in written for call in re.findall(r"(?:\bn|when)\(([^)]*)\)", text)]
    used = {name for call in calls for name in re.findall(r'"([^"]+)"', call)}
    factors = {
        name for entry in entries.values() for part in entry.get("products", ()) for name in part
    }
    assert {*entries} <= used | factors
    values = numbers.load_numbers(inputs.files_of_folder(KEPT))
    assert not [name for name in entries if values[name].text == numbers.MISSING]


@pytest.mark.parametrize("file", FILES)
def test_the_sentences_of_a_file_are_those_of_the_kept_results(file):
    text = (ROOT / file).read_text(encoding="utf-8")
    assert "<!-- workflow/texts/" in text
    assert texts.fill_sentences(text, inputs.files_of_folder(KEPT)) == text, "run `make texts`"


#: Delivered epsilons that several rows decide: the file, the rows, and which of them counts.
TIGHT = {
    "mvg.delivered": ("tables/table4", "mechanism == 'mvg_thm3'", max),
    "gradients.high": ("theory/settings", "perturbation == 'gradients' and scheme == 'imgm'", max),
    "code.high": ("theory/settings", "scheme == 'imgm_code' and lots == 'paper'", max),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_number_is_that_of_its_rows(name, kept):
    file, rows, extreme = TIGHT[name]
    table = pd.read_csv(KEPT / f"{file}.csv")
    values = table[table["epsilon"].eq(1)].query(rows)["epsilon_delivered"]
    assert kept.numbers[name].value == pytest.approx(extreme(values), rel=1e-9)
