"""Put everything that a run has made on one page, or all that is kept of the reference run."""

from __future__ import annotations

KEPT, KEPT_PAGE = "results/reference", "results/page.html"


def run(*, results: str = "results", arguments: str = "", out: str = "") -> None:
    """Run the verb.

    Args:
        arguments: what the page's commands end with
        out: the HTML file (default: results/page.html, of the kept results)
    """
    from matrixdp.report import inputs, page

    if out:
        # Tables of another reading lie apart; the page is on the default one.
        page.write(results, out, config=inputs.read("settings", results), arguments=arguments)
    else:
        # The same bytes everywhere: nothing on the machine and the moment.
        kept = KEPT if results == "results" else results
        settings = inputs.read("settings", kept)
        page.write(kept, KEPT_PAGE, config=settings, arguments=arguments, run={})
        print(f"{KEPT_PAGE} shows {kept}")
