"""Judge the papers' claims."""

from __future__ import annotations


def run(*, results: str = "results") -> None:
    """Run the verb."""
    from matrixdp import catalogue, discovery, exhibits
    from matrixdp.report import claims, inputs
    from matrixdp.report.claims.ledger import Known
    from matrixdp.theory import exact

    # Claims may name whatever exists, in this run or not.
    described = [name for name, about in catalogue.experiments().items() if not about.needs]
    kinds = dict.fromkeys([*described, *discovery.tasks()], exhibits.RELEASES)
    kinds |= exhibits.kinds(inputs.read("settings", results))
    kinds |= dict.fromkeys(discovery.trainings(), exhibits.TRAINING)
    shown = [f"theory/{name}" for name in discovery.theory()]
    for folder, entries in (("tables", discovery.tables()), ("figures", discovery.figures())):
        for name, entry in entries.items():
            filled = exhibits.fill(name, entry.words.get("each", ""), (), kinds)
            shown += [f"{folder}/{exhibit.name}" for exhibit in filled]
    schemes = {name for training in discovery.trainings() for name in discovery.schemes(training)}
    known = Known(
        mechanisms={*discovery.mechanisms(), *schemes},
        experiments=kinds,
        checks=exact.names(),
        shown=shown,
    )
    claims.write(results, known=known)
