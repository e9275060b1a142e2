"""Put everything that a run has made on one page."""

from __future__ import annotations


def run(*, results: str = "results", arguments: str = "", out: str) -> None:
    """Run the verb.

    Args:
        arguments: what the page's commands end with
        out: the HTML file
    """
    from matrixdp import config
    from matrixdp.report import page

    page.write(results, out, config=config.read(results), arguments=arguments)
