"""The compiled variants that a test run used: a pytest plugin, active if BITBLAS_VARIANTS names a file.

Every process records the kernels that devices load; the first one writes all of them into the file, one per line, and
prints their number. Kernels of other processes than pytest's are not recorded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bitblas import device
from bitblas.kernels.variant import Variant


class Recorder:
    """`path` is the list; each worker of pytest-xdist writes its own next to it, which the first process collects."""

    def __init__(self, path: Path, worker: str | None) -> None:
        self.path, self.worker = path, worker
        self.seen: set[str] = set()
        path.parent.mkdir(parents=True, exist_ok=True)
        if worker is None:
            for old in [path, *self._parts()]:
                old.unlink(missing_ok=True)
        for kind in (device.Cpu, device.Cuda):
            kind.kernel = self._noting(kind.kernel)

    def _parts(self) -> list[Path]:
        return list(self.path.parent.glob(f"{self.path.name}.*"))

    def _noting(self, kernel):
        seen: set[tuple[str, Variant]] = set()  # text is made once for each

        def noted(self_device: device.Device, variant: Variant):
            key = self_device.name, variant
            if key not in seen:
                seen.add(key)
                self.seen.add(f"{self_device.name} {variant}")
            return kernel(self_device, variant)

        noted.cache_clear = kernel.cache_clear
        return noted

    def pytest_sessionfinish(self) -> None:
        if self.worker is not None:
            self.path.with_name(f"{self.path.name}.{self.worker}").write_text("\n".join(sorted(self.seen)))
            return
        for part in self._parts():
            self.seen.update(filter(None, part.read_text().split("\n")))
            part.unlink()
        self.path.write_text("".join(f"{line}\n" for line in sorted(self.seen)))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        names = sorted({line.partition(" ")[0] for line in self.seen})
        counts = ", ".join(f"{sum(line.startswith(name + ' ') for line in self.seen)} on {name}" for name in names)
        terminalreporter.write_line(f"compiled variants used: {counts or 'none'}; the list: {self.path}")
