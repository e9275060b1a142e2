"""Judge the papers' claims."""

from __future__ import annotations


def run(*, results: str = "results") -> None:
    """Run the verb."""
    from reproduction import catalogue, discovery, exhibits
    from reproduction.report import claims, inputs
    from reproduction.report.claims.ledger import Vocabulary
    from reproduction.theory import exact

    # Claims may name whatever exists, in this run or not.
    experiments = [name for name, about in catalogue.experiments().items() if not about.needs]
    kinds = dict.fromkeys([*experiments, *discovery.tasks()], exhibits.RELEASES)
    kinds |= exhibits.kinds(inputs.read("settings", results))
    kinds |= dict.fromkeys(discovery.trainings(), exhibits.TRAINING)
    exhibit_paths = [f"theory/{name}" for name in discovery.theory()]
    for folder, entries in (("tables", discovery.tables()), ("figures", discovery.figures())):
        for name, entry in entries.items():
            filled = exhibits.fill(name, entry.words.get("each", ""), (), kinds)
            exhibit_paths += [f"{folder}/{exhibit.name}" for exhibit in filled]
    schemes = {name for training in discovery.trainings() for name in discovery.schemes(training)}
    vocabulary = Vocabulary(
        mechanisms={*discovery.mechanisms(), *schemes},
        experiments=kinds,
        checks=exact.names(),
        exhibits=exhibit_paths,
    )
    claims.write(results, vocabulary=vocabulary)
