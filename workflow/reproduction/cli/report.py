"""Put everything that a run has made on one page, or all that is kept of the reference run."""

from __future__ import annotations

REFERENCE, REFERENCE_PAGE = "results/reference", "results/page.html"


def run(*, results: str = "results", arguments: str = "", out: str = "") -> None:
    """Run the verb.

    Args:
        arguments: what the page's commands end with
        out: the HTML file (default: results/page.html, of the kept results)
    """
    from reproduction.report import inputs, page

    if out:
        # Tables of other readings are in other folders; the page shows the default reading.
        page.write(results, out, config=inputs.read("settings", results), arguments=arguments)
    else:
        # Without facts on the machine and the time, the bytes are the same everywhere.
        folder = REFERENCE if results == "results" else results
        settings = inputs.read("settings", folder)
        page.write(folder, REFERENCE_PAGE, config=settings, arguments=arguments, run={})
        print(f"{REFERENCE_PAGE} shows {folder}")
