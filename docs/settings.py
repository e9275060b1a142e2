"""Write config/README.md, the keys of config.yaml, from workflow/config.schema.yaml."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "workflow" / "config.schema.yaml"
PAGE = ROOT / "config" / "README.md"

INTRODUCTION = """# Settings

This page is made by `python docs/settings.py` from `workflow/config.schema.yaml`.

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
snakemake --configfile mine.yaml
```

A mapping is merged with that of `config.yaml`, key by key; a list or a number replaces the one
there. `workflow/config/quick.yaml` runs everything on few trials, in minutes. Another key, or a
value that a key cannot have, ends the run at once with a sentence that names both. Names of tasks,
mechanisms, schemes and data sets are checked against the files that have them. What
`experiment_defaults` says goes before the defaults below.
"""

Schema = Mapping[str, Any]


def page(schema: Schema) -> str:
    """Return the page on a schema, as Markdown.

    Raises:
        KeyError: a key has no description.
    """
    parts = []
    for path, part in mappings("", schema, schema):
        title = f"`{path}`: {part['description']}" if path else "The keys"
        parts += [f"\n## {title}\n", "| key | meaning | values | default |"]
        parts += ["| --- | --- | --- | --- |"]
        for key, each in part["properties"].items():
            default = "needed" if key in part.get("required", ()) else _default(each)
            cells = [f"`{key}`", each["description"], values(each), default]
            parts += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"]
    return "\n".join([INTRODUCTION.rstrip("\n"), *parts]) + "\n"


def mappings(path: str, part: Schema, schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield a mapping with keys and all below it, with their places; NAME is a person's choice."""
    keys = {key: _resolved(each, schema) for key, each in part.get("properties", {}).items()}
    if keys:
        yield path, {**part, "properties": keys}
    for key, each in keys.items():
        yield from mappings(f"{path}.{key}".lstrip("."), each, schema)
    entries = part.get("additionalProperties")
    if isinstance(entries, Mapping):
        for each in [entries[word] for word in ("else", "then") if word in entries] or [entries]:
            yield from mappings(f"{path}.NAME", _resolved(each, schema), schema)


def values(part: Schema) -> str:
    """Return what a key can be: its values, or their type and range."""
    if "enum" in part:
        return ", ".join(f"`{value}`" for value in part["enum"])
    types = part.get("type", "any")
    texts = []
    for name in [types] if isinstance(types, str) else types:
        if name in ("integer", "number"):
            words = {"minimum": "from", "maximum": "to", "exclusiveMaximum": "below"}
            limits = [f"{words[key]} {_number(part[key])}" for key in words if key in part]
            texts.append(" ".join([name, *limits]))
        elif name == "array":
            least = part.get("minItems", 0)
            count = f"{least} to {part['maxItems']}" if "maxItems" in part else f"{least} or more"
            texts.append(f"list of {count}: {values(part['items'])}")
        else:
            texts.append({"object": "mapping"}.get(name, name))
    return " or ".join(texts)


def _number(value: float) -> str:
    """Return a number as people write it, with all digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _default(part: Schema) -> str:
    """Return the default of a key; of a mapping its keys have their own."""
    value = part.get("default", {})
    return "" if value == {} else f"`{json.dumps(value)}`"


def _resolved(part: Schema, schema: Schema) -> Schema:
    """Return a part of a schema, or the one that it refers to."""
    for word in part.get("$ref", "").split("/")[1:]:
        schema = schema[word]
    return schema if "$ref" in part else part


def main() -> None:
    """Write the page, and where it is."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)} follows {SCHEMA.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
