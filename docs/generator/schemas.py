"""A page for each kind of file, from the JSON Schema that the program prints."""

import json
import typing
from collections.abc import Collection

from .commands import Program
from .markdown import cell, code, fenced
from .page import Page, slug

Schema = dict[str, typing.Any]
_EVIDENCE = "constants.md"  # the page on values with their evidence


class Kind:
    """Writes the page of one kind of file.

    Objects become sections, in the order in which they are met; `known` remembers, over all
    pages, where an object with the same fields is told of already.
    """

    def __init__(
        self, name: str, schema: Schema, known: dict[str, str], kinds: Collection[str] = ()
    ) -> None:
        self._name = name
        self._kinds = kinds
        self._schema = schema
        self._known = known
        self._waiting: list[tuple[str, Schema]] = []
        self._parts: list[str] = []

    def page(self, written_as: str) -> Page:
        """The page; `written_as` is the value of the file's field `format`."""
        self._parts = [f"# {self._name}", self._introduction(written_as)]
        variants = [each for each in self._schema.get("anyOf", []) if "properties" in each]
        if variants:
            for number, variant in enumerate(variants, 1):
                title = f"Form {number}"
                self._parts.append(f"## {title}\n\n{_sentence(variant.get('description', ''))}")
                self._write_objects("", variant)
        else:
            self._write_objects("", self._schema)
        return Page(f"files/{self._name}.md", self._name, "\n\n".join(self._parts) + "\n", weight=4)

    def _introduction(self, written_as: str) -> str:
        told = _sentence(self._schema.get("description", ""))
        return (
            f'{told}\n\nThe file says `"format": "{written_as}"`. Fields in bold are required. '
            "In paths `[]` stands for each element of a list, `*` for each name. As JSON "
            "Schema:\n\n" + fenced(f"trainyard schema {self._name}")
        )

    def _write_objects(self, path: str, schema: Schema) -> None:
        self._parts.append(self._table(path, schema))
        while self._waiting:
            place, inner = self._waiting.pop(0)
            told = _sentence(inner.get("description", ""))
            self._parts.append(f"## {code_heading(place)}\n\n{told}")
            self._parts.append(self._table(place, inner))

    def _table(self, path: str, schema: Schema) -> str:
        required = schema.get("required", [])
        lines = ["| Field | Value | Default | Meaning |", "|---|---|---|---|"]
        inner: list[tuple[str, Schema]] = []
        for name, field in schema["properties"].items():
            place = f"{path}.{name}" if path else name
            shown = code(name)
            if name in required:
                shown = f"**{shown}**"
            value = self._value(place, field, inner)
            lines.append(
                f'| <a id="{anchor(place)}"></a>{shown} | {value} | {_default(field)} | '
                f"{cell(meaning(field))} |"
            )
        self._waiting = inner + self._waiting
        return "\n".join(lines) + "\n"

    def _value(self, place: str, field: Schema, inner: list[tuple[str, Schema]]) -> str:
        """What a field may hold; the objects in it that need a section are added to `inner`."""
        forms = field.get("anyOf")
        if forms is None:
            return self._form(place, field, inner)
        if has_evidence(forms):
            return f"{self._form(place, forms[0], inner)}, or [with its evidence]({_EVIDENCE})"
        return ", or ".join(self._choice(place, form, inner) for form in forms)

    def _choice(self, place: str, form: Schema, inner: list[tuple[str, Schema]]) -> str:
        """One of several forms: of text, what it says (a preset's name, or that of a file)."""
        if form.get("type") == "string" and "description" in form and "enum" not in form:
            return cell(form["description"])
        return self._form(place, form, inner)

    def _form(self, place: str, form: Schema, inner: list[tuple[str, Schema]]) -> str:
        if "const" in form:
            return code(json.dumps(form["const"]))
        if "enum" in form:
            return "one of " + ", ".join(code(str(value)) for value in form["enum"])
        kind = form.get("type")
        if kind == "array":
            items = form.get("items", {})
            return f"list of {self._value(place + '[]', items, inner)}" if items else "list"
        if kind == "object":
            return self._object(place, form, inner)
        if kind in ("integer", "number"):
            return ("integer" if kind == "integer" else "number") + limits(form)
        if kind == "boolean":
            return "true or false"
        if "examples" in form:
            return "quantity, as " + ", ".join(code(str(value)) for value in form["examples"])
        return "text"

    def _object(self, place: str, form: Schema, inner: list[tuple[str, Schema]]) -> str:
        if "properties" not in form:
            values = form.get("additionalProperties")
            if isinstance(values, dict) and values:
                return f"names with {self._value(place + '.*', values, inner)} each"
            kind = place.rsplit(".", 1)[-1]
            return f"[object]({kind}.md)" if kind in self._kinds else "object"
        same = signature(form)
        there = self._known.get(same)
        if there is None:
            there = f"#{slug(place)}"
            self._known[same] = f"{self._name}.md{there}"
            inner.append((place, form))
        elif there.startswith(f"{self._name}.md#"):
            there = there.removeprefix(f"{self._name}.md")
        return f"[object]({there})"


def anchor(place: str) -> str:
    """Where a field's row is found: its path, apart from the headings' anchors."""
    return "field-" + place


def code_heading(place: str) -> str:
    """A path as a heading whose letters are no markup."""
    return f"`{place}`"


def meaning(field: Schema) -> str:
    """What is said of a field: beside its forms, else in them."""
    told = field.get("description")
    forms = field.get("anyOf", [])
    if told is None and forms:
        told = forms[0 if has_evidence(forms) else -1].get("description")
    if not told and "const" in field:
        told = "what the file is, and the version of its form"
    return str(told or "")


def signature(form: Schema) -> str:
    """Equal for objects whose fields, meanings and ranges are the same."""
    kept = {"properties", "required", "additionalProperties"}
    return json.dumps({key: form[key] for key in sorted(kept & form.keys())}, sort_keys=True)


def has_evidence(forms: list[Schema]) -> bool:
    """Whether a value may stand by itself, or with low, high, grade and source."""
    return len(forms) == 2 and {"value", "grade", "source"} <= set(forms[1].get("properties", {}))


def limits(form: Schema) -> str:
    """The range of a number, as ", 1 to 64"; nothing where there is none."""
    low, high = form.get("minimum"), form.get("maximum")
    if low is not None and high is not None:
        return f", {number(low)} to {number(high)}"
    if low is not None:
        return f", {number(low)} or more"
    return f", at most {number(high)}" if high is not None else ""


def number(value: float) -> str:
    """A limit as people write it: 1,000,000 or 1e12."""
    if float(value).is_integer() and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:g}".replace("e+", "e")


def _default(field: Schema) -> str:
    forms = field.get("anyOf", [field])
    value = field.get("default", forms[0].get("default", ""))
    if value in ("", {}, []):
        return ""
    return code(value if isinstance(value, str) else json.dumps(value))


def _sentence(text: str) -> str:
    return cell(text[:1].upper() + text[1:]).rstrip(".") + "." if text else ""


def _evidence_form(node: object) -> Schema | None:
    """The first object, anywhere in the schemas, that states a value with its evidence."""
    if isinstance(node, dict):
        forms = node.get("anyOf")
        if isinstance(forms, list) and has_evidence(forms):
            return typing.cast(Schema, forms[1])
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        found = _evidence_form(child)
        if found:
            return found
    return None


_OF_VALUE = {"value": "the constant", "low": "where its interval begins", "high": "where it ends"}


def _evidence_page(form: Schema) -> Page:
    """The page on values with their evidence. Of value, low and high each field says the kind."""
    lines = ["| Field | Value | Meaning |", "|---|---|---|"]
    for name, field in form["properties"].items():
        shown = f"**{code(name)}**" if name in form.get("required", []) else code(name)
        if name in _OF_VALUE:
            value, told = "as the field says", _OF_VALUE[name]
        elif "enum" in field:
            value, told = ", ".join(code(each) for each in field["enum"]), "what stands behind it"
        else:
            value, told = "text", field.get("description", "")
        lines.append(f"| {shown} | {value} | {cell(told)} |")
    text = (
        "# Constants with their evidence\n\nA constant is a value by itself, or an object that "
        "also says how sure it is and where it comes from:\n\n"
    )
    return Page("files/constants.md", "constants", text + "\n".join(lines) + "\n")


def schema_pages(program: Program) -> list[Page]:
    """The list of kinds of files, then a page for each."""
    kinds = dict(line.split() for line in program.says("schema").splitlines() if line.strip())
    schemas = {kind: json.loads(program.says("schema", kind)) for kind in kinds}
    known: dict[str, str] = {}
    # Kernels come before the profiles that may hold them.
    order = sorted(kinds, key=lambda kind: kind == "profile")
    pages = {kind: Kind(kind, schemas[kind], known, kinds).page(kinds[kind]) for kind in order}
    lines = ["# Files", "", "| File | Format | What it is |", "|---|---|---|"]
    for kind, written_as in kinds.items():
        told = schemas[kind].get("description") or "; ".join(
            form.get("description", "") for form in schemas[kind].get("anyOf", [])
        )
        lines.append(f"| [{kind}]({kind}.md) | {code(written_as)} | {cell(told)} |")
    form = _evidence_form(schemas)
    listed = [Page("files/index.md", "All", "\n".join(lines) + "\n")]
    return listed + [pages[kind] for kind in kinds] + ([_evidence_page(form)] if form else [])
