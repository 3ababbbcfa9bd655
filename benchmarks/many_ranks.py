"""Algorithms on 1, 2 and 4 GPUs of one host: `python benchmarks/many_ranks.py --budget 420 --out ranks.json`.

The script starts its own ranks: one and two at a time on different GPUs, then four; with `--ranks 2`, on a host of two
GPUs, one and then two. Stages run in order of importance until the budget is spent; each row is printed when it is
measured, and the run is written to `--out`. A row has the graph, the program, the number of ranks, how they ran it
(`choice`, and whether it was planned), milliseconds (from a barrier to the answer of the slowest rank; median), G
entries/s, bytes that rank 0 sent, the share of time in calls between ranks, the peak memory of a rank, the predicted
times, and a number for comparing answers. A graph that does not fit one GPU has a row with the error. The last lines
are a table: graph, program, times of one rank and of the plan's choice, bytes sent, other choices; PLAN LOSES marks a
choice that is 5 % slower than another one or than one rank, DIFFERS a wrong answer.
`--device cpu --smaller 13` runs the same on ranks on CPUs, with small graphs.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]
GRACE = 20.0  # seconds after its deadline at which a worker is killed
SEARCHES = "search components pagerank".split()
SHARED = "betweenness64 betweenness256 triangles spmm64 spmm64-columns labels louvain".split()
# Stages: the share of the budget until which each may run, groups of ranks that run at the same time, their programs.
FIRST = [
    ("kron25", SEARCHES), ("kron22", SHARED), ("kron17", ["closeness"]), ("kron26", SEARCHES), ("mesh1024", ["search"]),
    ("mesh256", ["betweenness64", "betweenness512"]),
]  # fmt: skip
LARGER = [("kron28", SEARCHES), ("kron29", ["search", "pagerank"])]
LARGE = [("kron27", SEARCHES), LARGER[0]]
STAGES = [
    (0.36, (1, 2), FIRST),
    (0.58, (4,), FIRST),
    (0.74, (4,), [*LARGE[::-1], LARGER[1]]),
    (0.94, (1, 2), LARGE),
    (1.00, (4,), [("kron22", ["killed"])]),
]
ON_TWO = [*FIRST, ("kron27", SEARCHES)]
STAGES_ON_TWO = [
    (0.36, (1,), ON_TWO),
    (0.70, (2,), ON_TWO),
    (0.84, (2,), LARGER),
    (0.96, (1,), LARGER),
    (1.00, (2,), [("kron22", ["killed"])]),
]


# ---- one group of ranks ---------------------------------------------------------------------------------------------


class Worker:
    """The programs of one rank."""

    def __init__(self, deadline: float, smaller: int) -> None:
        import bitblas as gb
        import bitblas.distributed as gd

        self.gb, self.gd, self.group = gb, gd, gd.init()
        self.deadline, self.smaller = deadline, smaller
        self.device, self.xp = self.group.device, self.group.device.xp
        self.on_gpu = not self.device.host_memory

    def say(self, **row: object) -> None:
        if self.group.rank == 0:
            print("ROW " + json.dumps({"ranks": self.group.size, **row}), flush=True)

    def late(self) -> bool:
        """Whether the time of rank 0 is up."""
        return bool(self.group.gather_host(np.array([time.time() > self.deadline]))[0, 0])

    def clear(self) -> None:
        gc.collect()
        if self.on_gpu:
            self.xp.get_default_memory_pool().free_all_blocks()

    def peak(self) -> int:
        """The most MiB of CuPy's pool on a rank."""
        now = self.xp.get_default_memory_pool().total_bytes() >> 20 if self.on_gpu else 0
        return int(self.group.allreduce(np.array([now]), np.maximum)[0])

    def graph(self, name: str):
        kind, number = name.rstrip("0123456789"), int(name.lstrip("abcdefghijklmnopqrstuvwxyz"))
        if kind == "mesh":
            side = max(8, number >> self.smaller // 2)
            return self.gd.Matrix.from_matrix(self.gb.algorithms.grid_graph(side, side))
        from ranks import chunks

        scale, group = max(8, number - self.smaller), self.group
        source = lambda: chunks(self.xp, scale, group.rank, group.size)
        return self.gd.Matrix.from_chunks(source, True, nrows=1 << scale, ncols=1 << scale, share=True, symmetric=True)

    def run(self, tasks) -> None:
        for name, programs in tasks:
            if self.late():
                return
            self.clear()
            self.group.shares.clear()
            begin = time.perf_counter()
            try:
                self.A, self.name = self.graph(name), name
                self.group.barrier()
                self.entries = self.A.nvals
                seconds = time.perf_counter() - begin
                self.say(
                    graph=name, program="build", ms=round(1e3 * seconds, 1), entries=self.entries, peak=self.peak()
                )
                self.degrees = self.A.reduce_rowwise(self.gd.agg.count).new()
                for program in programs:
                    if self.late():
                        return
                    getattr(self, program.partition("-")[0].rstrip("0123456789"))(program)
            except (self.gb.exceptions.OutOfMemory, MemoryError) as error:
                self.say(graph=name, program="failed", error=f"{type(error).__name__}: {error}"[:300])
            self.A = self.degrees = None

    def measure(self, program, call, answer, times=3, parts=1, algorithm=None, choices=("",)) -> None:
        """A row for each choice: "" is that of the plan. call(k): a run; answer(result): a number."""
        group, planned = self.group, None
        if algorithm is not None and group.size > 1:
            from bitblas.distributed import work_sharing

            plan = work_sharing.plan(self.A, algorithm)
            planned = plan.choice
            row = {"predicted_ms": {k: round(1e3 * s, 3) for k, s in plan.seconds.items()}}
        else:
            row, choices = {}, choices[:1]
        for choice in choices:
            if (choice and choice == planned) or self.late():
                continue
            group.choice = choice
            call(0)
            group.barrier()
            group.gather_host(np.zeros(1))
            found = []
            for k in range(times):
                group.barrier()
                before = time.perf_counter(), group.sent, group.seconds
                result = call(k)
                group.settle()
                self.device.synchronize()
                after = time.perf_counter(), group.sent, group.seconds
                taken, *others = (b - a for a, b in zip(before, after))
                found.append([float(group.allreduce(np.array([taken]), np.maximum)[0]), *others])
                if found[0][0] > 5 or self.late():
                    break
            seconds, sent, calls = sorted(found)[len(found) // 2]
            number = answer(result)
            group.choice = ""
            row |= {"choice": choice or planned or ("one" if group.size == 1 else "partitioned"), "planned": not choice}
            row |= {
                "ms": round(1e3 * seconds / parts, 4),
                "sent": int(sent) // parts,
                "calls": round(calls / seconds, 3),
            }
            row |= {"gentries": round(self.entries * parts / seconds / 1e9, 2), "answer": number, "peak": self.peak()}
            self.say(graph=self.name, program=program, **row)
            del result

    def sources(self, count: int) -> list[int]:
        some = self.degrees.select("valuegt", 0).new().to_coo(values=False)[0]
        return [int(some[k * len(some) // count]) for k in range(count)]

    # ---- programs ----

    def search(self, program) -> None:
        al, sources = self.gb.algorithms, self.sources(16)

        def all_of_them(_):
            for source in sources:
                levels = al.bfs_levels(self.A, source)
            return levels

        total = lambda v: int(v.reduce("plus").new().value)
        self.measure(program, all_of_them, total, 3, 16, al.bfs_levels, ("", "partitioned"))

    def components(self, program) -> None:
        al, gb = self.gb.algorithms, self.gb

        def roots(v):
            own = gb.binary.eq(v & v.apply(gb.indexunary.index).new()).new()
            return int(own.reduce(gb.monoid.plus[gb.dtypes.INT64]).new().value)

        call = lambda _: al.connected_components(self.A)
        self.measure(program, call, roots, 3, 1, al.connected_components, ("", "partitioned"))

    def pagerank(self, program) -> None:
        from bitblas.compare import fixed

        al = self.gb.algorithms
        call = lambda _: fixed(al.pagerank, self.A, 10, dtype=self.gb.dtypes.FP32)
        largest = lambda v: float(v.reduce("max").new().value)
        self.measure(program, call, largest, 3, 10, al.pagerank, ("", "replicated"))

    def betweenness(self, program) -> None:
        al, sources = self.gb.algorithms, self.sources(int(program.removeprefix("betweenness")))
        call = lambda _: al.betweenness_centrality(self.A, sources)
        self.measure(program, call, lambda v: float(v.reduce("plus").new().value), 2, 1, al.betweenness_centrality)

    def closeness(self, program) -> None:
        al = self.gb.algorithms
        call = lambda _: al.closeness_centrality(self.A)
        self.measure(program, call, lambda v: float(v.reduce("plus").new().value), 2, 1, al.closeness_centrality)

    def triangles(self, program) -> None:
        al = self.gb.algorithms
        self.measure(program, lambda _: al.triangle_count(self.A), int, 3, 1, al.triangle_count)

    def labels(self, program) -> None:
        al = self.gb.algorithms

        def call(_):
            with al.Watch():
                return al.label_propagation(self.A, max_iter=3)

        total = lambda v: int(v.reduce("plus").new().value)
        self.measure(program, call, total, 2, 3, al.label_propagation, ("", "replicated"))

    def louvain(self, program) -> None:
        al = self.gb.algorithms
        total = lambda v: int(v.reduce("plus").new().value)
        self.measure(program, lambda _: al.louvain(self.A), total, 2, 1, al.louvain)

    def spmm(self, program) -> None:
        """64 columns: with rows of A, and of columns dealt out with a copy of A on each rank."""
        gb, gd, group, n, k = self.gb, self.gd, self.group, self.A.nrows, 64
        ring, low, high = gb.semiring.plus_second[gb.dtypes.FP32], 0, k
        if columns := program.endswith("columns"):
            A, lib = self.A.gathered(), gb
            low, high = k * group.rank // group.size, k * (group.rank + 1) // group.size
        else:
            A, lib = self.A, gd
        x = (self.xp.arange(n, dtype=np.int64)[:, None] * 7 + self.xp.arange(low, high)[None, :]) % 11
        B = lib.Matrix.from_dense(x.astype(np.float32), dtype=gb.dtypes.FP32)
        del x

        def total(C):
            found = np.array([float(C.reduce_scalar("plus").new().value)])
            return float(group.allreduce(found)[0] if columns else found[0])

        self.measure(program, lambda _: A.mxm(B, ring).new(), total, 3)

    def killed(self, program) -> None:
        """Rank 1 is killed; every other rank raises one error."""
        al, group = self.gb.algorithms, self.group
        if group.size == 1:
            return
        group.choice = "partitioned"
        source = self.sources(1)[0]
        al.bfs_levels(self.A, source)
        group.barrier()
        begin = time.perf_counter()
        if group.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            for _ in range(100_000):
                al.bfs_levels(self.A, source)
        except self.gb.exceptions.DistributedError as error:
            ms = 1e3 * (time.perf_counter() - begin)
            row = {"ranks": group.size, "graph": self.name, "program": program, "rank": group.rank}
            print("ROW " + json.dumps({**row, "ms": round(ms, 1), "error": str(error)[:200]}), flush=True)
            os._exit(3)


# ---- the script -----------------------------------------------------------------------------------------------------


class Driver:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args, self.begin, self.rows = args, time.time(), list[dict]()
        from benchmarks import table

        self.facts = table.surroundings(device=args.device, gpu=args.device == "cuda")

    def start(self, ranks: int, first_gpu: int, tasks, deadline: float) -> subprocess.Popen:
        args, env = self.args, dict(os.environ)
        work = json.dumps({"deadline": deadline, "smaller": args.smaller, "tasks": tasks})
        if args.device == "cuda":
            env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(first_gpu, first_gpu + ranks)))
        env.update(BITBLAS_TIMEOUT="60", PYTHONUNBUFFERED="1")
        command = [sys.executable, "-m", "bitblas", "run", "-n", str(ranks), "--device", args.device, __file__]
        process = subprocess.Popen(
            [*command, "--worker", work], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env
        )
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        return process

    def stage(self, groups: tuple[int, ...], tasks, deadline: float) -> None:
        """Run groups of ranks at the same time, on different GPUs."""
        first, running = 0, selectors.DefaultSelector()
        for ranks in groups:
            if ranks <= self.args.ranks:
                process = self.start(ranks, first, tasks, deadline)
                running.register(process.stdout, selectors.EVENT_READ, [process, ranks, b""])
                first += ranks
        while running.get_map():
            for key, _ in running.select(1.0):
                process, ranks, rest = key.data
                data = key.fileobj.read()
                *lines, key.data[2] = (rest + (data or b"")).split(b"\n")
                for line in lines:
                    self.line(ranks, line.decode(errors="replace"))
                if data == b"":
                    running.unregister(key.fileobj)
                    process.wait()
            if time.time() > deadline + GRACE:
                for key in list(running.get_map().values()):
                    print(f"# {key.data[1]} ranks are ended: {GRACE:.0f} s after the deadline", flush=True)
                    key.data[0].terminate()
                deadline = float("inf")

    def line(self, ranks: int, text: str) -> None:
        if not text.startswith("ROW "):
            print(f"# {ranks} ranks: {text}", flush=True)
            return
        row = json.loads(text[4:]) | {"at": round(time.time() - self.begin, 1)}
        self.rows.append(row)
        print(json.dumps(row), flush=True)
        if self.args.out:
            Path(self.args.out).write_text(json.dumps(self.facts | {"rows": self.rows}, indent=1) + "\n")

    def run(self) -> int:
        budget = self.args.budget
        stages = STAGES if self.args.ranks > 2 else STAGES_ON_TWO
        if self.args.only:
            tasks = [(name, programs.split(",")) for name, programs in (x.split(":") for x in self.args.only)]
            groups = [tuple(map(int, x.split("+"))) for x in self.args.groups.split(",")]
            stages = [((k + 1) / len(groups), ranks, tasks) for k, ranks in enumerate(groups)]
        for until, groups, tasks in stages[: self.args.stages]:
            deadline = self.begin + until * budget
            if time.time() < deadline - 5:
                self.stage(groups, tasks, deadline)
        return self.table()

    def table(self) -> int:
        """A line for each graph, program and number of ranks above one: times of one rank and of the plan's choice,
        bytes sent, and the other choices that were measured. 1 if answers differ."""
        cases: dict[tuple[str, str], list[dict]] = {}
        for row in self.rows:
            if "answer" in row or row["program"] in ("build", "failed"):
                cases.setdefault((row["graph"], row["program"]), []).append(row)
        print(
            f"\n{'graph':9}{'program':16}{'one, ms':>10}{'ranks':>6}  {'choice':12}{'ms':>10}{'times':>7}{'MB sent':>9}"
        )
        wrong = 0
        for (graph, program), rows in sorted(cases.items()):
            one = next((row for row in rows if row["ranks"] == 1 and "ms" in row), None)
            for ranks in sorted({row["ranks"] for row in rows}):
                some = [row for row in rows if row["ranks"] == ranks]
                if ranks == 1 and (one is None or len(rows) > 1):  # a column of the other lines
                    some = [row for row in some if "error" in row]
                for text, different in self.lines(some, one):
                    print(f"{graph:9}{program:16}{text}")
                    wrong += different
        return 1 if wrong else 0

    def lines(self, rows: list[dict], one: dict | None) -> Iterator[tuple[str, bool]]:
        """The line of the choice of the plan, with those that a program may force; and whether answers differ."""
        for row in rows:
            if "error" in row:
                yield f"{'':10}{row['ranks']:6}  {row['error'][:80]}", False
        planned = next((row for row in rows if row.get("planned", "ms" in row)), None)
        if planned is None:
            return
        forced = [row for row in rows if row is not planned and "choice" in row]
        times = f"{one['ms'] / planned['ms']:7.2f}" if one else f"{'-':>7}"
        others = ", ".join(f"{row['choice']} {row['ms']:.3f}" for row in forced)
        fastest = min([row["ms"] for row in forced] + [one["ms"] / 0.95 if one and "choice" in planned else np.inf])
        different = [row for row in (planned, *forced) if one and not agree(one.get("answer"), row.get("answer"))]
        text = f"{one['ms'] if one else np.nan:10.3f}{planned['ranks']:6}  {planned.get('choice', ''):12}"
        text += f"{planned['ms']:10.3f}{times}{planned.get('sent', 0) / 1e6:9.1f}  {others}"
        text += "  PLAN LOSES" if planned["ranks"] > 1 and planned["ms"] > 1.05 * fastest else ""
        yield text.rstrip() + ("  DIFFERS" if different else ""), bool(different)


def agree(x: float | None, y: float | None) -> bool:
    """Whether the answers of two runs agree: integers are equal, floats are rounded."""
    if x is None or y is None:
        return True
    return abs(x - y) <= (1e-5 * abs(x) if isinstance(x, float) else 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=420.0, help="seconds after which no further row is begun")
    parser.add_argument("--ranks", type=int, default=4, help="the most ranks")
    parser.add_argument("--stages", type=int, default=len(STAGES), help="only the first ones")
    parser.add_argument("--smaller", type=int, default=0, help="subtract this from all scales")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--out", help="a file for the run, as in benchmarks/stored/ranks")
    parser.add_argument("--only", nargs="+", help="graphs and programs instead of the stages: kron25:search,components")
    parser.add_argument(
        "--groups", default="1,2", help="with --only: numbers of ranks, one after the other; 1+2 at the same time"
    )
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker is None:
        return Driver(args).run()
    work = json.loads(args.worker)
    Worker(work["deadline"], work["smaller"]).run(work["tasks"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
