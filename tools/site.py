"""What mkdocs.yml adds to docs/: README.md as the first page, the API from docstrings, links to sources as their paths."""

from __future__ import annotations

import inspect
import os
import re
import textwrap
import warnings
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from tools.parameters import shared

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")


def slug(text: str, separator: str) -> str:
    """As forges do it, so that a link holds in both: names keep their case in the API."""
    return re.sub(r"[^\w\- .]", "", text.strip().lower()).replace(" ", separator).replace(".", "")


def on_files(files: Any, config: Any) -> Any:
    from mkdocs.structure.files import File
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=moved((ROOT / name).read_text("utf-8"))))
    for page, text in api().items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links that leave docs/ name the file in the repository."""
    markdown = re.sub(r"^```python (no-run|needs \w+)$", "```python", markdown, flags=re.M)
    here = (ROOT / "docs" / page.file.src_uri).parent

    def plain(link: re.Match[str]) -> str:
        text, path = link.groups()
        target = path.partition("#")[0]
        if re.match(r"https?:|#|mailto:", path) or files.get_file_from_path(inside(here, target)):
            return link[0]
        named = (here / target).resolve()
        name = str(named.relative_to(ROOT)) if named.is_relative_to(ROOT) else target
        if name in PAGES:
            return f"[{text}]({os.path.relpath(ROOT / 'docs' / PAGES[name], here)}{path[len(target):]})"
        return f"`{name}`" if text == Path(name).name else f"{text} (`{name}`)"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.S | re.M)
    return "".join(part if n % 2 else LINK.sub(plain, part) for n, part in enumerate(parts))


def inside(here: Path, target: str) -> str:
    path = (here / target).resolve()
    docs = ROOT / "docs"
    return path.relative_to(docs).as_posix() if path.is_relative_to(docs) else ""


def moved(text: str) -> str:
    """A page of the root, as one of docs/."""
    text = text.replace("](docs/", "](")
    for name, page in PAGES.items():
        text = text.replace(f"]({name})", f"]({page})")
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", lambda m: m[0] if (ROOT / "docs" / m[1].partition("#")[0]).exists()
                  or m[1] in PAGES.values() else f"](../{m[1]})", text)


# -- the API

def api() -> dict[str, str]:
    """A page for each section of tests/public_names.txt: signature, docstring and source of every name."""
    pages: dict[str, str] = {}
    index = ["# API", "", "Every public name, with its signature, its docstring and the file that defines it.", ""]
    for section in (ROOT / "tests" / "public_names.txt").read_text("utf-8").split("\n["):
        home, _, rest = section.lstrip("[").partition("]\n")
        names = rest.split()
        owner = found(home)
        page = home
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")             # deprecated names warn when they are looked at
            pages[f"api/{page}.md"] = "\n".join([f"# {home}", "", *(line for name in names for line in entry(owner, home, name))])
        index.append(f"- [{home}]({page}.md): {len(names)} names")
    pages["api/index.md"] = "\n".join([*index, ""])
    return pages


def found(path: str) -> Any:
    try:
        return import_module(path)
    except ModuleNotFoundError:
        owner, _, name = path.rpartition(".")
        return getattr(found(owner), name)


def entry(owner: Any, home: str, name: str) -> list[str]:
    value = inspect.getattr_static(owner, name, None) if isinstance(owner, type) else getattr(owner, name)
    value = getattr(owner, name) if value is None or isinstance(value, (staticmethod, classmethod)) else value
    said = inspect.getdoc(value) if callable(value) or isinstance(value, property) or inspect.ismodule(value) else ""
    try:
        signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value))) if callable(value) else ""
    except (TypeError, ValueError):
        signature = ""
    text = [f"{name}{re.sub(r' at 0x[0-9a-f]+', '', signature)}", *([""] if said else []), *(said or "").splitlines()]
    if callable(value):
        text += shared_words(value, home)
    where = source(value)
    return [f"## {name}", "", f"<pre><code>{escape(chr(10).join(text))}</code></pre>", "", *([f"`{where}`", ""] if where else [])]


def shared_words(value: Any, home: str) -> list[str]:
    """What tools/parameters.py finds of its parameters, where the docstring is silent."""
    named: dict[str, list[str]] = {}
    for option, words in shared(value, home).items():
        named.setdefault(words, []).append(option)
    lines = [(", ".join(options), words) for words, options in named.items()]
    width = max((len(options) for options, _ in lines), default=0)
    return ["", *(line for options, words in lines for line in textwrap.wrap(
        f"{options:{width}}  {words}", 116, subsequent_indent=" " * (width + 2), break_long_words=False))] if lines else []


def source(value: Any) -> str:
    value = inspect.unwrap(getattr(value, "fget", None) or value)
    code = getattr(getattr(value, "impl", value), "__code__", None)
    try:
        path = Path(code.co_filename if code else inspect.getfile(value))
        return f"{path.relative_to(ROOT)}" + (f":{code.co_firstlineno}" if code else "")
    except (TypeError, ValueError):
        return ""
