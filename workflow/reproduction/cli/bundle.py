"""Write the trials of a mechanism as one file for others, who merge it into their own run."""

from __future__ import annotations


def run(mechanism: str, *, results: str = "results", out: str) -> None:
    """Run the verb.

    Args:
        mechanism: name of a mechanism
        out: bundle, .zip
    """
    import platform
    import sys
    from importlib.metadata import version
    from pathlib import Path

    from matrixdp import checks
    from matrixdp.checks import InputError
    from reproduction import bundles, config, discovery, files, imports, job_settings, trials
    from reproduction.data import prepared

    checks.choice(discovery.mechanisms(), mechanism=mechanism)
    folder = Path(results)
    if not (folder / "settings.yaml").is_file():
        raise InputError(f"{folder} has no settings.yaml, and so no trials; run `snakemake` first")
    settings = files.read_yaml(folder / "settings.yaml")
    if settings["reading"] != trials.DEFAULT:
        raise InputError(
            f"{folder} is of the reading {settings['reading']}; only the default one is bundled"
        )
    runs = [
        name for name in settings["experiments"] if mechanism in job_settings.rows(settings, name)
    ]
    if not runs:
        raise InputError(f"no experiment of {folder} runs {mechanism}; name it in config.yaml")
    experiments, content = {}, {}
    for name in runs:
        dataset = job_settings.dataset(settings, name)
        file = folder / "trials" / name / trials.DEFAULT / f"{mechanism}.csv.gz"
        missing = f"{file} is missing" if not file.is_file() else ""
        if not config.datasets(settings)[dataset].get("public"):
            # The errors of trials on a person's records are exact.
            missing = f"{dataset} is not marked public, and errors of trials are not private"
        if missing:
            print(f"left out: {name}, as {missing}", file=sys.stderr)
            continue
        provenance = prepared.read_provenance(folder / "data" / dataset)
        if provenance["status"] != "original":
            raise InputError(f"{dataset} is {provenance['status']}; only originals are bundled")
        job = job_settings.trials(settings, name, mechanism)
        digest = job_settings.digest(job_settings.text(job))
        if {row["settings"] for row in trials.read(file)} != {digest}:
            raise InputError(f"{file} is of other settings; run `snakemake {file}`")
        content[name] = file.read_bytes()
        experiments[name] = bundles.entry(job, provenance, content[name])
    if not experiments:
        raise InputError(
            f"{folder} has no trials of {mechanism} on data sets that datasets.yaml marks public; "
            "run `snakemake` on one"
        )
    manifest = {
        "format": bundles.FORMAT,
        "mechanism": mechanism,
        "distribution": discovery.mechanisms()[mechanism].distribution,
        "code": bundles.code(mechanism),
        "lock": imports.digest(imports.PACKAGE.parent / imports.LOCK),
        "software": {
            "python": platform.python_version(),
            **{package: version(package) for package in ("numpy", "scipy")},
            "processor": platform.machine(),
        },
        "experiments": experiments,
    }
    bundles.write(out, manifest, content)
