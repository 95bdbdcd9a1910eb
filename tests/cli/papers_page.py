#!/usr/bin/env python3
"""The page of `alphastep papers --report`: well-formed, a verdict for each claim, the numbers of --json, nothing
from outside. And docs/papers.md: the claims with their verdicts, and all rows, with numbers that agree; --update writes
both anew.

usage: papers_page.py COMMAND SOURCE_DIR [--update]"""

import html.parser
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

command, source = sys.argv[1:3]
failed = False

VERDICTS = {
    "holds": "holds",
    "corrected": "holds with a correction",
    "fails": "does not hold",
    "unchecked": "cannot be repeated",
    "own": "repeated with our own data",
}


def check(ok, *what):
    global failed
    if not ok:
        failed = True
        print("FAILED:", *what, file=sys.stderr)


def run(*arguments):
    return subprocess.run([command, "papers", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL)


# ---- docs/papers.md -------------------------------------------------------------------------------

papers_md = os.path.join(source, "docs", "papers.md")
TABLE = re.compile(r"^```\n(.*?)^```$", re.M | re.S)
ROW = re.compile(r"^([a-z][\w.-]+) {2,}(\S.*?) +(-|[-\d.e+]+) +(-|<= [\d.e+-]+|[-\d.e+]+) +([-\d.e+]+) +(-|[-\d.]+) +(?:ok|shown)$", re.M)
RELATIVE, ORDER = 0.01, 0.05
PRINTED = 0.005  # published numbers are shown with three digits


CLAIMS = re.compile(r"(?<=<!-- claims -->\n).*?(?=^<!-- end -->$)", re.M | re.S)


def markdown(node):
    """The text of an element, as Markdown."""
    marks = {"i": ("*", "*"), "sub": ("_", ""), "sup": ("^", "")}
    text = node.text or ""
    for child in node:
        before, after = marks.get(child.tag, ("", ""))
        text += before + markdown(child) + after + (child.tail or "")
    return text.replace("|", "\\|")


def claims_of(root):
    """The claims of the page, a table for each paper, and what is beyond them."""
    text = ""
    for section in root.iter("section"):
        text += f"\n### {words(section.find('h2'))}\n\n"
        if section.get("id") == "beyond":
            text += "".join(f"- {markdown(item)}\n" for item in section.iter("li"))
            continue
        text += "| claim | verdict | measured |\n|---|---|---|\n"
        for claim in by_class(section, "article", "claim"):
            verdict = words(by_class(claim, "span", "verdict")[0])
            where = words(by_class(claim, "span", "soft")[0]).removeprefix("\u00b7 ")
            text += f"| {markdown(claim.find('.//h3'))} ({where}) | {verdict} | {markdown(claim.findall('.//dd')[1])} |\n"
    return text + "\n"


def update():
    with open(papers_md, encoding="utf-8") as file:
        text = file.read()
    with tempfile.TemporaryDirectory() as folder:
        page = os.path.join(folder, "page.html")
        result = run("--report", page)
        if result.returncode:
            sys.exit(result.stdout + result.stderr)
        claims = claims_of(tree.parse(page).getroot())
    table = result.stdout.rsplit("The page is ", 1)[0]
    text = TABLE.sub(lambda _: f"```\n{table}```", text, count=1)
    with open(papers_md, "w", encoding="utf-8") as file:
        file.write(CLAIMS.sub(lambda _: claims, text, count=1))
    print(f"{papers_md}: written anew")


def claims_agree(root):
    """The claims of the page stand in docs/papers.md, whatever their numbers, which the rows compare."""
    with open(papers_md, encoding="utf-8") as file:
        shown = CLAIMS.search(file.read())[0]
    bare = [re.sub(r"[-\u2212\d.\u00b7^]+", "#", text) for text in (shown, claims_of(root))]
    check(bare[0] == bare[1], "docs/papers.md has not the claims of the page")


def table_agrees(rows):
    """The table has these rows. What is measured agrees to 1 %; where the expected value is a limit, it is below it."""
    with open(papers_md, encoding="utf-8") as file:
        text = file.read()
    table = {cells[0]: cells[1:] for cells in ROW.findall(TABLE.search(text)[1])}
    check(list(table) == [row["id"] for row in rows], "docs/papers.md has not the rows:", set(table) ^ {row["id"] for row in rows})
    check(f"\n{len(rows)} of {len(rows)} rows are as expected.\n" in text, "docs/papers.md does not count", len(rows), "rows")
    for row in rows:
        what, published, expected, measured, order = table.get(row["id"], (None,) * 5)
        if what is None:
            continue
        name = "docs/papers.md: " + row["id"]
        check(what == row["what"], name, "is about", what)
        check(published == "-" if row["published"] is None else abs(float(published) - row["published"]) <= PRINTED * row["published"],
              name, "published", published)
        if expected.startswith("<= "):
            check(max(row["measured"], float(measured)) <= 1.0001 * float(expected[3:]), name, measured, "is above", expected)
        else:
            check(abs(float(measured) - row["measured"]) <= RELATIVE * abs(row["measured"]), name, measured, "not", row["measured"])
        check((order == "-") == (row["order"] is None), name, "order", order)
        if order != "-" and row["order"] is not None:
            check(abs(float(order) - row["order"]) <= ORDER, name, "order", order, "not", row["order"])


# ---- the page -------------------------------------------------------------------------------------


class Outline(html.parser.HTMLParser):
    """Reads the page as a browser does: elements that are closed in order, and attributes."""

    VOID = {"meta", "path", "rect", "circle"}

    def __init__(self, text):
        super().__init__()
        self.open, self.attributes, self.tags = [], [], set()
        self.feed(text)
        self.close()
        check(not self.open, "elements are left open:", self.open)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, "closes", tag, "inside", self.open[-1:])
        if self.open:
            self.open.pop()


def words(node):
    return "".join(node.itertext())


def by_class(root, tag, name):
    return [node for node in root.iter(tag) if name in node.get("class", "").split()]


def number(cell):
    data = cell.find("data")
    return None if data is None else float(data.get("value"))


def stands_alone(text):
    outline = Outline(text)
    check(not outline.tags & {"script", "link", "img", "iframe", "object", "embed", "image", "use", "foreignobject"},
          "has an element that brings something in:", outline.tags)
    for key, value in outline.attributes:
        check(not key.startswith("on") and key not in ("src", "srcset", "action", "style"), "attribute", key)
        check(not key.endswith("href") or value.startswith("#"), "refers to", value)
        check(not re.search(r"\b(nan|inf)\b", value or ""), key, "=", value)
    for word in ("http:", "https:", "url(", "@import", "javascript:"):
        check(word not in text, "holds", word)


def is_judged(rows):
    """Each row of --json says what is expected and whether it was met; what is a limit is."""
    for row in rows:
        check(row["ok"] is True and (row["expected"] is None) == row["id"].startswith(("abc-tolerance", "ba-car-order")), "--json:", row)
        check(not row["id"].startswith("ba-car-order") or row["order"] >= 1.9, row["id"], "is of order", row["order"])
        if row["expected"] is None:
            continue
        off = row["measured"] - row["expected"]
        check(off <= 0 if row["limit"] else abs(off) <= 0.01 * abs(row["expected"]), row["id"], "is not ok:", row)


def agrees(root, rows):
    """Each row of --json is on the page, with its numbers; each row on the page is one of them."""
    rows = {row["id"]: row for row in rows}
    seen = set()
    for line in root.iter("tr"):
        name = line.get("data-row")
        if name is None:
            continue
        seen.add(name)
        check(name in rows, "a row that --json does not have:", name)
        cells = {cell.get("data-is"): cell for cell in line.iter("td")}
        row = rows.get(name, {})
        check(number(cells["ours"]) == row.get("measured"), name, "measured", words(cells["ours"]), row)
        check(number(cells["published"]) == row.get("published"), name, "published", words(cells["published"]), row)
        check(number(cells["recomputed"]) == row.get("expected"), name, "expected", words(cells["recomputed"]), row)
        order = row.get("order")
        check(words(cells["order"]) == ("–" if order is None else f"{order:.2f}"), name, "order", words(cells["order"]))
        published = row.get("published")
        if published:
            off = 100 * (row["measured"] - published) / abs(published)
            shown = words(cells["off publ."]).replace("\u2212", "-").removesuffix(" %")
            check(abs(float(shown) - off) <= 0.00501, name, "is off by", off, "not", shown)
    check(seen == set(rows), "rows that no claim shows:", sorted(set(rows) - seen))


def has_verdicts(root):
    """Each claim has one verdict, the same as in the summary, and a measurement without gaps."""
    claims = {node.get("id"): node for node in by_class(root, "article", "claim")}
    check(len(claims) == len(by_class(root, "article", "claim")), "two claims have the same id")
    summary = by_class(root, "table", "summary")[0]
    links = {}
    for line in summary.iter("tr"):
        for link in line.iter("a"):
            links[link.get("href")[1:]] = [words(node) for node in by_class(line, "span", "verdict")]
    check(list(links) == list(claims), "the summary does not list the claims:", set(links) ^ set(claims))
    counted = sum(int(words(node).split()[0]) for node in by_class(root, "li", "verdict"))
    check(counted == len(claims), "counts", counted, "of", len(claims), "claims")
    for name, claim in claims.items():
        verdicts = by_class(claim, "span", "verdict")
        check(len(verdicts) == 1 and [words(verdicts[0])] == links.get(name), name, "has not the one verdict")
        kind = verdicts[0].get("class").split()[-1]
        check(VERDICTS.get(kind) == words(verdicts[0]), name, "has the verdict", words(verdicts[0]))
        found = claim.findall(".//dd")
        check(len(found) == 2 and "–" not in words(found[1]), name, "has a gap in", words(found[-1]))
        check(kind in ("unchecked", "own") or claim.find(".//tr[@data-row]") is not None, name, "shows no row")
    return claims


def draws(root, listed):
    """Each figure that --help lists is shown, with a curve in each panel."""
    titles = {words(node.find("figcaption")) for node in root.iter("figure")}
    check(len(titles) == len(listed), len(titles), "figures of", len(listed))
    for panel in [svg for node in by_class(root, "div", "panels") for svg in node.findall("svg")]:
        curves = [path for path in panel.iter("path") if path.get("d", "").count("L") > 0 and path.get("fill") == "none"]
        check(curves, "a panel without a curve:", words(panel.find("title")))


if "--update" in sys.argv[3:]:
    update()
    sys.exit(0)

folder = tempfile.TemporaryDirectory()
page = os.path.join(folder.name, "page.html")


def read():
    with open(page, encoding="utf-8") as file:
        return file.read()


result = run("--json", "--report", page)
check(result.returncode == 0 and result.stderr == "", "exit status", result.returncode, result.stderr)
everything = json.loads(result.stdout)
chosen = json.loads(run("--json", "j-71").stdout)
check(chosen == [row for row in everything if row["id"].startswith("j-71-")], "--report changes what --json writes")
is_judged(everything)
table_agrees(everything)
text = read()
stands_alone(text)
root = tree.fromstring(text)
agrees(root, everything)
claims = has_verdicts(root)
claims_agree(root)
check(len(claims) >= 30 and len(list(root.iter("section"))) == 7, len(claims), "claims")
listed = run("--help").stdout.split("Figures:\n")[1].split("\n\n")[0].split()
draws(root, listed)
check(os.listdir(folder.name) == ["page.html"], "leaves", os.listdir(folder.name))

# A few rows: only the claims that they bear on, in place of the page that was there.
result = run("j-71", "abc-cubic", f"--report={page}")
check(result.returncode == 0 and page in result.stdout, "j-71 abc-cubic: exit status", result.returncode)
text = read()
stands_alone(text)
root = tree.fromstring(text)
check(set(has_verdicts(root)) == {"j-claim-order", "abc-claim-cubic"}, "j-71 abc-cubic: other claims")
agrees(root, [row for row in everything if re.match("j-71-|abc-cubic$", row["id"])])

# A page that cannot be written: exit 4, one line that names it, and what was there stays.
os.mkdir(os.path.join(folder.name, "taken"))
for place in (os.path.join(folder.name, "taken"), os.path.join(page, "below"), os.path.join(folder.name, "no", "page")):
    result = run("abc-cubic", "--json", "--report", place)
    check(result.returncode == 4, place, "exit status", result.returncode)
    check(result.stderr.count("\n") == 1 and place in result.stderr, place, result.stderr)
check(read() == text, "a failure changes the page that was there")
result = run("--report")
check(result.returncode == 2 and "--report" in result.stderr and result.stdout == "", "--report without a file")

folder.cleanup()
sys.exit(failed)
