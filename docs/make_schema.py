"""What `--format json` prints, as a JSON schema: the form of all records, and of every command its tables and facts.

The commands themselves are asked: each is called on small files, as the tests call it, and what it prints is described.
`python docs/make_reference.py` writes docs/reference/schema.json, docs/reference/json.md and the copy that
`assay help schema` prints.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.hostile.calls import CALLS, call, named  # noqa: E402
from tests.hostile.test_commands import Files  # noqa: E402
from tests.test_results import MORE, shows_tables  # noqa: E402

from assay.core.errors import AssayError  # noqa: E402
from assay.measures.explained import explained  # noqa: E402

Record = dict[str, Any]
OF_TABLES = ("caption", "notes", "columns", "rows")
KINDS = {
    str: "string",
    bool: "boolean",
    int: "number",
    float: "number",
    list: "array",
    dict: "object",
    type(None): "null",
}
INTRODUCTION = """# JSON

With `--format json` a command prints one record, or a list of records where it shows several tables. A record has

* `caption`, `notes`: the texts above and below the table;
* `columns`: for every column its `key` and the `name` that the table shows;
* `rows`: one object for every row, values by key, with all digits; what a table shows as a dash is `null`;
* `result` and other facts of the result that the table is of: what was compared, by which test, the verdict,
  signatures.

Keys are ASCII and lower case, and stay as they are when a heading is reworded. Columns that are named for your own
data, measures and runs, carry these names as keys. [schema.json](schema.json) says the same for programs, command by
command under `$defs`; `assay help schema` prints it. Below, a command has a line for each of its tables.
"""


@dataclass
class Shape:
    """What is known of one table of a command: facts and keys of columns, with the kinds of their values."""

    result: str | None
    facts: dict[str, set[str]] = field(default_factory=dict)
    always: set[str] | None = None
    keys: dict[str, set[str]] = field(default_factory=dict)
    every: set[str] | None = None

    def takes(self, record: Record) -> bool:
        """Whether a record is of this shape: of the same result, with the same columns or some more or fewer."""
        keys = set(own_keys(record))
        same_columns = keys == set(self.keys)
        nested = keys <= set(self.keys) or keys >= set(self.keys)
        return self.result == record.get("result") and (same_columns or (nested and self.result is not None))

    def add(self, record: Record) -> None:
        """Take in one record of this shape."""
        facts = {key: value for key, value in record.items() if key not in (*OF_TABLES, "result")}
        for key, value in facts.items():
            self.facts.setdefault(key, set()).add(KINDS[type(value)])
        self.always = set(facts) if self.always is None else self.always & set(facts)
        own = own_keys(record)
        for key in own:
            kinds = {KINDS[type(row[key])] for row in record["rows"]}
            self.keys.setdefault(key, set()).update(kinds)
        self.every = set(own) if self.every is None else self.every & set(own)

    def schema(self) -> Record:
        """The shape as a JSON schema."""
        rows = {
            "type": "object",
            "properties": {key: {"type": sorted(kinds | {"null"})} for key, kinds in self.keys.items()},
            "required": sorted(self.every or ()),
        }
        properties: Record = {key: {"type": sorted(kinds | {"null"})} for key, kinds in self.facts.items()}
        required = sorted(self.always or ())
        if self.result is not None:
            properties["result"] = {"const": self.result}
            required.append("result")
        properties["rows"] = {"items": rows}
        return {"$ref": "#/$defs/record", "properties": properties, "required": required}


def own_keys(record: Record) -> list[str]:
    """The keys of the columns that are there whatever the data are called."""
    return [column["key"] for column in record["columns"] if not is_of_the_data(column["key"], record)]


def is_of_the_data(key: str, record: Record) -> bool:
    """Whether a column is named for a measure, or for what the first column lists: runs against runs."""
    first = record["columns"][0]["key"]
    if key in {row[first] for row in record["rows"]}:
        return True
    try:
        form = explained(key.removesuffix("_marks")).form  # measures of sessions and answers too
    except AssayError:
        return False
    # Names are read in any case: the keys p and f are no columns of the measures P and F.
    return form.partition("(")[0] in key


def printed() -> Iterator[tuple[str, list[Record]]]:
    """Every command that prints tables, and the records of a call of it."""
    with tempfile.TemporaryDirectory() as folder:
        files = Files(Path(folder))
        for template in [*CALLS, *MORE]:
            if not shows_tables(template):
                continue
            files.empty_out()
            words = files.arguments(template) if "{" in template else shlex.split(template)
            outcome = call([*words, "--format", "json"])
            assert outcome.code in (0, 1), f"{template}: {outcome.err}"
            whole = json.loads(outcome.out)
            yield named(template), whole if isinstance(whole, list) else [whole]


def shapes() -> dict[str, list[Shape]]:
    """The shapes of the tables of every command."""
    found: dict[str, list[Shape]] = {}
    for command, records in printed():
        of_command = found.setdefault(command, [])
        for record in records:
            shape = next((shape for shape in of_command if shape.takes(record)), None)
            if shape is None:
                shape = Shape(record.get("result"))
                of_command.append(shape)
            shape.add(record)
    return dict(sorted(found.items()))


def schema_of(found: dict[str, list[Shape]]) -> Record:
    """The JSON schema: `$defs/record` for all, `$defs/COMMAND` for each."""
    column = {
        "type": "object",
        "properties": {"key": {"type": "string", "pattern": "^[!-~]+$"}, "name": {"type": "string"}},
        "required": ["key", "name"],
        "additionalProperties": False,
    }
    value = {"type": ["string", "number", "boolean", "null"]}
    record = {
        "type": "object",
        "properties": {
            "caption": {"type": "string"},
            "notes": {"type": "array", "items": {"type": "string"}},
            "columns": {"type": "array", "items": column, "minItems": 1},
            "rows": {"type": "array", "items": {"type": "object", "additionalProperties": value}},
            "result": {"type": "string", "pattern": "^[a-z0-9_]+$"},
        },
        "required": list(OF_TABLES),
        "propertyNames": {"pattern": "^[a-z0-9_]+$"},
    }
    commands = {
        command: one_or_several([shape.schema() for shape in of_command]) for command, of_command in found.items()
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What assay prints with --format json",
        **one_or_several([{"$ref": "#/$defs/record"}]),
        "$defs": {"record": record, **commands},
    }


def one_or_several(records: list[Record]) -> Record:
    """A record of these, or a list of them."""
    one = records[0] if len(records) == 1 else {"anyOf": records}
    return {"if": {"type": "array"}, "then": {"minItems": 2, "items": one}, "else": one}


def page_of(found: dict[str, list[Shape]]) -> str:
    """The keys of every command, for people."""
    parts = [INTRODUCTION]
    for command, of_command in found.items():
        parts.append(f"## assay {command}\n")
        for shape in of_command:
            parts.append(f"* {_said(shape)}")
        parts.append("")
    return "\n".join(parts)


def _said(shape: Shape) -> str:
    sentences = []
    if shape.result is not None:
        sentences.append(f"result `{shape.result}`")
    keys = ", ".join(f"`{key}`" for key in shape.keys)
    sentences.append(f"columns {keys}" if keys else "columns named for your data")
    if shape.facts:
        sentences.append("facts " + ", ".join(f"`{fact}`" for fact in sorted(shape.facts)))
    return "; ".join(sentences)


def schema_pages() -> dict[str, str]:
    """The pages of the reference: schema.json and json.md."""
    found = shapes()
    return {"schema.json": written(schema_of(found)), "json.md": page_of(found)}


def written(schema: Record) -> str:
    """The schema with one line for each definition, so that a change of one command is a change of one line."""
    head = {key: value for key, value in schema.items() if key != "$defs"}
    lines = [f"  {json.dumps(name)}: {json.dumps(value)}" for name, value in schema["$defs"].items()]
    opening = json.dumps(head, indent=1).removesuffix("\n}")
    return f'{opening},\n "$defs": {{\n' + ",\n".join(lines) + "\n }\n}\n"
