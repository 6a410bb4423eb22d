"""Map the four top-level folders to packages of `handoff_console`.

Everything else stands in pyproject.toml. This list cannot: `packages.find` takes a folder's
own name for the package's name, and writing each sub-package down by hand means that somebody
forgets one and only the wheel notices.
"""

from setuptools import find_packages, setup

FOLDERS = ["runtime", "store", "sample_runs", "console"]


def packages_below(folder: str) -> list[str]:
    package = f"handoff_console.{folder}"
    return [package, *(f"{package}.{name}" for name in find_packages(folder))]


setup(
    packages=[package for folder in FOLDERS for package in packages_below(folder)],
    package_dir={f"handoff_console.{folder}": folder for folder in FOLDERS},
)
