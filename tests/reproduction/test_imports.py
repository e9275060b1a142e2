"""The files that a module needs, from its import statements."""

import pytest

from reproduction import imports


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
        "cli/__init__.py",
        "experiments/__init__.py",
        "mechanisms/__init__.py",
    }
    package = {f"reproduction/{name}" for name in (*package, "experiments/study.py", "seeds.py")}
    assert package <= files
    # The library that it uses is its code, too.
    assert {"matrixdp/__init__.py", "matrixdp/checks.py", "matrixdp/privacy/domain.py"} <= files
    assert not {"reproduction/config.py", "reproduction/mechanisms/jl.py", "catalogue.yaml"} & files
    assert "reproduction/mechanisms/jl.py" in names("cli.trials", "mechanisms.jl")
    assert "matrixdp/mechanisms/laplace.py" in names("cli.trials", "mechanisms.laplace")
    assert "matrixdp/mechanisms/laplace.py" not in files


def test_a_collection_stands_for_all_of_its_modules():
    assert "reproduction/experiments/tasks/components.py" in names("cli.trials")
    assert {
        "reproduction/report/tables/price.py",
        "reproduction/report/claims/findings.py",
    } <= names("cli.table")


def test_files_that_are_read_and_the_versions_of_packages_count():
    assert {"readings.yaml", "requirements.lock"} <= names("cli.trials")
    assert {"catalogue.yaml", "reproduction/report/page/style.css"} <= names("cli.report")
    assert "claims.yaml" in names("cli.judge")


def test_every_text_that_is_named_is_there_and_read_by_its_module():
    for module, patterns in imports.TEXTS.items():
        (file,) = (path for path in imports.files(module) if imports_name(path) == module)
        for pattern in patterns:
            found = [*imports.PACKAGE.parent.glob(pattern)]
            assert found
            assert "*" in pattern or found[0].name in file.read_text()


def imports_name(path):
    if path.suffix != ".py" or not path.is_relative_to(imports.PACKAGE):
        return ""
    return imports.module(path).removesuffix(".__init__")


def test_types_alone_are_no_need_and_an_unknown_module_is_an_error():
    assert "matrixdp/release/recommend.py" not in names("places")
    with pytest.raises(Exception, match="nothing"):
        imports.files("cli.nothing")
