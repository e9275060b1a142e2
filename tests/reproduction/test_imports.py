"""The files that a module needs, from its import statements."""

import importlib
import os
import subprocess
import sys

import pytest
from packages import PATH

from reproduction import imports
from reproduction.audits import AUDITS


def names(*modules):
    """Return the files by their paths below the folders of the packages."""
    homes = [*imports.HOMES.values()]
    return {
        str(path.relative_to(home))
        for path in imports.files(*modules)
        for home in homes
        if path.is_relative_to(home)
    }


def test_a_module_needs_what_it_imports_and_the_packages_around():
    files = names("cli.trials")
    package = {
        "__init__.py",
        "experiments/__init__.py",
        "mechanisms/__init__.py",
    }
    package = {f"reproduction/{name}" for name in (*package, "experiments/study.py", "seeds.py")}
    assert package <= files
    # The library that it uses is its code, too.
    assert {"matrixdp/__init__.py", "matrixdp/checks.py", "matrixdp/privacy/domain.py"} <= files
    assert not {"reproduction/config.py", "reproduction/mechanisms/jl.py"} & files
    assert not [name for name in files if name.startswith("catalogue/")]
    assert "reproduction/mechanisms/jl.py" in names("cli.trials", "mechanisms.jl")
    assert "matrixdp/mechanisms/laplace.py" in names("cli.trials", "mechanisms.laplace")
    assert "matrixdp/mechanisms/laplace.py" not in files


def test_a_package_around_a_module_stands_for_none_of_its_other_modules():
    entries = {"tasks/components.py", "schemes/features.py", "training/gradients.py"}
    entries = {f"reproduction/experiments/{name}" for name in entries}
    assert not entries & {*names("cli.trials"), *names("cli.train"), *names("cli.extract_features")}
    assert "reproduction/experiments/schemes/base.py" in names("cli.train")


def test_files_that_are_read_and_the_versions_of_packages_count():
    assert {"readings.yaml", "requirements.lock"} <= names("cli.trials")
    assert {"catalogue/words.yaml", "reproduction/report/page/style.css"} <= names("cli.report")
    # The page shows its words, of which trials know nothing.
    (values,) = (line for line in imports.digests("cli.trials") if "readings.yaml" in line)
    (all_of_it,) = (line for line in imports.digests("cli.report") if "readings.yaml" in line)
    assert values.startswith("workflow/readings.yaml without title and about ")
    assert all_of_it.count(" ") == 1
    assert "claims.yaml" in names("cli.claims")


#: Verbs that make the results; all others show or judge them.
RESULTS = ["trials", "train", "extract_features", "prepare", "readings", "audit", "attack"]
RESULTS += ["held_out", "negative_control", "theory"]

#: What people read, and what finds mechanisms of packages.
APART = ("catalogue", "claims", "matrixdp/version", "matrixdp/cli")
APART += ("development.lock", "reproduction/report/", "reproduction/plugins")


@pytest.mark.parametrize("verb", RESULTS)
def test_no_result_rests_on_words_versions_or_the_report(verb):
    assert not [
        name
        for name in names(f"cli.{verb}")
        if name.startswith(APART) or name == "reproduction/cli/__init__.py"
    ]


def test_audits_are_those_of_the_releases_of_a_mechanism():
    assert imports.audits("mechanisms.jl") == ["auditing.sketch"]
    assert imports.audits("mechanisms.laplace", "cli.audit") == []
    # A wrong mechanism may have any.
    assert "auditing.direction" in imports.audits("cli.negative_control")
    for kind, audit in AUDITS.items():
        for place, (name, _, member) in (
            ("mechanisms", kind.partition(":")),
            ("auditing", audit.partition(":")),
        ):
            module = importlib.import_module(f"reproduction.{place}.{name}")
            assert hasattr(module, member)


def test_the_library_is_all_its_modules_and_none_of_the_study():
    files = names("matrixdp")
    assert {"matrixdp/noise/safe.py", "matrixdp/mechanisms/laplace.py"} <= files
    # Which another package may use, and what loads it.
    assert "reproduction/plugins.py" in files
    assert "reproduction/mechanisms/jl.py" not in files


def test_types_alone_are_no_need_and_an_unknown_module_is_an_error():
    assert "matrixdp/release/comparison.py" not in names("files")
    with pytest.raises(Exception, match="nothing"):
        imports.files("cli.nothing")


@pytest.mark.parametrize(
    ("module", "brings"), [("snakemake_logger_plugin_lines", ""), ("reproduction.trials", "True")]
)
def test_what_snakemake_imports_before_it_reads_rules_brings_no_package_along(module, brings):
    """The rules of another clone import the package beside them."""
    program = f"import sys, {module}; print('reproduction' in sys.modules or '')"
    command, variables = [sys.executable, "-c", program], {**os.environ, "PYTHONPATH": PATH}
    done = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == brings
