"""Write config/README.md and the schemas for editors from the models of config.yaml."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "workflow")]

from reproduction import config  # noqa: E402
from reproduction.data import datasets  # noqa: E402
from reproduction.models import Schema, alternatives, schema, values  # noqa: E402

INTRODUCTION = """# Settings

This page is made by `.venv/bin/python docs/settings.py` from `workflow/reproduction/config.py`.

`config.yaml`, in the folder where `snakemake` runs or else in that of the workflow, says what to
run. As it comes it reproduces both papers, and nothing must be filled in: the data sets are
downloaded. Change single keys in a file of your own, which goes on top of it:

```yaml
# mine.yaml
pathvars: {results: results/mine}       # a folder of its own
experiment_defaults: {trials: 20}
data: {source: simulated}               # no network
```

```
.venv/bin/snakemake --configfile mine.yaml
```

A mapping is merged with that of `config.yaml`, key by key; a list or a number replaces the one
there. `workflow/config/quick.yaml` runs everything on few trials, in minutes. Another key, or a
value that a key cannot have, ends the run at once with a sentence that names both. Names of tasks,
mechanisms, schemes and data sets are checked against the files that have them. What
`experiment_defaults` says goes before the defaults below.
"""


def page(whole: Schema) -> str:
    """Return the page on a schema, as Markdown."""
    parts, seen = [], set()
    for path, part in mappings("", whole):
        title = f"`{path}`: {part['description']}" if path else "The keys"
        rows, again = [], []
        for key, each in part["properties"].items():
            default = each.get("default", {})
            cells = [
                f"`{key}`",
                each["description"],
                values(each),
                "needed" if key in part.get("required", ()) else f"`{json.dumps(default)}`",
            ]
            cells = [cell.replace("|", "\\|").replace("`{}`", "") for cell in cells]
            row = f"| {' | '.join(cells)} |"
            (again if row in seen else rows).append(f"`{key}`" if row in seen else row)
            seen.add(row)
        parts += [f"\n## {title}\n"]
        parts += [f"As above: {', '.join(again)}.\n"] if again else []
        parts += ["| key | meaning | values | default |", "| --- | --- | --- | --- |", *rows]
    return "\n".join([INTRODUCTION.rstrip("\n"), *parts]) + "\n"


def mappings(path: str, part: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield a mapping with keys and all below it, with their places; NAME is a person's choice."""
    for each in alternatives(part):
        if "properties" in each:
            yield path, {**each, **part}
        for key, inner in each.get("properties", {}).items():
            yield from mappings(f"{path}.{key}".lstrip("."), inner)
        for inner in [
            *each.get("patternProperties", {}).values(),
            each.get("additionalProperties"),
        ]:
            if isinstance(inner, dict):
                yield from mappings(f"{path}.NAME", inner)


def files() -> dict[Path, str]:
    """Return what is made, by its path."""
    texts = {ROOT / "config" / "README.md": page(schema(config.Config))}
    for name, model in (("config", config.Config), ("datasets", datasets.Entries)):
        text = yaml.safe_dump(
            schema(model), sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
        )
        texts[ROOT / "workflow" / f"{name}.schema.yaml"] = (
            f"# Made by `.venv/bin/python docs/settings.py` for editors.\n{text}"
        )
    return texts


def main() -> None:
    """Write all, and where it is."""
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
