"""Put everything that a run has made on one page."""

from __future__ import annotations

from collections.abc import Sequence

KEPT, KEPT_PAGE = "results/reference", "results/page.html"


def run(files: Sequence[str] = (), *, options: str = "", out: str = "") -> None:
    """Run the verb.

    Args:
        files: what is shown, settings.yaml of the run among them; none shows the kept results
        options: what the page's commands end with
        out: the HTML file (default: results/page.html, of the kept results)
    """
    from reproduction.report import inputs, page

    if files:
        by_name = inputs.files_by_name(files)
        folder = by_name["settings"].parent
        page.write_page(by_name, out, folder=folder, options=options)
    else:
        # Without facts on the machine and the time, the bytes are the same everywhere.
        page.write_page(inputs.files_of_folder(KEPT), out or KEPT_PAGE, options=options, run={})
        print(f"{out or KEPT_PAGE} shows {KEPT}")
