"""What the generator of the documentation site makes of documents, help, schemas and headers.

    test_generator.py PROGRAM

Needs no MkDocs.
"""

import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs"))
sys.dont_write_bytecode = True

from generator import built, commands, headers, links, markdown, python_api, schemas  # noqa: E402
from generator.page import Group, Page, nav, pages_of, slug  # noqa: E402
from generator.repository import Repository  # noqa: E402

PROGRAM = commands.Program(pathlib.Path(sys.argv.pop(1)).resolve(), ROOT)


class Documents(unittest.TestCase):
    def test_lists_get_the_empty_line_that_they_need(self):
        self.assertEqual(markdown.normalised("Left:\n* a\n* b"), "Left:\n\n* a\n* b")
        self.assertEqual(markdown.normalised("* a\n* b"), "* a\n* b")

    def test_items_below_items_are_nested_by_four(self):
        text = "1. a:\n   * one\n   * two\n2. b"
        self.assertEqual(markdown.normalised(text), "1. a:\n    * one\n    * two\n2. b")

    def test_code_stays_as_it_is(self):
        for code in ("Text\n\n    x\n    * y\n", "```\nText\n* [a](b.md)\n```\n"):
            self.assertEqual(markdown.normalised(code), code)
            self.assertEqual(markdown.with_links(code, lambda _: "elsewhere"), code)
        self.assertEqual(markdown.links("`[a](b)` and [c](d) and ![e](f.png)"), ["d", "f.png"])

    def test_a_text_is_cut_at_its_headings(self):
        parts = markdown.sections("# T\n\nfirst\n\n## A\n\n    ## no heading\n\n## B\nlast")
        self.assertEqual([part.heading for part in parts], ["", "A", "B"])
        self.assertEqual(parts[1].text, "    ## no heading")

    def test_what_a_document_is_about(self):
        self.assertEqual(
            markdown.subject("# fit: from logs to profiles\n"), "from logs to profiles"
        )
        self.assertEqual(
            markdown.subject("# cost\n\nHow long\nthings take. More."),
            "How long\nthings take".replace("\n", " "),
        )

    def test_text_in_cells_is_no_markup(self):
        self.assertEqual(markdown.cell("a|b <c> *d*"), r"a&#124;b &lt;c&gt; \*d\*")


class Links(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for place, text in {
            "README.md": "# R\n\n[one](sim/a/README.md), [two](#part), [old](gone.md), ![p](p.png)\n\n"
            "## Part\n",
            "sim/a/README.md": "# a\n\n[up](../../README.md#part), [code](x.cpp), [b](../b/), "
            "[no](../../README.md#x)\n",
            "sim/a/x.cpp": "int x;\n",
            "sim/b/README.md": "# b\n\n[self](#b)\n",
            "p.png": "",
        }.items():
            (self.root / place).parent.mkdir(parents=True, exist_ok=True)
            (self.root / place).write_text(text, encoding="utf-8")

    def tearDown(self):
        self.folder.cleanup()

    def test_links_that_lead_nowhere_are_told(self):
        documents = ["README.md", "sim/a/README.md", "sim/b/README.md"]
        self.assertEqual(
            links.check_documents(self.root, documents),
            [
                "README.md: (gone.md): no such file",
                "sim/a/README.md: (../../README.md#x): no such heading",
            ],
        )

    def test_links_lead_to_pages(self):
        read = (self.root / "sim/a/README.md").read_text
        pages = [
            Page("index.md", "R", (self.root / "README.md").read_text("utf-8"), "README.md"),
            Page("guide/part.md", "Part", "", "README.md"),
            Page("sim/a/README.md", "a", read("utf-8"), "sim/a/README.md"),
            Page("sim/b/README.md", "b", "", "sim/b/README.md"),
        ]
        linker = links.Linker(self.root, pages)
        there = markdown.links(linker.linked(pages[2]).text)
        self.assertEqual(
            there,
            [
                "../../guide/part.md",
                "../../shown/sim/a/x.cpp.md",
                "../b/README.md",
                "../../index.md",
            ],
        )
        self.assertIn("int x;", linker.shown["sim/a/x.cpp"].text)
        home = linker.linked(pages[0]).text
        self.assertIn("two](#part), old, ![p](p.png)", home)
        self.assertEqual(linker.pictures, {"p.png"})

    def test_headings_of_one_name_have_anchors_of_their_own(self):
        self.assertEqual(links.anchors("# A b\n## A b\n"), {"a-b", "a-b-1"})

    def test_what_is_wrong_with_a_built_site_is_told(self):
        (self.root / "i.html").write_text(
            '<a href="j.html#here"></a><a href="j.html#gone"></a><a href="k.html"></a>'
            '<a href="https://a.b"></a><script src="https://a.b/c.js"></script>'
            '<link rel="canonical" href="https://a.b">'
        )
        (self.root / "j.html").write_text('<p id="here">')
        self.assertEqual(
            built.check_site(self.root),
            [
                "i.html: loads https://a.b/c.js from elsewhere",
                "i.html: j.html#gone: no such anchor",
                "i.html: k.html: no such file",
            ],
        )
        self.assertEqual(len(built.check_site(self.root / "sim")), 1)  # no pages

    def test_documents_of_the_source_tree_lead_somewhere(self):
        self.assertEqual(links.check_documents(ROOT, Repository(ROOT).documents), [])


HELP = """Does things
Usage: trainyard do [OPTIONS] files...

Positionals:
  files FILE x 2 REQUIRED     what to do; the first counts

Options:
  -n,--count INT:INT in [1 - 8]=2
                              how often
  --by :{a,b}=b               which
  --set FIELD=VALUE ...       change a field
  --shard I/N Needs: --store Excludes: --json --csv
                              a part

Example: trainyard do x
  and y
"""


class Help(unittest.TestCase):
    def test_a_help_text_has_parts(self):
        told = commands.parsed(HELP)
        self.assertEqual(
            (told.description, told.usage), ("Does things", "trainyard do [OPTIONS] files...")
        )
        self.assertEqual(told.notes, "Example: trainyard do x\n  and y")
        self.assertEqual(told.tables["Options"][0].meaning, "how often")
        # The left column fills its width: a single space parts the two.
        full = commands.parsed(
            "X\nUsage: x\n\nPositionals:\n  scenarios FILE x 2 REQUIRED scenario files\n"
        )
        self.assertEqual(
            full.tables["Positionals"][0],
            commands.Entry("scenarios FILE x 2 REQUIRED", "scenario files"),
        )

    def test_a_left_column_is_taken_apart(self):
        count = commands.argument("-n,--count INT:INT in [1 - 8]=2")
        self.assertEqual(
            (count.flags, count.takes, count.default), (["-n", "--count"], "INT, 1 to 8", "2")
        )
        by = commands.argument("--by :{a,b}=b")
        self.assertEqual((by.takes, by.default), ("one of <code>a</code>, <code>b</code>", "b"))
        field = commands.argument("--set FIELD=VALUE ...")
        self.assertEqual((field.takes, field.default), ("FIELD=VALUE ...", ""))
        shard = commands.argument("--shard I/N Needs: --store Excludes: --json --csv")
        self.assertEqual(
            (shard.takes, shard.needs, shard.excludes), ("I/N", ["--store"], ["--json", "--csv"])
        )
        self.assertTrue(commands.argument("files FILE x 2 REQUIRED").required)

    def test_a_command_whose_program_is_not_built_has_a_page(self):
        class WithoutWindow(commands.Program):
            def says(self, *arguments):
                if arguments[0] == "gui":
                    raise commands.NotBuiltError("no such program")
                return "All\nUsage: trainyard\n\nSubcommands:\n  gui           A window\n"

        pages = commands.command_pages(WithoutWindow(pathlib.Path(), ROOT))
        self.assertEqual([page.title for page in pages], ["All", "gui"])
        self.assertIn("A window.\n\nIt runs a program that was not built", pages[1].text)

    def test_every_option_that_the_program_names_has_a_row(self):
        pages = {page.title: page.text for page in commands.command_pages(PROGRAM)}
        names = [
            entry.name for entry in commands.parsed(PROGRAM.says("--help")).tables["Subcommands"]
        ]
        self.assertGreater(len(names), 10)
        for name in names:
            if "It runs a program that was not built" in pages[name]:
                continue
            for flag in re.findall(r"^  (?:-\w,)?(--[\w-]+)", PROGRAM.says(name, "--help"), re.M):
                self.assertIn(f'<a id="{name}-{flag}">', pages[name])
        self.assertIn("## trainyard topo path", pages["topo"])


class Schemas(unittest.TestCase):
    def test_fields_have_values_defaults_and_meanings(self):
        inner = {
            "type": "object",
            "description": "how much",
            "required": ["rate"],
            "properties": {
                "rate": {"type": "string", "examples": ["450 GB/s"], "description": "per direction"}
            },
        }
        constant = {"type": "number", "minimum": 0.0, "default": 1.5, "description": "a share"}
        schema = {
            "description": "A thing.",
            "properties": {
                "count": {"type": "integer", "minimum": 1.0, "maximum": 1e12, "default": 1},
                "kind": {"enum": ["a", "b"], "description": "which"},
                "first": inner,
                "others": {"type": "array", "items": {**inner, "description": "the same again"}},
                "share": {
                    "anyOf": [
                        constant,
                        {
                            "type": "object",
                            "properties": {"value": constant, "grade": {}, "source": {}},
                        },
                    ]
                },
            },
        }
        text = schemas.Kind("thing", schema, {}).page("trainyard.thing/1").text
        for row in (
            "<code>count</code> | integer, 1 to 1e12 | <code>1</code> |  |",
            "<code>kind</code> | one of <code>a</code>, <code>b</code> |  | which |",
            "<code>first</code> | [object](#first) |  | how much |",
            "<code>others</code> | list of [object](#first) |",
            "<code>share</code> | number, 0 or more, or [with its evidence](constants.md) | "
            "<code>1.5</code> | a share |",
            '<a id="field-first.rate"></a>**<code>rate</code>** | quantity, as '
            "<code>450 GB/s</code> |  | per direction |",
        ):
            self.assertIn(row, text)
        self.assertEqual(text.count("\n## "), 1)  # the second object is the first

    def test_every_field_that_the_program_knows_has_a_row(self):
        pages = {page.title: page.text for page in schemas.schema_pages(PROGRAM)}
        everywhere = "".join(pages.values())
        for kind in (line.split()[0] for line in PROGRAM.says("schema").splitlines()):
            self.assertIn(f"# {kind}\n", pages[kind])
            for name in _names(json.loads(PROGRAM.says("schema", kind))):
                self.assertIn(f"<code>{name}</code>", everywhere)
        self.assertIn('<a id="field-strategy.fsdp.', pages["scenario"])


def _names(schema):
    """The names of all fields of a schema, whatever the depth."""
    if isinstance(schema, list):
        return {name for each in schema for name in _names(each)}
    if not isinstance(schema, dict):
        return set()
    inner = schema.get("properties", {})
    found = {name for each in schema.values() for name in _names(each)}
    return found | (set(inner) if isinstance(inner, dict) and "type" in schema else set())


class Headers(unittest.TestCase):
    TEXT = """#pragma once

// What it is about.

#include <x>

namespace n {

// T = 2 (n - 1) a:
//     indented
double time(int n);

// A pair.
struct Pair {
    int a = 0; // the first

    int sum() const
    {
        return a;
    }

private:
    int hidden_ = 0;
};

// Twice.
inline int twice(int x)
{
    return 2 * x;
}

} // namespace n
"""

    def test_declarations_come_with_what_is_said_of_them(self):
        header = headers.parsed(self.TEXT)
        self.assertEqual(header.comment, "What it is about.")
        self.assertEqual(
            [told.declaration for told in header.declarations],
            [
                "double time(int n);",
                "struct Pair {\n    int a = 0; // the first\n\n    int sum() const;\n};",
                "inline int twice(int x);",
            ],
        )

    def test_formulas_stay_as_they_are(self):
        self.assertIn("```text\n    indented\n```", headers.header_text("x.h", self.TEXT))
        self.assertEqual(headers.prose("a *b* `c<d>`"), r"a \*b\* <code>c&lt;d&gt;</code>")

    def test_names_of_headers_lead_to_them(self):
        self.assertEqual(
            headers.with_header_links(
                "see knots.h, other.h, `knots.h`", {"knots.h"}, "sim/cost/headers.md"
            ),
            "see [knots.h](site:sim/cost/headers.md#knotsh), other.h, `knots.h`",
        )


class Menu(unittest.TestCase):
    def test_groups_without_pages_are_left_out(self):
        menu = [Page("a.md", "A", ""), Group("G", [Page("b.md", "B", ""), Group("H", [])])]
        self.assertEqual(nav(menu), [{"A": "a.md"}, {"G": [{"B": "b.md"}]}])

    def test_every_document_has_one_page(self):
        pages = pages_of(Repository(ROOT).menu([], []))
        origins = [page.origin for page in pages if page.origin]
        parts = [
            part.heading for part in markdown.sections((ROOT / "README.md").read_text("utf-8"))
        ]
        for document in Repository(ROOT).documents:
            expected = len(parts) - 1 if document == "README.md" else 1
            self.assertEqual(origins.count(document), expected, document)
        self.assertEqual(len({page.place for page in pages}), len(pages))

    def test_anchors_are_those_of_headings(self):
        self.assertEqual(slug("How accurate is it?"), "how-accurate-is-it")
        self.assertEqual(slug("`strategy.fsdp`"), "strategyfsdp")

    def test_names_of_the_package_are_those_it_offers(self):
        self.assertEqual(python_api.public_names('x = 1\n__all__ = ["a", "b"]\n'), ["a", "b"])
        with self.assertRaises(ValueError):
            python_api.public_names("x = 1\n")


if __name__ == "__main__":
    unittest.main()
