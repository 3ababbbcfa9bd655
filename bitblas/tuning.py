"""Tuning table: every threshold of the library, with its unit, its reason and the measurement behind it.

A threshold is a number that decides which of several ways runs, how work is divided, or how much is cached: changing it
changes time or memory, never an answer. Read one with ``value("push_cost.gpu")``, or ``count("..")`` if it is a whole
number. Tests change rows with ``override``; nothing else does. ``table()`` returns the table as text. This
module imports nothing of bitblas, so that kernels and devices can read it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Threshold:
    """A tuned number: what it means, why it has this value, and where it was measured."""

    value: float
    unit: str
    reason: str
    measured: str = "not measured"  # device, graphs, commit


# Names are <area>.<noun>, with a last part .cpu or .gpu if the value depends on the device.
TABLE: dict[str, Threshold] = {
    # ------------------------------------------------------------------------------------------------------ direction
    # Push or pull: plan/direction.py.
    "push_cost.gpu": Threshold(
        16.0,
        "streamed entries per scattered entry",
        "A scattered update costs an atomic and an uncoalesced access; a pull streams rows.",
        "H200, grid2d_2048, 30 % of the vector present: push 27 us, pull 9 us (ef2a007)",
    ),
    "push.pieces_share": Threshold(
        4.0,
        "positions per entry",
        "A vector with at least one entry for so many positions is pushed by all pieces of rows (CR2), in their order; "
        "others along the list of the pieces of each row (estimated).",
    ),
    "push_cost.cpu": Threshold(
        3.0,
        "streamed entries per scattered entry",
        "One thread pushes presence along rows while two pull; many entries of long rows are pushed by two, 1.3 to 2.3 "
        "times as fast.",
        "2 EPYC cores, delaunay, stencil27, road_ny, rmat16, mycielskian13: densities from which a pull is faster",
    ),
    "push_cost.threads.cpu": Threshold(
        2, "threads", "The costs on CPUs were measured with so many threads.", "2 EPYC cores"
    ),
    "pull.threads.cpu": Threshold(8, "threads", "With more, pulls are limited by memory bandwidth."),
    "push_cost.rows.any": Threshold(
        1.0,
        "factor on push_cost.cpu",
        "Presence, if a pull reads all of a row: a pull is faster from densities of 0.25 to 0.7.",
        "2 EPYC cores, Delaunay meshes, a stencil, a road network, RMAT 16, a Mycielskian",
    ),
    "push_cost.rows.count": Threshold(
        1.5,
        "factor on push_cost.cpu",
        "Counts: a pull is faster from densities of 0.15 to 0.25.",
        "as push_cost.rows.any",
    ),
    "push_cost.rows.values": Threshold(
        0.8,
        "factor on push_cost.cpu",
        "Values: a pull is faster from densities of 0.3 to 0.5.",
        "as push_cost.rows.any",
    ),
    "push_cost.tiles.any": Threshold(
        4.0,
        "factor on push_cost.cpu",
        "Presence along tiles of 8: a push goes through bits one by one, a pull sums a whole tile at once. A pull is"
        " faster from densities of 0.05 to 0.1.",
        "as push_cost.rows.any",
    ),
    "push_cost.tiles.count": Threshold(
        8.0,
        "factor on push_cost.cpu",
        "Counts along tiles of 8: a pull is faster from densities of 0.03 to 0.06.",
        "as push_cost.rows.any",
    ),
    "push_cost.tiles.values": Threshold(
        2.4,
        "factor on push_cost.cpu",
        "Values along tiles of 8: a pull is faster from densities of 0.12 to 0.14, on the road network of 0.05.",
        "as push_cost.rows.any",
    ),
    "push_cost.tile": Threshold(
        0.19, "entries", "A tile that is read for a few of its rows, relative to an entry.", "as push_cost.rows.any"
    ),
    "push_cost.tiles.cached": Threshold(
        1 << 17,
        "positions",
        "Sums of so many positions fit in a core's cache; with more, a push of numbers along tiles costs twice as "
        "much.",
        "2 EPYC cores",
    ),
    "push_cost.tile_rows.any": Threshold(
        1.25,
        "factor on push_cost.cpu, per entry of a tile",
        "Pushes go along auxiliary CSR rows, pulls along tiles. Presence: a pull is faster from densities of 0.085, "
        "0.065 and 0.027.",
        "1 thread of an EPYC: delaunay_n14 (6.5 entries a tile), stencil27_20 (8), mycielskian13 (13, rows end early)",
    ),
    "push_cost.tile_rows.count": Threshold(
        1.35,
        "factor on push_cost.cpu, per entry of a tile",
        "Counts: a pull is faster from densities of 0.095, 0.045 and 0.033.",
        "as push_cost.tile_rows.any",
    ),
    "push_cost.tile_rows.values": Threshold(
        0.47,
        "factor on push_cost.cpu, per entry of a tile",
        "Values: a pull is faster from densities of 0.2, 0.2 and 0.1.",
        "as push_cost.tile_rows.any",
    ),
    "push.uncounted.items": Threshold(
        1 << 10,
        "entries or tiles",
        "Either direction reads so small a matrix in less time than counting the active rows takes.",
    ),
    "pull.always.entries": Threshold(
        1 << 8,
        "entries",
        "A pull reads so small a matrix in less time than the merge that ends a push.",
        "H200, 250 entries: statements take 15.5 to 17.5 us if they pull, 17.3 to 18.9 if they push",
    ),
    "push.list.products": Threshold(
        1 << 13, "products", "So few products are always sorted (vectors stored as lists, CPU)."
    ),
    "push_cost.list": Threshold(
        16, "streamed entries per product", "A sorted product takes 3 to 10 passes over keys and sums, a pull one."
    ),
    "push_cost.multivector.cpu": Threshold(
        4,
        "pulled rows per pushed row",
        "Two threads share a pull, but not a push.",
        "1 EPYC thread, levels from 64 sources: road_ny 2.2 s with 16, 1.8 with 6, 1.3 with 3 and 1; grid2d_256 .30,"
        " .16, .14, .13; rmat14 the same",
    ),
    "push_cost.multivector.gpu": Threshold(16, "pulled rows per pushed row", "As push_cost.gpu."),
    "push_cost.round.entry": Threshold(
        16,
        "entries of the matrix per entry of the frontier's rows",
        "A round of a loop on a GPU pulls if its frontier has more than 1/16 of all entries. Beamer's alpha is 14, "
        "also on RMAT graphs.",
        "H200, RMAT graphs",
    ),
    "push_cost.round.code": Threshold(
        16, "words of the matrix per word of the frontier's rows", "As push_cost.round.entry, in words of packed gaps."
    ),
    "push_cost.round.piece": Threshold(
        16,
        "pieces of the matrix per piece of the frontier's rows",
        "As push_cost.round.entry, in pieces of rows (CR2).",
    ),
    "push_cost.round.tile": Threshold(
        4,
        "tiles of the matrix per tile of the frontier's tile rows",
        "One active row counts all tiles of its tile row. Single entries of a Split count like tiles.",
        "H200, search with 4, 8, 16: 27-point stencil 1.23, 1.32, 1.67 ms; Delaunay mesh the same with each",
    ),
    "push.round.contended": Threshold(
        8, "entries per row of the result", "With more, pushes of a round contend for the cells of the result."
    ),
    "push.round.longest_tile_row": Threshold(
        1 << 13,
        "tiles",
        "Long rows are cut into segments but long tile rows are not: a frontier with a longer one pulls. A group of "
        "lanes reads so many in less time than a pull takes.",
    ),
    "push.round.scanned": Threshold(
        16,
        "vertices per entry",
        "Reading the mask of so many vertices, as every pull of a search does, costs as much as reading an entry.",
        "H200, RMAT 22, device time of a search: 265 us if one of the last frontiers, with more than 1/16 of the "
        "vertices, pushes, 229 us if it pulls",
    ),
    "transpose.reads.cpu": Threshold(
        20.0,
        "reads of all entries",
        "Cost of building the transpose: SciPy's counting sort takes 3 to 20 ns an entry, a pull 0.3 to 1.",
        "2 EPYC cores",
    ),
    "transpose.reads.gpu": Threshold(
        80.0,
        "reads of all entries",
        "Cost of building the transpose: a sort of 64-bit keys takes 0.11 ns an entry and at least 0.25 ms, reading "
        "4 bytes 0.0014.",
        "H100",
    ),
    "sums.build_us": Threshold(
        8000.0, "us", "Building a copy for sums, whatever its size.", "H200, ms: delaunay_n20 9.5, stencil27_100 12"
    ),
    "sums.build_us_per_entry": Threshold(
        0.0005, "us", "Building a copy for sums, per entry.", "H200, ms: RMAT 20 22.5, RMAT 22 79"
    ),
    "sums.gain_us_per_entry.uneven": Threshold(
        3e-6,
        "us",
        "What a copy for sums saves in a product, per entry of a matrix with degree-binned rows.",
        "H200, us of plus_second: RMAT 20 195 -> 97, RMAT 22 907 -> 421",
    ),
    "sums.uneven_columns": Threshold(
        1 << 19,
        "columns",
        "With fewer, the vector is in the caches, and a copy for sums of degree-binned rows gains little.",
        "H200, ms of 20 rounds of PageRank by rows and by the copy: 2^18 columns 0.98, 1.31 (crawl_n18) and 1.09, 1.01 "
        "(social_n18); 2^20 4.7, 2.7 (RMAT 20); 2^15 columns, all in shared memory, 0.66, 0.50 (college_n15)",
    ),
    "sums.gain_us_per_entry.even": Threshold(
        1.3e-6,
        "us",
        "The same for columns near the diagonal.",
        "H200, us of plus_times with weights: delaunay_n20 26 -> 18, stencil27_100 78 -> 43",
    ),
    "sums.least_entries": Threshold(
        1 << 20, "entries", "With fewer, a copy for sums gains less than its launches cost."
    ),
    "sums.block_entries": Threshold(
        6e6,
        "entries",
        "From here on, the next most popular columns are a hot block of a copy for sums.",
        "H200, us with one and two blocks: RMAT 20, 3.1 M entries 97, 98; RMAT 22, 15 M 469, 416",
    ),
    "sums.block_entries_per_row": Threshold(
        1, "entries per row that has entries", "A hot block needs as many too, because it adds a piece to most rows."
    ),
    "sums.range_entries": Threshold(
        1 << 26, "entries", "A copy for sums is built by ranges of the rows of about as many; each takes 160 bytes."
    ),
    "sums.near_share": Threshold(
        0.5, "share of entries", "From here on near the diagonal, rows of even lengths get a copy for sums."
    ),
    "sums.blocks": Threshold(
        8,
        "blocks of 256 threads per multiprocessor",
        "Resident blocks of a part without hot columns of a copy for sums; half as many for types of 8 bytes.",
    ),
    "rows_for_push.per_entry": Threshold(
        0.5,
        "pushed entries per entry of the matrix",
        "Pushes along tiles that amortize building auxiliary rows: building takes some 10 ns an entry, a push loses "
        "5 to 60.",
        "EPYC, 1 thread, 1 % of the vector present, by tiles and rows: delaunay_n14 37 and 12 us, road_ny 509 and 71",
    ),
    "rows_for_push.least": Threshold(1 << 16, "pushed entries", "With fewer, auxiliary rows are never built."),
    "format.sampled_entries": Threshold(
        1 << 12,
        "entries",
        "Up to here nothing is sampled, for time: every format takes a launch, and sampling takes 0.3 to 2 ms.",
        "EPYC and H100",
    ),
    "format.standard_errors": Threshold(
        4.0,
        "standard errors",
        "An estimated number of tiles may be too low by so many: if a format would then take more bytes than CSR, "
        "its tiles are counted before it is chosen.",
    ),
    "format.hubs.cpu": Threshold(
        float("inf"), "longest row over mean row", "CPU threads do not share rows, so the prediction for tiles holds."
    ),
    "format.hubs.gpu": Threshold(
        8,
        "longest row over mean row",
        "A matrix with longer rows has hubs, and stays by rows for time: the cost of a hub's tiles is not predicted.",
        "H200, 13 graphs with hubs; meshes, grids, roads have 1 to 4, webs from 20",
    ),
    "format.push_read": Threshold(
        4,
        "share of a vector",
        "A push from a fourth of a vector's entries is a read, too: along tiles it would be a pull.",
    ),
    "format.search_us.cpu": Threshold(800.0, "us", "Fixed time of the search for the best format.", "2 EPYC cores"),
    "format.search_us.gpu": Threshold(
        400.0,
        "us",
        "Fixed time of the search for the best format.",
        "H200: 220 us with hubs, 600 on a mesh, 70 to 90 on the device",
    ),
    "format.search_us_per_entry.cpu": Threshold(
        2e-4, "us per entry", "The search reads row pointers and samples.", "2 EPYC cores"
    ),
    "format.search_us_per_entry.gpu": Threshold(
        1e-6, "us per entry", "The search reads row pointers and samples.", "H200"
    ),
    "format.convert_us.cpu": Threshold(500.0, "us", "Fixed time of building a format.", "2 EPYC cores"),
    "format.convert_us.gpu": Threshold(
        700.0, "us", "Fixed time of building a format.", "H100: 0.6 to 2.6 ms for 10^5 to 3 * 10^7 entries"
    ),
    "format.convert_us_per_entry.cpu": Threshold(
        0.03, "us per entry", "Building a format.", "2 EPYC cores, tiles: 10 to 150 ns an entry"
    ),
    "format.convert_us_per_entry.gpu": Threshold(7e-5, "us per entry", "Building a format.", "H100"),
    "cost.floor_us.cpu": Threshold(
        20.0, "us", "Fixed cost of a statement, below which times do not differ.", "2 EPYC cores"
    ),
    "cost.floor_us.gpu": Threshold(5.0, "us", "Fixed cost of a launch, below which times do not differ.", "H200"),
    "facts.counted_entries": Threshold(
        1 << 16, "entries", "Up to here every device counts tiles when it would sample them for a choice by bytes."
    ),
    "packed_values.entries": Threshold(1 << 12, "entries", "With fewer, packing values saves at most 32 KB."),
    "multivector.most_columns": Threshold(
        512, "columns", "A multivector that is stored as a bitmap has rows of up to eight words."
    ),
    "multivector.least_rows": Threshold(1 << 12, "rows", "A multivector has as many rows as a graph has vertices."),
    "multivector.rows_per_column": Threshold(16, "rows per column", "With fewer the matrix is no multivector."),
    "multivector.rows_per_entry.cpu": Threshold(
        64,
        "rows per entry",
        "With more, the CPU keeps a multivector by rows: products along few entries read only these, bitmaps all "
        "words.",
    ),
    "multivector.rows_per_entry.gpu": Threshold(
        1 << 62, "rows per entry", "A GPU reads all words in the time of a launch."
    ),
    "multivector.bytes.cpu": Threshold(
        1 << 31, "bytes", "Most bytes of values of a result that was not requested as a bitmap."
    ),
    "multivector.bytes.gpu": Threshold(
        1 << 33, "bytes", "Most bytes of values of a result that was not requested as a bitmap."
    ),
    "binned.shared.bytes": Threshold(
        3 << 16,
        "bytes",
        "Shared memory for values of a vector in a block of a degree-binned pull; compute capability 9.0 has 227 KB.",
        "H200, RMAT 22 by degree, plus_second: 533 us with 128 KB, 509 with 192",
    ),
    "binned.shared.fewer_bytes": Threshold(1 << 17, "bytes", "The same on compute capability 8.0, which has 163 KB."),
    "spgemm.table.slots_8_lanes": Threshold(
        64,
        "slots",
        "Hash table of a row of A * B that 8 lanes share, of which three in four slots may be used.",
        "H200, A * A: delaunay_n20 1.60 ms, with 128 slots first 1.66, with 4 lanes first 1.62; 27-point stencil, "
        "RMAT 14 and 16 differ by less than 5 %",
    ),
    "spgemm.table.slots_16_lanes": Threshold(256, "slots", "The same for 16 lanes.", "as spgemm.table.slots_8_lanes"),
    "spgemm.table.slots_32_lanes": Threshold(1024, "slots", "The same for 32 lanes.", "as spgemm.table.slots_8_lanes"),
    "spgemm.table.turns": Threshold(16, "products per slot of a row's lanes", "With more, the row gets more lanes."),
    "spgemm.shared.bytes": Threshold(48 << 10, "bytes", "Shared memory of a block for hash tables of rows."),
    "spgemm.shared.words": Threshold(2048, "words", "A long row has a bitset of up to so many words in shared memory."),
    "spgemm.long_rows.blocks": Threshold(
        1024, "blocks", "So many process the long rows one after the other (estimated)."
    ),
    "spgemm.long_rows.bitset_bytes": Threshold(
        1 << 30, "bytes", "Bitsets of all blocks together; with larger ones fewer blocks process the long rows."
    ),
    # Products with a map that are reduced by row: operations/map_products.py.
    "map.row_entries": Threshold(
        8192,
        "entries",
        "Rows up to this length have a table in the shared memory of one block, if it has room; longer ones (hubs) "
        "have tables in global memory.",
    ),
    "map.thread_entries": Threshold(
        32,
        "entries",
        "Rows up to this length (8, 16 or 32; 0: none) are held in the registers of one thread, if entries are "
        "counted; up to half of it if values are summed.",
        "H200, 8ac23934: stencil27_100 0.18 ms (16: 0.40), delaunay_n20 0.04 (0: 0.26), rmat20 1.2 (0: 2.1)",
    ),
    "map.most_rows": Threshold(
        0.75, "rows", "A bin with more than this part of the rows, by threads, is read without a list of its rows."
    ),
    "map.part": Threshold(
        4096, "entries", "A block adds so many entries of a hub to a table in shared memory, then this to the hub's."
    ),
    "map.slots": Threshold(16384, "slots", "A block reads so many slots of a hub's table."),
    "map.direct": Threshold(
        1 << 18, "keys", "The CPU: with at most so many keys a table has a place for each, instead of a hash."
    ),
    "map.shares": Threshold(
        16,
        "blocks",
        "Floats: at most so many blocks share the keys of a hub; each reads the whole row, in order.",
    ),
    "map.table_bytes": Threshold(
        1 << 30, "bytes", "Tables of hubs that are in memory together; the others follow in turn."
    ),
    # -- end of plan
    # --------------------------------------------------------------------------------------------------------- device
    # Launches, memory, threads: device/, store.py.
    "parallel.words": Threshold(
        1 << 10, "words", "Below this a parallel launch of a vector kernel on the CPU costs more than it saves."
    ),
    "parallel.ranges_per_thread": Threshold(
        4, "ranges", "More ranges than threads: a thread that finishes early takes another range."
    ),
    "parallel.clock_ranges_per_thread": Threshold(
        4, "ranges", "In loops on the CPU: ranges of long work per thread between two checks of the clock."
    ),
    "parallel.spins": Threshold(
        50_000,
        "polls",
        "A worker thread polls for its next job some 0.5 ms before it sleeps; a program returns from Python in that. "
        "Read when the first kernel is loaded.",
    ),
    "interrupt.long_work": Threshold(
        1 << 25,
        "entries or products",
        "From here on a CPU launch runs some of its ranges at a time, so that Python can handle signals in between; "
        "less work finishes in about 0.2 s.",
    ),
    "interrupt.chunk_work": Threshold(
        1 << 21, "entries or products", "Work of one range of long work: it takes 2 to 20 ms."
    ),
    "interrupt.group_seconds": Threshold(
        0.1, "seconds", "Duration of a group of ranges of a long kernel, after which signals are handled."
    ),
    "interrupt.loop_nanoseconds": Threshold(
        20_000_000,
        "nanoseconds",
        "A loop on the CPU returns to Python after this time, which handles signals. Read when the first loop runs.",
    ),
    "memory.checked_bytes": Threshold(
        1 << 26,
        "bytes",
        "From here on a memory need is compared with the free memory; querying that takes some microseconds.",
    ),
    "memory.checked_entries": Threshold(
        1 << 16, "entries", "Results of fewer entries are allocated without a check, unless there is a memory limit."
    ),
    "measure.sample_us": Threshold(2000.0, "microseconds", "Minimum duration of one sample of a time measurement."),
    "bits.unpacked_words": Threshold(
        8,
        "words per nonzero word",
        "With fewer, all of a bitset on the host is unpacked; else its zero words and bytes are skipped.",
    ),
    "vector.copied_entries": Threshold(
        32,
        "positions per entry",
        "From here on a copy of a vector on the host copies the values of its entries only.",
    ),
    "list.positions.cpu": Threshold(
        1 << 24,
        "positions",
        "Below this a vector is stored as a bitset however few bits are set: a list costs 3 ms per round of a search, "
        "whatever its size; a bitset costs about as much at 2^24 positions, where bits take 2 MB and values 128 MB.",
        "CPU, grid with 2^20 vertices: 0.15 ms per round with a bitset",
    ),
    "list.positions.gpu": Threshold(
        1 << 26, "positions", "As list.positions.cpu; on a GPU a list takes many small launches.", "estimated"
    ),
    "list.bits_per_entry": Threshold(
        128, "bits", "A list stores an index and a value of 8 bytes each per entry; a bitset takes a bit per position."
    ),
    # -- end of device
    # -------------------------------------------------------------------------------------------------------- formats
    # Stored formats and their kernels: formats/, kernels/.
    "formats.parallel_entries": Threshold(
        1 << 16, "entries", "With fewer, a parallel launch on the CPU does not pay off.", "about 0.1 ms per launch"
    ),
    "formats.trim_part": Threshold(
        16,
        "bytes kept per byte wasted",
        "A built array is copied to its size only if this frees more than a sixteenth.",
    ),
    "formats.margin": Threshold(
        1.1,
        "times the fastest",
        "Error of predictions of mplg and split; code that cannot read packed columns or a Split converts them to rows "
        "for each operation.",
    ),
    "rows.iterations": Threshold(
        16,
        "iterations of a group of lanes",
        "Each iteration over a row has a memory latency; longer rows are hubs and are cut (estimated).",
    ),
    "rows.segment_steps": Threshold(8, "steps", "Steps that the lanes of a segment of a long row take to sum it."),
    "rows.hot_share": Threshold(
        0.4,
        "share of entries",
        "With less in the first columns, too few entries would use the values that a block keeps in shared memory.",
        "RMAT 20: by degree 0.69, else 0.25",
    ),
    "rows.hub_column_skew": Threshold(
        4,
        "longest row per mean row",
        "With less, hub columns are no better guesses than the first column of a row.",
    ),
    "rows.bin_blocks": Threshold(
        4,
        "blocks of 256 threads per multiprocessor",
        "Resident blocks of a degree-binned pull, if none keeps vector values in shared memory.",
    ),
    "rows.dot_least_lanes": Threshold(4, "lanes", "Least GPU lanes per position of the mask of a dot product."),
    "csr.min_blocks": Threshold(
        8,
        "blocks of 256 threads per multiprocessor",
        "Least number for full vectors and 32-bit sums, which limits registers.",
        "min_plus, grid: 58 us; with 4, 64 us",
    ),
    "csr.min_blocks_wide": Threshold(
        4,
        "blocks of 256 threads per multiprocessor",
        "The same for other vectors and types, which need more registers.",
    ),
    "csr.pull_entries_per_lane": Threshold(
        7,
        "entries",
        "As many lanes share a row of sums as have two or three loads in flight each.",
        "H200: fastest with 1 lane on a Delaunay mesh (6 entries per row), 2 on a stencil (25), 4 on RMAT (30)",
    ),
    "csr.staged.least": Threshold(
        14, "entries per row", "From here on, a warp of a pull of sums loads 32 even rows of plain columns together."
    ),
    "csr.staged.least.valued": Threshold(
        5,
        "entries per row",
        "The same if entries have values.",
        "H200, us of plus_times, plus_second by lanes -> together: delaunay_n20 25.0, 15.1 -> 20.9, 16.7",
    ),
    "csr.staged.most": Threshold(64, "entries per row", "Up to here; longer rows have enough lanes for whole sectors."),
    "csr.push_entries_per_lane": Threshold(2, "entries", "Entries of a row per lane of a push."),
    "csr.uneven": Threshold(
        32,
        "longest row per mean row",
        "From here on rows are uneven, and binned pulls pay off.",
        "RMAT 20: 2000; meshes: 1 to 4",
    ),
    "csr.binned_from": Threshold(
        1 << 18,
        "entries",
        "With fewer, a degree-binned pull does not pay off.",
        "H100, us of plus_times with plain and binned rows: RMAT 16 25, 21; RMAT 17 by degree 30, 28; RMAT 19 170, 129",
    ),
    "csr.bin_log_longest": Threshold(
        11, "log2 of entries", "Longest piece of a degree-binned pull, 2048 entries: longer rows are cut."
    ),
    "csr.bin_log_shortest": Threshold(2, "log2 of entries", "Shortest bin of a degree-binned pull: up to 4 entries."),
    "csr.bin_log_run": Threshold(
        10, "log2 of entries", "Entries of a run, which a warp takes at a time unless one row has more."
    ),
    "csr.hot_samples": Threshold(1 << 15, "entries", "Sampled to estimate the share of entries in the first columns."),
    "csr.hub_column_least_lanes": Threshold(4, "lanes", "Least GPU lanes per row that search for its hub column."),
    "csr.dot_slots": Threshold(
        4096,
        "slots, a power of two",
        "Hash table for a row of A in masked dot products on a GPU; a row may fill half of them.",
        "H200, triangles of RMAT 20: 10.8 ms, 20.2 without tables; 2048 to 8192 slots differ by 4 %",
    ),
    "csr.dot_table_from": Threshold(
        16,
        "entries",
        "Rows of A with at least as many are put into the hash table of a masked dot product.",
        "H200, triangles of RMAT 20: rows from 8 to 32 entries on differ by 4 %",
    ),
    "csr.dot_table_for": Threshold(4, "entries of the mask", "The hash table of a row must serve at least as many."),
    "csr.dot_long": Threshold(
        1024,
        "entries",
        "If even the shorter row of a dot product is as long, a whole block searches for its entries (estimated).",
    ),
    "csr.piece": Threshold(
        1 << 22, "entries", "Packed columns that are unpacked at a time: 16 to 32 MB, and few launches."
    ),
    "csr.counting_sort_from": Threshold(
        1 << 14, "entries", "With fewer, the CPU sorts with NumPy instead of loading a kernel."
    ),
    "csr.counting_sort_span": Threshold(
        8, "rows or columns per entry", "With more, counting sort is not used, because it also loops over empty ones."
    ),
    "symmetry.chunk.csr": Threshold(
        1 << 12, "entries", "Entries hashed per warp, which writes one sum, by the symmetry test of rows."
    ),
    "symmetry.chunk.b2sr": Threshold(
        1 << 9, "tiles", "Tiles hashed per warp, which writes one sum, by the symmetry test of tiles."
    ),
    "symmetry.band": Threshold(
        1 << 22,
        "entries",
        "Single entries of a Split, entries of a CR2 or of a graph with virtual nodes, decoded at a time by the "
        "symmetry test.",
    ),
    "coded.evenness": Threshold(
        3,
        "bits",
        "Bits by which the numbers of a block are shorter than the count of its units, to predict bytes.",
        "2 to 5 on average over graphs",
    ),
    "coded.early_factor": Threshold(
        8, "times the words", "One lane reads so much more if rows may stop at their first hit as it reads for sums."
    ),
    "coded.binned_from": Threshold(
        1 << 20, "entries", "With fewer, a degree-binned pull does not pay off: a launch takes as long (estimated)."
    ),
    "coded.entries_per_step": Threshold(4, "entries per word", "Entries per word that an advance walks."),
    "nib.pull_words_per_lane": Threshold(2, "words", "Words of a row per GPU lane of a pull of sums."),
    "nib.push_words_per_lane": Threshold(1, "words", "Words of a row per GPU lane of a push."),
    "nib.code_words_per_lane": Threshold(
        2, "words or entries", "Words or entries of a row per GPU lane that encodes or decodes it."
    ),
    "nib.bin_log_chunk": Threshold(6, "log2 of entries", "Entries per lane of a degree-binned pull: at most 64."),
    "nib.hot_part": Threshold(
        2,
        "entries per entry of a shared row",
        "If rows that lanes share have fewer of all entries, hot columns are not looked for: the estimate reads these "
        "rows only.",
    ),
    "nib.dot_slots": Threshold(
        4096, "slots, a power of two", "Hash table of the row of A in a dot product: half of it is filled at a time."
    ),
    "nib.reserve": Threshold(
        1.03, "times the expected words", "Room beyond the expectation of a builder, so that reallocation is rare."
    ),
    "nib.reserve_early": Threshold(
        1.1, "times the expected words", "The same if the expectation is based on the first rows."
    ),
    "nib.slice": Threshold(1 << 16, "rows", "Rows whose sizes a builder estimates at a time."),
    "cr2.log_cluster": Threshold(
        16,
        "log2 of vertices",
        "A cluster of a CR2: the most that 16-bit numbers reach; 0: no clusters. A stored layout keeps its own.",
        "as in the slides",
    ),
    "cr2.log_longest": Threshold(
        6,
        "log2 of entries",
        "The longest pieces of a CR2, which a warp takes 32 at a time. A stored layout keeps its own.",
    ),
    "cr2.entries_per_piece": Threshold(
        64,
        "entries per piece",
        "Long rows have pieces of so many: advances and products with multivectors cut them by pieces.",
    ),
    "cgr.longest": Threshold(
        32, "words", "Words that one lane reads, four segments; longer rows have a segment per lane of a warp."
    ),
    "cgr.part_lanes": Threshold(
        8,
        "lanes",
        "Lanes that share a segment of a long row: rows a little too long for one lane have no more segments.",
    ),
    "tiles.pull_loads_per_lane": Threshold(
        3,
        "loads",
        "Loads of a tile row per lane of a pull, so that each has two or three in flight.",
        "H200, tiles of 8: fastest with 2 lanes on a Delaunay mesh (8.7 tiles per tile row), 1 on a grid (5), 4 on a "
        "27-point stencil (13); not measured for split",
    ),
    "tiles.push_items_per_lane": Threshold(2, "tiles or single entries", "Items of a tile row per lane of a push."),
    "tiles.push_least_lanes": Threshold(2, "lanes", "Least GPU lanes per tile row of a push."),
    "tiles.pull_steps": Threshold(3, "times rows.iterations", "Longer tile rows are cut, in a pull of presence."),
    "tiles.pull_steps_values": Threshold(8, "times rows.iterations", "The same for a pull of values."),
    "b2sr.margin": Threshold(1.05, "times the fastest", "Error of predictions."),
    "b2sr.margin_unfused": Threshold(
        1.2,
        "times the fastest",
        "Error of predictions of tile sizes that programs do not use: a pull's epilogue is an additional kernel.",
    ),
    "b2sr.pull_bits_per_lane": Threshold(
        128, "positions of tiles", "Positions of the tiles of a tile row per lane of a pull of values."
    ),
    "b2sr.dot_tiles_per_lane": Threshold(
        2, "tiles", "Tiles of a tile row per lane of a dot product.", "delaunay_n20: 0.21 ms with 4 lanes, 0.30 with 8"
    ),
    "b2sr.cut_entries": Threshold(
        32,
        "entries per row",
        "Tile rows with a larger mean are cut when tiles are built on a GPU: one row may hold half of a graph.",
        "H200, RMAT 20, and 17 million entries of which one row holds half: 16 to 64 within 10 %, 128 is 20 % slower",
    ),
    "b2sr.cut_tiles": Threshold(
        64,
        "tiles",
        "Longer tile rows are cut when tiles are converted to rows on a GPU: one may hold half of a graph.",
        "H200, RMAT 20, and 17 million entries of which one row holds half: 256 is up to 30 % slower, 1024 100 %",
    ),
    "split.least_dense": Threshold(
        0.1,
        "share of entries in dense tiles",
        "With less, a Split is not considered when choosing for time.",
        "62 graphs in three orders: those for which it is chosen have 0.15 to 0.46",
    ),
    "split.most_dense": Threshold(
        0.6,
        "share of entries in dense tiles",
        "With more, all entries might as well be in tiles.",
        "as split.least_dense",
    ),
    "bitmap.small": Threshold(
        1 << 12,
        "positions",
        "With more, a bitmap is not chosen for memory, because rows built for other kernels are kept.",
    ),
    "hyper.floor": Threshold(
        1 << 22,
        "rows or columns",
        "With fewer, the hypersparse format is only built on request: 16 MB of row pointers, and vectors store a bit "
        "per position anyway.",
    ),
    "hyper.share": Threshold(
        16,
        "rows or columns per entry",
        "With fewer, a matrix is not hypersparse: an entry's cost in the lists, in row pointers.",
        "SuiteSparse's hyper_switch",
    ),
    "virtual.merged_lists": Threshold(
        64, "lists of a row", "With more, the columns of a row are sorted instead of merging lists one by one."
    ),
    "virtual.hashes": Threshold(8, "hashes", "Hashes per signature of a row, by which rows are clustered."),
    "virtual.passes": Threshold(
        4, "passes", "Each has other hashes.", "web graph of 15 M links: ten leave 3.83 M entries, four 3.84 M"
    ),
    "virtual.gain": Threshold(200, "entries", "A pass that removes fewer than one in as many entries is the last."),
    "virtual.parallel_rows": Threshold(1 << 12, "rows", "With fewer, one thread computes the signatures."),
    "virtual.parallel_entries": Threshold(1 << 14, "entries", "With fewer, one thread extracts the bicliques."),
    "sample.dense": Threshold(
        1 << 13, "entries of 64 rows", "With more, a CPU searches in each row for a sample instead of scanning all."
    ),
    "sample.parallel_rows": Threshold(1 << 13, "rows", "With fewer, one thread of the CPU samples a matrix."),
    "packing.parallel_numbers": Threshold(
        1 << 16, "numbers", "With fewer, a parallel launch on the CPU does not pay off (estimated)."
    ),
    "values.chunk": Threshold(
        1 << 22, "floats", "Tested at a time for being whole numbers, to bound the temporary memory."
    ),
    "container.workers": Threshold(
        4, "threads", "At most as many compute checksums, in addition to the one that writes or copies."
    ),
    # -- end of formats
    # ----------------------------------------------------------------------------------------------------- operations
    # GraphBLAS operations: operations/.
    "parallel.entries": Threshold(
        1 << 14, "entries", "Below this a parallel launch of a kernel over rows on the CPU costs more than it saves."
    ),
    "dot.ranges_per_thread": Threshold(
        32,
        "ranges",
        "Rows that dot products read differ in length, and summing their lengths takes half of the time of the "
        "products of a mesh.",
        "CPU, triangles of delaunay_n18: 18 ms instead of 29 ms",
    ),
    "cached.full_positions": Threshold(
        1 << 16,
        "positions",
        "Up to this size the bitsets of full vectors are cached, 8 KB each: building one costs more than a kernel.",
    ),
    "cached.empty_rows": Threshold(
        1 << 12, "rows", "Up to this size structures without entries are shared; each takes 16 KB."
    ),
    "cached.mxm_entries": Threshold(
        1 << 12,
        "entries",
        "Up to this number of entries of both operands the last prepared product is cached: planning takes as long as "
        "running.",
        "EPYC, RMAT and meshes, also masked: 1.5 to 2 times as fast with 70 to 360 entries, 1.15 to 1.5 with 1500",
    ),
    "cached.products": Threshold(
        64,
        "products",
        "Prepared products that a matrix caches; vectors with new iso values would add more without limit.",
    ),
    "put.single_entries": Threshold(
        16,
        "entries",
        "Fewer entries are written one by one; for more, writing their words together takes less host time.",
        "EPYC: 1 entry 6 and 25 us, 15 entries 60 and 56 us, 100 entries 416 and 230 us",
    ),
    "extract.searched_columns": Threshold(
        256, "columns per entry", "From here on the columns of entries are searched in the index list."
    ),
    "push.shared_entries": Threshold(
        1 << 14, "entries", "From here on several CPU threads share a push; each thread goes through all rows."
    ),
    "push.shared_row_length": Threshold(
        8,
        "entries per row (tiles per tile row)",
        "Mean from which on CPU threads share a push, because each thread goes through all rows.",
    ),
    "push.words_per_thread": Threshold(
        64, "words", "Least part of the output of a push, or of the tile columns of lookup tables, per CPU thread."
    ),
    "tables.tiles_per_column": Threshold(
        2, "tiles per tile column", "From here on the lookup tables of the CPU's pull by whole tiles are amortized."
    ),
    "tables.bytes": Threshold(
        8 << 20,
        "bytes",
        "Larger lookup tables of the CPU's pull by whole tiles are read from memory.",
        "one EPYC core, plus_second, us without and with tables, FP32 and FP64: delaunay_n14 63, 35; 120, 54; n18 "
        "1153, 696; 1925, 961; stencil27_58 1326, 654; 2280, 1220; road_ny 1237, 637; 1891, 1079; but grid2d_1024, "
        "with 13 and 25 MB of tables, 2168, 2514; 3903, 4804",
    ),
    "multivector.group_entries": Threshold(
        256,
        "entries",
        "The rows that a group of lanes takes in a pull that sums values begin within so many: groups take about as "
        "long, whether rows are short or long.",
        "H200, betweenness of 64 sources, device ms, with 8 rows for each group and with groups of 256 entries: rmat20 "
        "12.6, 11.3; crawl_n18 14.3, 12.5; social_n18 3.5, 3.2",
    ),
    "multivector.long_row": Threshold(
        1 << 10,
        "entries",
        "Each of many searches runs alone if no row is longer. From here on a GPU splits a row in a pull "
        "of a full multivector; segments of rows have so many in a pull that computes only presence.",
    ),
    "multivector.segment": Threshold(
        1 << 8,
        "entries",
        "From here on a GPU splits a row in other products with a multivector, if it sums values in segments of so "
        "many.",
        "H200, 64 searches of crawl_n18, device ms, with 1024 and 256 entries: 4.0, 2.0",
    ),
    "multivector.even_rows": Threshold(
        8,
        "times the mean length",
        "If no row is longer, each of many searches runs alone; and a lane of a product with many columns "
        "takes two pieces of a row: fewer lanes read the "
        "columns of entries. If rows differ more, the lanes of a warp would wait for the longest of more rows. 64 "
        "columns, FP32 with weights, H200, one piece and two, us: stencil27_100 470 and 436, rmat20 1222 and 1566.",
    ),
    "multivector.lanes": Threshold(
        32,
        "lanes",
        "So many share a row in a product with a dense array, even if it has fewer columns: they share its entries.",
        "H200, FP32 with weights, cuSPARSE's time over ours with 1, 2, 4, 8 lanes for each of the columns: rmat20, 16 "
        "columns 2.17, 2.49, 2.75, 2.74; 32 columns 3.14, 3.55, 3.74; 64 columns 1.65, 1.79",
    ),
    "multivector.lanes_even": Threshold(
        4,
        "lanes",
        "The same if rows are even (multivector.even_rows): then more lanes load fewer entries at once.",
        "H200, stencil27_100, as above, with 4, 8, 16 lanes: 2 columns 2.99, 2.56, 1.45; 16 columns 2.96, 2.58, 1.78",
    ),
    "multivector.shares": Threshold(
        8,
        "lanes",
        "At most so many share the entries of a row, each with two at least on average.",
        "H200, rmat20, as above: 2 columns, 4, 8, 16, 32 lanes 1.33, 1.45, 1.34, 1.09",
    ),
    "multivector.run_lines": Threshold(
        1 << 8, "lines", "A thread sums this many lines one after the other in a column reduction of a multivector."
    ),
    "sampling.nodes": Threshold(
        1 << 11, "nodes", "Threads share the nodes of a frontier from here on in the sampling of their edges."
    ),
    "multivector.entries_per_lane": Threshold(
        4, "entries", "Mean entries of a row per GPU lane in a pull that computes only presence."
    ),
    "spgemm.tile_products.words.cpu": Threshold(
        1.0,
        "products per pair of tiles and row of a tile",
        "From here on a product without a mask of two matrices of tiles is computed tile by tile, otherwise by rows, "
        "if only presence matters.",
        "EPYC, one thread, time by tiles over time by rows at products per pair, T = 8: 2, 1.9; 8, 0.73; 32, 0.22; "
        "512, 0.08; T = 32: 8.5, 1.5; 34, 0.73; 135, 0.57 (random tiles); band of 33: T = 8, 349, 0.10; T = 32, 3875, "
        "0.05",
    ),
    "spgemm.tile_products.count.cpu": Threshold(
        10.0,
        "products per pair of tiles and row of a tile",
        "The same for counts.",
        "EPYC, one thread, T = 8: 32, 1.3; 128, 0.66; 512, 0.53 (random tiles); 72, 0.66; 349, 0.38 (bands); T = 32: "
        "135, 2.5 (random tiles); 288, 1.2; 3875, 0.41 (bands)",
    ),
    "spgemm.tile_products.words.gpu": Threshold(
        2.5,
        "products per pair of tiles and row of a tile",
        "The same on a GPU, for presence.",
        "H200 (docs/evaluations.md), A A of 49 graphs and 32 random matrices and bands, T = 4 to 32, mean loss against "
        "the better way: at 1, 6 %; 2.5, 3 %; 11, 4 %; never by tiles, 7 %. web_n16 0.57 of the time by rows",
    ),
    "spgemm.tile_products.count.gpu": Threshold(
        12.0,
        "products per pair of tiles and row of a tile",
        "The same on a GPU, for counts.",
        "As for presence: at 3, 6 %; 6, 4 %; 12, 2 %; never, 3 %. Random tiles of 32 take 1.5 to 3 times as long at "
        "4 to 16; mycielskian12 0.5 to 0.6 of the time by rows at 6 and 15",
    ),
    "spgemm.uncounted_positions": Threshold(
        1 << 13, "positions", "Products of a result with fewer positions are not counted first."
    ),
    "spgemm.room": Threshold(
        1 << 22,
        "products or positions",
        "Up to this number room is allocated at once, and one pass suffices: 50 MB, most of which is not written.",
        "EPYC, A * A on RMAT 11, meshes and a grid: 1.2 to 1.7 times as fast as counting first",
    ),
    "spgemm.alike_products": Threshold(
        1 << 20,
        "products",
        "About a millisecond of work: for less, no separate kernel is compiled that searches for equal rows.",
    ),
    "spgemm.alike_share": Threshold(
        0.5,
        "share of all positions",
        "Fuller operands have rows with equal columns: in all-pairs distances most are full.",
    ),
    "spgemm.columns_per_product": Threshold(
        4, "columns", "Each range of rows of the CPU clears a bit per column; this many take the time of one product."
    ),
    "spgemm.products_per_entry": Threshold(
        16,
        "products",
        "Each range of rows of the CPU compares the rows of B, which takes this many products per entry.",
    ),
    "spgemm.table_load": Threshold(
        0.75, "share of slots", "Rows with more products, or entries, than this share of a hash table use a larger one."
    ),
    "sorted_product.products": Threshold(
        1 << 22, "products", "Products that are expanded at a time, 40 bytes each, unless a row has more."
    ),
    "chunks.least_entries": Threshold(
        1 << 12, "entries", "A build from chunks sorts at least this many entries at once."
    ),
    "chunks.most_entries.cpu": Threshold(1 << 20, "entries", "A build from chunks sorts at most this many at once."),
    "chunks.most_entries.gpu": Threshold(1 << 24, "entries", "A build from chunks sorts at most this many at once."),
    "chunks.steps": Threshold(
        8,
        "steps",
        "Number of steps that sort the entries of a band: the scratch memory of a step is small next to the result.",
    ),
    "chunks.slices": Threshold(
        4,
        "chunks per step",
        "Entries in memory that cannot be sorted at once are read in chunks of a fraction of a step.",
    ),
    "chunks.bands": Threshold(
        8, "bands", "Number of bands of rows in which formats smaller than CSR are built; each reads all chunks again."
    ),
    "chunks.most_bands": Threshold(
        64,
        "bands",
        "Number of bands if rows ascend from chunk to chunk, which takes a single pass, or if memory is short.",
    ),
    # -- end of operations
    # ----------------------------------------------------------------------------------------------------------- core
    # Statements and objects: core/.
    "index.short_list": Threshold(64, "indices", "Python finds the minimum of a short list faster than NumPy."),
    "build.single_writes": Threshold(
        512,
        "entries",
        "A bitmap takes a few entries as single writes instead of a merge: the largest width of a bitmap.",
    ),
    "operators.cache": Threshold(
        1 << 12,
        "typed operators",
        "Operators that are created on the fly would grow the cache without limit.",
    ),
    # -- end of core
    # ----------------------------------------------------------------------------------------------------------- loop
    # Captured loops: loop/.
    "loop.tier_up_seconds": Threshold(
        5e-3,
        "seconds",
        "Rounds by statements after which a table of kernels is built on the CPU, which takes about as long.",
    ),
    "loop.compile_seconds": Threshold(
        0.3, "seconds per kernel", "Added to the time before a table is tried, for each kernel that must be compiled."
    ),
    "loop.parallel_entries": Threshold(
        1 << 13, "entries", "Frontiers from which on threads of the CPU share kernels over listed words."
    ),
    "loop.kernel_names": Threshold(
        120,
        "vectors and scalars",
        "A CUDA kernel has 4096 bytes of arguments; a vector needs up to 24 of them, a scalar 16.",
    ),
    "loop.kernel_sums": Threshold(
        8, "sums", "A block has 48 KB of shared memory, of which a sum of an element-wise kernel needs up to 4.3."
    ),
    "loop.kernel_statements": Threshold(
        200, "statements", "The text of an element-wise kernel compiles in about a second."
    ),
    "loop.sparse_candidates": Threshold(
        8, "vectors", "The search for the sparse vectors of a kernel tries all subsets of so many."
    ),
    "loop.relaxation_scalars": Threshold(
        2, "scalars", "All orders of the scalars of a body are tried to recognize a relaxation."
    ),
    "loop.csr_peak_bytes": Threshold(
        64,
        "bytes per entry",
        "Peak of building CSR from a graph with virtual nodes, including the result; loops use CSR if that fits.",
        "H200, a search of 15 M links: 0.39 ms on CSR, 3.8 ms on the virtual-node graph",
    ),
    "loop.rounds": Threshold(
        9,
        "rounds",
        "Rounds per run of a body whose kernels can be skipped: a skipped kernel costs less than another run. A "
        "multiple of the three buffers of a frontier.",
        "H200: a skipped kernel 2.1 us with 528 blocks, 1.2 us with 132; another run of the body 4.5 us, two kernels. "
        "us with 3, 6, 9, 12: search of RMAT 17 127, 120, 123, 128, of a grid 2644, 2666, 2649, 2627; independent "
        "sets of RMAT 17 184, 184, 181, 213",
    ),
    "loop.rounds_pulled": Threshold(
        4,
        "rounds",
        "The same for products by rows, which cannot be skipped, but take little longer than another run of the body.",
        "H200, us with 2, 4, 10 rounds, in one run: 20 rounds of PageRank on Mycielski graph 14 735, 687, 682, until a "
        "tolerance 716, 674, 665; H100, components of a grid of 1024 x 1024: some 15 % slower with 3",
    ),
    "loop.pulled_entries": Threshold(
        1 << 22, "entries", "Up to so many entries a product by rows takes little longer than another run of the body."
    ),
    "loop.blocks": Threshold(
        4,
        "blocks per multiprocessor",
        "Maximum of a launch: blocks iterate over more work, and an element-wise kernel has a partial sum per block.",
    ),
    "loop.blocks_without_sums": Threshold(
        2,
        "times loop.blocks",
        "Reads of an element-wise kernel depend on each other: as many threads as fit hide their latency. Sums have a "
        "partial sum per block.",
    ),
    "loop.segment_entries": Threshold(
        512, "entries", "Longer rows are cut into segments of this length, each traversed by a group of lanes."
    ),
    "loop.lanes_skewed": Threshold(8, "lanes", "Lanes for a row or tile row of an advance if some rows are long."),
    "loop.lane_entries": Threshold(
        3,
        "entries or tiles",
        "An advance has lanes for an average row at so many each: if rows are similar, most should end after one trip "
        "to memory, because a round on a mesh lasts as long as its longest chain of loads.",
        "H200, us per level with 4, 8, 16, 32 lanes: Delaunay mesh, 8.7 tiles per tile row 8.8, 7.3, 6.6, 6.5; grid, "
        "5 tiles -, 5.4, 5.3, 5.1; RMAT 20, ms in total with 8 and 32: 0.25, 0.28",
    ),
    "loop.words_size": Threshold(
        1 << 22,
        "positions",
        "From here on an element-wise kernel that computes also goes by words: it writes a value to memory for the "
        "next statement to read. For smaller sizes the number of dependent loads determines the latency.",
    ),
    "loop.wide_size": Threshold(
        1 << 23,
        "positions",
        "From here on every warp of a GPU has several half words. If sparse vectors show whether there is any work, a "
        "lane first checks some of theirs, and values pass from statement to statement in registers.",
        "H100, us of the element-wise kernels per round of betweenness from 64 sources, forward and back: grid of "
        "2048 x 2048 105 and 370 without, 79 and 256 with; mesh with 27 neighbours, where many half words have work, "
        "298 and 341, 316 and 288",
    ),
    "loop.wide_half_words": Threshold(4, "half words", "That a lane checks first, from loop.wide_size on."),
    "loop.wide_positions": Threshold(
        8,
        "positions",
        "Up to so many of a half word are processed by their own lane, from loop.wide_size on. More spill registers.",
    ),
    "loop.load_registers": Threshold(
        8,
        "registers",
        "For the positions that a thread of an element-wise kernel loads at once; it has 64.",
        "H200, one position at a time: spanning forests 1.26 times as long on a Mycielski graph, RMAT 17 and a grid",
    ),
    "loop.load_statements": Threshold(
        48, "statements", "Times positions that a thread loads at once: a longer text is not unrolled."
    ),
    "loop.result_bytes": Threshold(
        1 << 24, "bytes", "Results up to this size get memory for the next run while the device computes."
    ),
    "loop.polls": Threshold(100, "reads", "Of the word that the device writes, before the event is checked: some us."),
    "loop.spin_seconds": Threshold(6e-3, "seconds", "A graph that takes longer is waited for with sleeps."),
    "loop.sleep_seconds": Threshold(5e-5, "seconds", "Between two checks of a graph that takes long."),
    "cluster.units": Threshold(
        1 << 13,
        "rows or tile rows",
        "A frontier with more leaves the cluster, and returns with half of that: from there on a round on the grid is "
        "as fast.",
    ),
    "cluster.entries": Threshold(
        24576,
        "entries",
        "The same for the matrix entries in these rows.",
        "H200, ms per search of 400 levels on a triangle mesh: 3.45 without a cluster, 3.30, 3.52, 3.46 with 16384, "
        "32768, 65536; a grid of 3300 levels needs 20 000: 13.6, and 17.2 without",
    ),
    "cluster.value_entries": Threshold(
        1 << 12,
        "entries",
        "The same for tiles with values, whose entries one lane combines one by one (unless any of them will do).",
    ),
    "cluster.positions": Threshold(
        1 << 14,
        "positions",
        "The same for the worklist of a body with element-wise kernels.",
        "H200, ms of shortest paths with 16384, 24576, 32768: triangle mesh of 400 levels 11.8, 12.2, 12.5; grid of "
        "3300 levels 68.4, 67.9, 68.0",
    ),
    "cluster.listed_entries": Threshold(
        1 << 16, "entries", "The same for the matrix entries of the positions on such a worklist."
    ),
    "cluster.row_entries": Threshold(
        4,
        "entries per row",
        "Up to here a search that a cluster can run with its visited bits in shared memory goes along plain rows, even "
        "if the matrix is stored in tiles.",
        "H200, ms of levels and parents, by tiles and by rows: grid2d_2048 (4 entries per row) 8.0, 8.8 and 7.1, 7.1; "
        "delaunay_n20 (6) 1.57, 1.90 and 2.11, 2.05; stencil27_100 (26) 0.62, 0.74 and 0.95, 0.92",
    ),
    "cluster.lanes_short": Threshold(
        4, "lanes", "For a row of a cluster if the average row has at most so many items."
    ),
    "cluster.lanes": Threshold(
        8,
        "lanes",
        "For longer rows: a cluster has fewer threads than the grid. If that spills nothing (WORDS, and any of equal "
        "products) it then has twice the threads, with 64 registers.",
        "H200, a triangle mesh by tiles, us per round: 8.1 with twice the threads, 10 without",
    ),
    "columns.threads": Threshold(
        1024,
        "threads per block",
        "Of a launch that runs each column of a multivector alone.",
        "H200, 64 searches, ms with 1024 and 512: stencil27_100 8.4, 13; grid2d_2048 33, 36",
    ),
    "columns.blocks": Threshold(
        8,
        "blocks",
        "At most so many share a column, if there are multiprocessors for all.",
        "H200, ms; 64 searches, 1 and 2: grid2d_2048 36, 33; delaunay_n20 4.8, 4.5; stencil27_100 10, 8.3; road 5.7, "
        "6.4; betweenness from 4 sources, 2 and 8: 134, 84; 16.9, 10.8; 23.1, 8.9; 25, 25",
    ),
    "columns.shared_bytes": Threshold(
        224 << 10,
        "bytes",
        "Blocks copy the bits of a column to their shared memory if these are no more.",
        "H200, 64 searches of delaunay_n20, ms without and with: 6.1, 4.8 (one block a column); others about the same",
    ),
    "columns.entries_per_lane": Threshold(
        0.7,
        "entries",
        "Mean entries of a row per lane in such a launch; four or eight lanes share a row.",
        "H200, 64 searches, ms: delaunay_n20 with 4 and 8 lanes 4.8, 4.5; stencil27_100 with 8 and 32 7.8, 8.6",
    ),
    "columns.entries_per_sum_lane": Threshold(4, "entries", "The same for the lanes that share a sum along a row."),
    "grid.threads": Threshold(
        1024,
        "threads per block",
        "Of a launch that runs all rounds of a loop: one block per multiprocessor has to meet.",
    ),
    "grid.threads_small": Threshold(
        256, "threads per block", "The same for a matrix with fewer entries than the next row says."
    ),
    "grid.small_entries": Threshold(
        1 << 19,
        "entries",
        "Matrices with fewer have smaller blocks, which meet sooner.",
        "H200, us per search with 256, 512, 1024 threads: 176 k entries 59, 62, 67; 373 k 57, 61, 64; 1 M 89, 90, 88; "
        "6 M 323, 236, 215",
    ),
    "grid.chunk": Threshold(
        32, "entries", "Of a row at most, on its lists: warps with as many chunks have about as much work."
    ),
    "grid.pull_entries": Threshold(
        3 << 17,
        "entries",
        "A pull in such a launch takes as long as a push of so many, however few rows are left, but see the next row.",
        "H200, us per search of 6 M entries and 23 rounds with 0, 131072, 393216: 265, 251, 237",
    ),
    "grid.pull_row_entries": Threshold(
        5, "entries per row", "The same for each row of the matrix: a pull of few rows takes less time."
    ),
    "grid.staged": Threshold(2048, "chunks", "That a block collects before it adds them to the list."),
    "relaxation.vertices": Threshold(
        64,
        "vertices",
        "Smaller graphs were not measured: they run by rounds.",
        "H200, ms by rounds and in one launch: delaunay_n6 0.25, 0.16; delaunay_n10 0.46, 0.25; delaunay_n14 0.97, "
        "0.35",
    ),
    "relaxation.threads": Threshold(
        1024,
        "threads per block",
        "Of a relaxation in one launch.",
        "H200, ms with 1024 and 512: stencil27_100 1.92, 2.46; delaunay_n20 3.27, 3.43; grid2d_2048 12.1, 11.6",
    ),
    "relaxation.blocks": Threshold(1, "blocks per multiprocessor", "That run at a time in a relaxation in one launch."),
    "relaxation.queue_bytes": Threshold(
        40 << 10,
        "bytes",
        "Of vertices that a block improves, in shared memory: those that it relaxes itself, those beyond the limit.",
    ),
    "relaxation.listed": Threshold(
        0.5,
        "entries per vertex",
        "Room of each of four lists; if one is full, all vertices are visited.",
        "H200, stencil27_100, ms with 1/4 and 1: 1.92, 1.92",
    ),
    "relaxation.edges": Threshold(
        2,
        "edges per lane",
        "Whose loads and atomics are in flight at a time.",
        "H200, ms with 1, 2, 4: stencil27_100 2.25, 1.92, 2.03; delaunay_n20 2.99, 2.94, 3.65",
    ),
    "relaxation.turns": Threshold(
        8,
        "turns",
        "In which a block relaxes what it has improved itself, between two meetings of all blocks.",
        "H200, ms with 8 and 16 and windows of 20 and 40: stencil27_100 1.7, 2.5; delaunay_n20 2.2, 2.4; USA-road-d.NW "
        "4.1, 3.5; grid2d_2048 11.7, 10.4",
    ),
    "relaxation.window": Threshold(
        20,
        "mean weights per mean degree",
        "What the limit of the distances within which edges are relaxed moves on by when all blocks meet. Edges of "
        "shortest paths have about 2 in meshes, grids and roads, so the limit keeps ahead of `relaxation.turns` edges.",
        "H200, ms with 12, 16, 20, 24: stencil27_100 1.5, 1.5, 1.7, 1.8; delaunay_n20 2.7, 2.3, 2.2, 2.5; "
        "USA-road-d.NW 6.5, 5.0, 4.1, 4.6; grid2d_2048 16.0, 12.3, 11.7, 11.8",
    ),
    "relaxation.near": Threshold(
        4096,
        "vertices",
        "With so many active ones within the limit it stays where it is.",
        "H200, relaxations per edge with 4096 and 16384 and a window of 24: grid2d_2048 3.2, 12.4; USA-road-d.NW 3.9, "
        "10.4; delaunay_n20 2.3, 5.9; times within 15 %",
    ),
    "selection.threads": Threshold(512, "threads per block", "Of a selection by priority in one launch."),
    "selection.blocks": Threshold(3, "blocks per multiprocessor", "That run at a time in a selection by priority."),
    "selection.degree": Threshold(
        512,
        "entries per row",
        "In graphs with more, chains of long rows that wait for each other may take longer than rounds.",
        "H200, independent sets, ms by rounds and in one launch: 301 entries (mycielskian14) 0.125, 0.067; 72 "
        "(JohnsHopkins55) 0.173, 0.065",
    ),
    "selection.short_row": Threshold(
        32,
        "entries",
        "One thread reads a row of so many; the first ones of longer rows, a warp reads the others together.",
        "H200, independent sets, ms with 16 and 32: rmat22 0.72, 0.66; rmat20 0.26, 0.24; meshes the same",
    ),
    # -- end of loop
    # ----------------------------------------------------------------------------------------------------- algorithms
    # Algorithms, graphs and the NetworkX backend: algorithms/, graph/, nx/.
    "algorithms.kept_loops": Threshold(
        8,
        "loops per algorithm and matrix",
        "On a GPU, capturing a loop takes milliseconds. A kept loop holds the memory of its vectors.",
    ),
    "all_pairs.block": Threshold(
        128, "vertices", "A product of two panels of this many vertices outweighs its launch overhead."
    ),
    "coloring.skew": Threshold(
        8,
        "most earlier neighbours per mean number",
        "If a vertex has more, the first vertices are colored in parts, which lowers the reads per edge: from 32.7 to "
        "7.5 for rmat20, from 20.1 to 5.1 for rmat16.",
        "H200, rmat20: 13.0 ms without parts, 7.6 with",
    ),
    "coloring.share_1": Threshold(
        1 / 64,
        "share of the edges to earlier neighbours",
        "The vertices that this share leads to are the first part of a skewed graph.",
        "H200, rmat20: 7.6 ms with three shares, 7.8 with two fewer",
    ),
    "coloring.share_2": Threshold(
        1 / 16, "share of the edges to earlier neighbours", "The end of the second part of a skewed graph."
    ),
    "coloring.share_3": Threshold(
        1 / 4, "share of the edges to earlier neighbours", "The end of the third part of a skewed graph."
    ),
    "components.first_entries": Threshold(
        2, "entries per row", "That join trees on a CPU before the largest tree, whose rows are skipped, is looked for."
    ),
    "components.sample": Threshold(
        1024, "vertices", "The most frequent root of so many is taken for that of the largest tree."
    ),
    "components.threads": Threshold(
        8,
        "threads",
        "With at most so many, one thread that joins trees is faster than rounds that all of them share, which take 3 "
        "times its processor time on RMAT 18, and 6 to 13 times on meshes and grids of that size.",
    ),
    "components.skew": Threshold(
        64,
        "highest degree per mean degree",
        "With more, two search steps from the vertex of highest degree pay: most vertices are then labelled.",
        "H200: RMAT 20 (ratio 2000) 0.33 ms, 0.59 without the steps; Mycielski's graph 14 (ratio 20) 0.20 ms, 0.15 "
        "without",
    ),
    "flow.push_rounds": Threshold(
        16, "rounds", "Push rounds between two decisions whether to search again: a decision is a loop condition."
    ),
    "flow.search_levels": Threshold(
        2,
        "levels per push round",
        "One push round per so many levels of the last search: a level takes a tenth to a half of a push round.",
    ),
    "flow.siblings": Threshold(
        16,
        "arcs or groups per group",
        "Prefix sums over w siblings read (w - 1) / 2 entries per node; fewer siblings make the tree deeper.",
    ),
    "graph.compared_entries": Threshold(
        1 << 18, "entries", "NumPy compares a matrix with its transpose up to here: kernels may have to be compiled."
    ),
    "graph.compared_names": Threshold(
        20_000, "names", "An unknown vertex name is compared with all names, for a suggestion, up to here."
    ),
    "mis.skew": Threshold(
        8,
        "highest degree per mean degree",
        "With more, testing one neighbour of each vertex rules out most vertices.",
    ),
    "msf.light_edges": Threshold(
        2,
        "edges per vertex",
        "The lightest edges are contracted first, so that the others are read once. Graphs with fewer than twice as "
        "many edges have no light edges.",
    ),
    "node2vec.steps": Threshold(
        1 << 11,
        "draws",
        "If few walks are pending, several steps of each are drawn at once: any round costs about fifty calls.",
    ),
    "nx.hash_slots": Threshold(
        8, "slots per node", "Hash table of node labels: about one label in twenty collides and is searched for."
    ),
    "nx.nodes_per_request": Threshold(
        16,
        "nodes per requested node",
        "With more, NetworkX is faster than a conversion; from the square of this on, than a converted graph too.",
    ),
    "nx.searches": Threshold(
        3, "searches of one graph", "From here on the conversion of a graph and searches here are faster than NetworkX."
    ),
    "nx.sorted_entries": Threshold(
        1 << 13, "entries", "NumPy sorts keys below this: importing SciPy for a counting sort takes about 0.13 s."
    ),
    "spring.pairs": Threshold(
        1 << 22, "pairs of vertices", "The forces between so many pairs are computed at once, which bounds the memory."
    ),
    "sssp.delta": Threshold(
        32,
        "mean weights per mean degree",
        "Width of the distance window: delta = this * mean weight / mean degree. A wider window has fewer rounds and "
        "more repeated work.",
        "H200, ms with 64, 32, 16: stencil27_100 7.9, 5.9, 5.7; rmat20 1.48, 1.52, 1.61; mycielskian14 .39, .41, .52; "
        "delaunay_n20 and grid2d_2048 the same within 2 %. CPU, ms with 64, 32: stencil27_20 6.9, 5.9; delaunay_n14 "
        "13.7, 11.5; rmat14 3.2, 3.4; grid2d_256 74, 76",
    ),
    # Louvain and Leiden on a GPU: operations/communities.py.
    "louvain.threads": Threshold(256, "threads", "Threads of a block."),
    "louvain.blocks": Threshold(
        4,
        "blocks",
        "Blocks that run on a multiprocessor at the same time: one waits for memory while others sum.",
        "H200 with other work on it, ms of Leiden with 4 blocks of 256 threads, 2 of 512, 1 of 1024: rmat20 125, 122, "
        "381; rmat22 374, 385, 807; grid2d_2048 35, 51, 66",
    ),
    "louvain.warp_row": Threshold(
        256, "entries", "Longest row that a warp sums by key in shared memory; at least 32. 8 warps share 32 KB."
    ),
    "louvain.block_row": Threshold(
        2048, "entries", "Longest row that a block sums by key in shared memory; longer ones are read in such parts."
    ),
    "louvain.sorted_entries": Threshold(
        1 << 20, "entries", "A contraction of more entries sorts the rows first, so that its tables are in cache."
    ),
    # Peeling: operations/peeling.py.
    "peeling.merged_row": Threshold(
        64,
        "entries",
        "A thread counts the triangles of an edge, if no row has more, each edge stored once. On an H200 the 4-truss "
        "of a crawl takes 1.74 instead of 2.5 ms, of a stencil 2.5 instead of 4.8.",
    ),
    "peeling.listed": Threshold(
        3,
        "triangles per edge",
        "Trusses on a GPU list the triangles of each edge, if it is in no more on average and in at most 32, and rows "
        "have few entries. On an H200 the 4-truss of a mesh of 2^20 points takes 2.75 instead of 10.4 ms.",
    ),
    "peeling.own_rounds": Threshold(
        64,
        "rounds",
        "A warp goes on with the edges it finds for so many before the blocks of the grid meet. Of that 4-truss the "
        "rounds take 1.57 ms, with 16 1.73, with 128 1.62.",
    ),
    "peeling.short_row": Threshold(
        64, "entries", "A warp counts the triangles of rows with at most so many entries, a block those of others."
    ),
    "peeling.row_table": Threshold(
        2048, "entries", "So many columns of a row are in shared memory at a time, with their counts: 16 KB."
    ),
    "peeling.few_entries": Threshold(
        10,
        "entries per row",
        "With at most so many on average, 8 lanes share an item, else 32; trusses list triangles.",
    ),
    "peeling.segment.core": Threshold(
        128,
        "entries",
        "Rows of more are cut into elements of a frontier, so that no warp has many more than others. Core numbers of "
        "RMAT 20 take a tenth less on an H200 than with 256.",
    ),
    "peeling.segment.truss": Threshold(
        1024, "entries", "The same for rows whose entries are each searched for in another row."
    ),
    "peeling.block.core": Threshold(
        512,
        "threads",
        "Threads of a block, one per multiprocessor, that peels vertices on a GPU. Core numbers of RMAT 20 take "
        "10.7 ms on an H200, with 1024 threads 12.2.",
    ),
    "peeling.block.truss": Threshold(
        1024, "threads", "The same for edges. Truss numbers of a stencil take 23 ms, with 512 threads 30."
    ),
    "peeling.small_round": Threshold(
        1,
        "elements per group of lanes",
        "A block runs rounds of at most so many alone, without a barrier of the grid: of edges, and of vertices with "
        "few entries. Core numbers of RMAT 20 take 6.2 ms on an H200 without such rounds, with them 8.5.",
    ),
    "peeling.small_scan": Threshold(
        4, "items per thread", "A block looks alone through at most so many for those of the next level."
    ),
    "peeling.interrupt": Threshold(
        1 << 24, "items", "The CPU removes or reads so many in one call: some tenths of a second, then Ctrl-C works."
    ),
    "strong.interrupt": Threshold(
        1 << 25,
        "entries",
        "A depth-first search reads so many in one call: some tenths of a second, then Ctrl-C works.",
    ),
    "strong.block": Threshold(1024, "threads", "Threads of a block, one per multiprocessor, in rounds on a GPU."),
    "strong.queue": Threshold(
        2048,
        "items",
        "Items that a block finds and processes itself, in shared memory, before the grid's next barrier.",
    ),
    "strong.turns": Threshold(16, "turns", "Repetitions of that between two barriers."),
    "strong.sparse": Threshold(
        4,
        "entries per row",
        "On a GPU, graphs with at most so many are contracted before priorities spread. On an H200 a directed grid of "
        "2048 x 2048 takes 6 ms instead of 104, a mesh of 2^20 points 4.8 instead of 17; a stencil with 13 per row 13 "
        "instead of 4.9.",
    ),
    "strong.hub": Threshold(
        64,
        "entries",
        "They are not contracted if a row or column has more: priorities spread along the edges of a hub by one warp. "
        "Two graphs of 2^20 vertices with hubs take 2.2 and 1.3 ms on an H200, with contraction 6 and 13.",
    ),
    "strong.contractions": Threshold(60, "rounds", "Rounds of contraction at most."),
    "strong.kept": Threshold(
        7,
        "eighths of the edges",
        "Contraction ends when two rounds leave more than these. With 6 that grid takes 60 ms.",
    ),
    "strong.threads": Threshold(
        16,
        "threads",
        "With at most so many, one depth-first search is faster than rounds that all of them share.",
    ),
    "supports.few_entries": Threshold(
        8, "entries per row", "With at most so many on average a GPU counts all again after a selection."
    ),
    "supports.removed_share": Threshold(
        0.1, "of the entries", "A masked product of a matrix that has lost at most so many lowers its last counts."
    ),
    "triangles.skew": Threshold(
        16,
        "highest degree per mean degree",
        "With more, the edges lead from lower to higher degree. Meshes, grids and roads have 2 to 4, where that order "
        "doubles the time; RMAT 14 and 16 have 140 to 350, where it saves 10 to 25 %.",
        "both libraries: grids, roads, RMAT 14 and 16",
    ),
    "walks.decoding": Threshold(
        4, "entries copied per entry decoded", "Copying costs so many times as much if rows must be decoded."
    ),
    "walks.edges": Threshold(
        1 << 17,
        "edges per step",
        "On a CPU, copying all edges takes longer than extracting rows in each step if there are more.",
    ),
    # -- end of algorithms
    # ------------------------------------------------------------------------------------------------------------- io
    # Reading and writing files, vertex orders, plots, calibration: io/, reorder.py, plots.py, calibrate/, cli/.
    "file.block": Threshold(
        2**24, "bytes", "A file that fits in memory is parsed in blocks of whole lines of about this size."
    ),
    "file.chunked_block": Threshold(2**22, "bytes", "4 MiB of text take about 100 MB while its numbers are parsed."),
    "file.packed_ratio": Threshold(
        4,
        "bytes of text per byte of a compressed file",
        "The assumed compression ratio, for the estimate of the memory to read a file at once.",
    ),
    "file.early_entries": Threshold(
        2**18, "entries", "Duplicates among the first entries are refused before the Matrix is built."
    ),
    "progress.delay": Threshold(
        1.0, "seconds", "A progress line appears only if reading a file or running a command takes longer."
    ),
    "progress.file_interval": Threshold(0.1, "seconds", "The time between two updates of the progress line of a file."),
    "progress.command_interval": Threshold(
        0.2, "seconds", "The time between two updates of the progress line of a command."
    ),
    "edgelist.memory": Threshold(
        6,
        "bytes of memory per byte of text",
        "An edge list that is read at once takes so much memory: 24 bytes for the shortest line.",
    ),
    "edgelist.early_lines": Threshold(
        2**11,
        "lines",
        "The first lines are searched for duplicates before numbers are parsed and kernels for names are compiled.",
    ),
    "edgelist.line_bytes": Threshold(80, "bytes", "The assumed length of a line, to find the text of the first lines."),
    "edgelist.written_lines": Threshold(2**16, "lines", "So many lines are formatted as text and written at once."),
    "labels.kernel_bytes": Threshold(
        2**17,
        "bytes of text",
        "Below this, loading the kernels that number names costs more than they save; a dictionary numbers the names.",
    ),
    "labels.launch_words": Threshold(
        2**17,
        "words",
        "So many words are numbered per kernel launch, so that the hash table grows with the number of names.",
    ),
    "labels.parallel_lines": Threshold(
        2**14, "lines", "From so many lines on, threads share the work of finding the words."
    ),
    "labels.slots": Threshold(
        2, "slots per name", "The hash table of names is at most half full, even if all words of a launch are new."
    ),
    "labels.prefetch": Threshold(16, "words", "The slot of a word is prefetched so many words ahead."),
    "webgraph.block": Threshold(
        2**22, "bytes", "The compressed rows are read in blocks of this size; a longer row takes a larger one."
    ),
    "webgraph.chunk_rows": Threshold(2**16, "rows", "The largest number of rows that are decoded at once."),
    "webgraph.chunk_entries": Threshold(
        2**20, "entries", "The largest number of entries that are decoded at once; a single longer row may have more."
    ),
    "community.levels": Threshold(
        8,
        "rounds of pairing",
        "Patches of up to 256 vertices, which reverse Cuthill-McKee orders.",
        "entries per 8 x 8 tile on shuffled graphs for 4, 6, 8 rounds: Delaunay mesh 5.0, 5.4, 5.4; road network "
        "3.4, 3.9, 3.9",
    ),
    "community.hub_degree": Threshold(
        8,
        "times the mean degree",
        "A vertex of a higher degree is a hub and belongs to no community. Meshes and roads have no hubs. This "
        "also skips the longest rows.",
        "entries per 8 x 8 tile for 4, 8, no hubs: e-mail network 2.4, 2.4, 2.3; friendship network 9.5, 10.4, 10.0",
    ),
    "community.matchings": Threshold(
        4, "rounds of matching", "Vertices that are unmatched after these rounds stay single, or are leaves of a star."
    ),
    "community.stop_share": Threshold(
        20, "vertices", "Pairing ends after a round that matches fewer than one in so many vertices."
    ),
    "llp.rounds": Threshold(
        20, "rounds", "The most rounds of label propagation per layer, in each of which half of the vertices choose."
    ),
    "llp.stop_share": Threshold(
        100, "vertices", "A layer ends if fewer than one in so many vertices changed its label in two rounds."
    ),
    "gorder.window": Threshold(
        5, "vertices", "Gorder maximizes the scores with so many vertices before the next one, as in the paper."
    ),
    "plots.small_vertices": Threshold(
        300, "vertices", "Up to this size the layout of a graph uses the distances of all pairs of vertices."
    ),
    "plots.far": Threshold(
        1.0,
        "hops per log2 of vertices",
        "If the median distance to the pivots is longer, as on roads, meshes and trees, the layout is by distances, "
        "otherwise by forces.",
    ),
    "plots.components": Threshold(
        200, "components", "So many of the largest components have a layout of their own; the rest are circles."
    ),
    "plots.node_link_vertices": Threshold(
        1500, "vertices", "Up to this size a graph is drawn with its vertices; a larger one as a picture of densities."
    ),
    "plots.node_link_edges": Threshold(
        6000, "edges", "Up to this number a graph is drawn with its edges; more give a picture of densities."
    ),
    "plots.sampled_edges": Threshold(
        400_000, "edges", "A picture of densities draws a sample of so many edges, chosen by a hash."
    ),
    "plots.vector_lines": Threshold(
        5000, "edges", "Pictures with more lines contain them as pixels, also in .svg and .pdf."
    ),
    "calibrate.scale.cpu": Threshold(16, "log2 of vertices", "The size of the sample matrices."),
    "calibrate.scale.gpu": Threshold(20, "log2 of vertices", "The size of the sample matrices."),
    "calibrate.format_bytes": Threshold(
        3, "times the bytes of CSR", "The planner never chooses a larger format, so it is not measured."
    ),
    "calibrate.large_weight": Threshold(
        0.3,
        "weight of an error",
        "The weight of the errors of a format with more bytes than CSR, which is not chosen for its time.",
    ),
    "calibrate.copied_bytes.cpu": Threshold(
        2**26, "bytes", "The array that is copied to measure the bandwidth is larger than the caches."
    ),
    "calibrate.copied_bytes.gpu": Threshold(
        2**29, "bytes", "The array that is copied to measure the bandwidth is larger than the caches."
    ),
    "calibrate.fit_rounds": Threshold(
        20, "rounds", "The mean of two times that differ by a factor of 100 has then converged to a thousandth."
    ),
    "calibrate.warm_searches": Threshold(
        8,
        "searches",
        "The first searches of a matrix run round by round; later ones use compiled kernel tables, and are timed.",
    ),
    "calibrate.shared_error": Threshold(
        1.5, "factor", "The largest error of the prediction for CSR that the fit of all other formats shares."
    ),
    "calibrate.vector_density": Threshold(
        0.3, "share of the positions", "The multiplied Boolean vector has entries at this share of its positions."
    ),
    "calibrate.samples.search": Threshold(2, "samples", "The number of timed searches."),
    "calibrate.samples.product": Threshold(3, "samples", "The number of timed products."),
    "compare.runs": Threshold(3, "runs", "The reported time is the median of so many runs after a warm-up."),
    "compare.seconds": Threshold(10.0, "seconds", "No further run of a program starts after this time in total."),
    # -- end of io
    # ---------------------------------------------------------------------------------------------------- distributed
    # Several ranks: distributed/.
    "ranks.rate": Threshold(
        75e9, "entries per second", "What a GPU reads of a graph whose vectors exceed its cache.", "H200, kron25 to 27"
    ),
    "ranks.round": Threshold(6e-6, "seconds", "A round of a captured loop with few entries.", "H200"),
    "ranks.call": Threshold(
        3e-4,
        "seconds",
        "What a round of two ranks takes longer than half of one rank's: the calls of NCCL are a tenth of it, the rest "
        "is work that is not divided, such as listing all bits, and the wait for the other rank.",
        "2 H200, searches of kron25 to kron27: 3.3, 4.3 and 8.6 ms",
    ),
    "ranks.call_rank": Threshold(
        3e-5,
        "seconds per rank beyond two",
        "The same for each further rank: a gather of 4 MB from each takes 34 microseconds on two ranks and 63 on four.",
        "4 H200, NCCL without multicast",
    ),
    "ranks.bandwidth": Threshold(
        3e11, "bytes per second", "What a rank receives by NCCL over NVLink in large calls.", "4 H200"
    ),
    "ranks.levels": Threshold(8, "rounds", "Levels of a search in a graph with hubs."),
    "ranks.sweeps": Threshold(20, "rounds", "Rounds until an iterative method such as PageRank converges."),
    "ranks.short_rows": Threshold(
        64,
        "entries",
        "Graphs whose rows are all short, such as meshes and roads, have about as many levels as the square root of "
        "their number of vertices.",
    ),
    "ranks.reads.search": Threshold(
        0.14,
        "entries read per entry",
        "Searches that pull stop at the first neighbour that was found before.",
        "H200, kron25 to kron27: 1.4, 4.2 and 9.4 ms",
    ),
    "ranks.reads.components": Threshold(
        0.4,
        "entries read per entry",
        "Rounds on samples of the entries, and the whole-vector steps between them.",
        "H200, kron25 to kron27: 7.8, 11.8 and 32.4 ms",
    ),
    "ranks.reads.sweeps": Threshold(1, "entries read per entry and round", "A round multiplies by the whole matrix."),
    "ranks.bytes.search": Threshold(0.125, "bytes exchanged per vertex and round", "A bit per vertex: the frontier."),
    "ranks.bytes.components": Threshold(
        6,
        "bytes exchanged per vertex and round",
        "A label of 32 bits, and steps that each rank repeats for all vertices.",
        "2 H200, kron25 to kron27: 9.4, 14.4 and 34.6 ms",
    ),
    "ranks.bytes.sweeps": Threshold(8, "bytes exchanged per vertex and round", "A value of 64 bits."),
    "ranks.gain": Threshold(
        1.05, "times faster", "Rows are partitioned if the prediction is better than that of one rank by this factor."
    ),
    "ranks.memory": Threshold(
        1.5,
        "free bytes of a rank per byte of its copy",
        "A graph is copied to every rank if each has this much free memory: the copy, and vectors of the program.",
    ),
    "shares.large": Threshold(
        1 << 16,
        "positions",
        "From this size on, objects are partitioned in blocks of shares.block positions; smaller ones in words of 64.",
    ),
    "shares.block": Threshold(
        512,
        "positions",
        "Positions of a block, a multiple of 64. Longer blocks need less memory to count their entries.",
    ),
    "shares.blocks": Threshold(
        1 << 24,
        "blocks",
        "The maximum number of blocks: objects with more have longer blocks, because each block's entries are counted.",
    ),
    "shares.imbalance": Threshold(
        1.03,
        "entries per entry of an average rank",
        "The partition stays even if no rank has more entries: calls with the same number of positions from each rank "
        "are faster.",
    ),
    "shares.row_cost": Threshold(
        8,
        "entries per row",
        "What a row costs in addition to its entries, because vectors are traversed several times per round.",
    ),
    "symmetry.chunk": Threshold(
        1 << 26,
        "entries",
        "The test for symmetry hashes this many entries at once, which bounds its memory.",
    ),
    "group.polling": Threshold(
        0.001,
        "seconds",
        "A rank that waits polls without a pause for this long, and sleeps between polls from then on.",
    ),
    "group.sleep": Threshold(
        2e-5,
        "seconds",
        "The sleep between two polls of a rank that waits.",
    ),
    "group.claims": Threshold(
        100, "calls", "Ranks that send nothing compare their algorithms after so many calls at the latest."
    ),
    "group.signatures": Threshold(
        1000,
        "signatures",
        "The cache of signatures of calls is cleared when it has more.",
    ),
    # -- end of distributed
}

_versions = itertools.count(1)
_version = 0
_clear: list[Callable[[], None]] = []


# A statement reads several rows: both functions are methods of dictionaries, which take no Python frame.
_values = {name: row.value for name, row in TABLE.items()}
_counts = {name: int(row.value) for name, row in TABLE.items() if math.isfinite(row.value)}
# value(name): the current value of a threshold. KeyError if there is none of that name.
value: Callable[[str], float] = _values.__getitem__
# count(name): the same as an int, for whole numbers.
count: Callable[[str], int] = _counts.__getitem__


def version() -> int:
    """Identifies the current values. Decisions that are cached on objects have it in their key."""
    return _version


def on_change(clear: Callable[[], None]) -> None:
    """Call `clear` whenever rows change: for caches of functions whose results depend on thresholds."""
    _clear.append(clear)


@contextmanager
def override(changes: Mapping[str, float]) -> Iterator[None]:
    """Change rows inside a ``with`` block: ``with override({"push_cost.gpu": 1.0}): ..``. Decisions cached before are
    not used inside, and those cached inside are not used after. KeyError, without a change, if there is no such row."""
    before, version_before = {name: TABLE[name] for name in changes}, _version
    try:
        _set({name: replace(before[name], value=number) for name, number in changes.items()}, next(_versions))
        yield
    finally:
        _set(before, version_before)


def _set(rows: Mapping[str, Threshold], version: int) -> None:
    global _version
    TABLE.update(rows)
    _values.update({name: row.value for name, row in rows.items()})
    for name, row in rows.items():
        if math.isfinite(row.value):
            _counts[name] = int(row.value)
        else:
            _counts.pop(name, None)
    _version = version
    for clear in _clear:
        clear()


def table() -> str:
    """The table as text: name, value and unit, then reason and measurement."""
    rows = []
    for name, row in TABLE.items():
        rows.append(f"{name} = {row.value:,} {row.unit}\n    {row.reason}\n    measured: {row.measured}")
    return "\n".join(rows)
