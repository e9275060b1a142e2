"""Judge the papers' claims."""

from __future__ import annotations


def run(*, results: str = "results") -> None:
    """Run the verb."""
    from matrixdp import catalogue, config, dependence, products, sources, templates
    from matrixdp.report import claims
    from matrixdp.report.claims.ledger import Known
    from matrixdp.theory import exact

    # Claims may name whatever exists, in this run or not.
    described = [name for name, one in catalogue.experiments().items() if not one.needs]
    kinds = dict.fromkeys([*described, *sources.tasks()], templates.RELEASES)
    settings = config.read(results)
    dependence.check_summaries(settings, results)
    kinds |= templates.kinds(settings)
    kinds |= dict.fromkeys(sources.trainings(), templates.TRAINING)
    shown = [f"theory/{name}" for name in sources.theory()]
    for folder, entries in (("tables", sources.tables()), ("figures", sources.figures())):
        shown += [f"{folder}/{one.name}" for one in products.filled(entries, kinds)]
    schemes = {name for one in sources.trainings() for name in sources.schemes(one)}
    known = Known(
        mechanisms={*sources.mechanisms(), *schemes},
        experiments=kinds,
        checks=exact.names(),
        shown=shown,
    )
    claims.write(results, known=known)
