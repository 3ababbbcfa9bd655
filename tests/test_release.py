"""The parts of a release have one version, and the declared contents."""

import re
from pathlib import Path

import pytest

import bitblas

ROOT = Path(__file__).parents[1]


def text(name):
    return (ROOT / name).read_text()


def test_one_version():
    assert 'attr = "bitblas.__version__"' in text("pyproject.toml")
    assert not re.search(r'^version = "', text("pyproject.toml"), re.M)
    assert f"version: {bitblas.__version__}\n" in text("CITATION.cff")
    assert f"## {bitblas.__version__.partition('.dev')[0]} " in text("CHANGELOG.md")


def test_pythons_are_the_same_everywhere():
    """Those that are promised are those on which wheels are tried, and those that conda's recipe takes; whole tests run
    where python-graphblas is."""
    said = re.findall(r"Python :: (3\.\d+)\"", text("pyproject.toml"))
    low, high = re.search(r'requires-python = ">=(3\.\d+),<(3\.\d+)"', text("pyproject.toml")).groups()
    assert said == [f"3.{minor}" for minor in range(int(low[2:]), int(high[2:]))]
    for name, pythons in {"tests": said[: said.index("3.14")], "wheels": said}.items():
        tried = re.search(r"matrix: .*", text(f".github/workflows/{name}.yml"))[0]
        assert re.findall(r'"(3\.\d+)"', tried) == pythons
    assert text("conda/meta.yaml").count(f"python >={low},<{high}") == 2
    tried = re.search(r"PYTHONS = \((.*)\)", text(".ci/try_dist.py"))[1]
    assert re.findall(r'"(3\.\d+)"', tried) == said
    numbers = re.findall(r'^    "(numpy|scipy|numba)>=([\d.]+)"', text("pyproject.toml"), re.M)
    assert len(numbers) == 3
    assert {text("conda/meta.yaml").count(f"- {name} >={least}\n") for name, least in numbers} == {2}


def test_workflows_run_targets_that_are_there():
    targets = set(re.findall(r"^([\w-]+):", text("Makefile"), re.M))
    workflows = "".join(path.read_text() for path in (ROOT / ".github" / "workflows").glob("*.yml"))
    ran = {target for line in re.findall(r"run: make (.*)", workflows) for target in line.split() if "=" not in target}
    assert ran and ran <= targets
    said = set(re.findall(r"(?:^ {4}|`)make ([a-z-]+)", text("CONTRIBUTING.md"), re.M))
    assert {"test", "demo", "site"} <= said <= targets


def test_files_that_are_named_are_there():
    for page in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        for link in re.findall(r"\]\(([^)#]+)\)", text(page)):
            assert (ROOT / link).exists(), link
    for name in re.findall(r"tests/test_\w+\.py", text("CONTRIBUTING.md")):
        assert (ROOT / name).exists(), name
    assert (ROOT / "bitblas" / "py.typed").exists() and '"py.typed"' in text("pyproject.toml")


def test_an_editable_install_is_a_plain_path():
    """setuptools writes a .pth file, and no finder that type checkers cannot follow, if the packages are below one
    folder that is named; the authors are those of the citation."""
    assert 'package-dir = {"" = "."}' in text("pyproject.toml")
    author = re.search(r'authors = \[\{name = "(.*)"\}\]', text("pyproject.toml"))[1]
    assert f"authors:\n  - name: {author}\n" in text("CITATION.cff")


def test_yaml_is_yaml():
    yaml = pytest.importorskip("yaml")
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff"]:
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
