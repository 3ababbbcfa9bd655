# SpMSpV on the CPU: t = A' (+).(x) u for a u stored as a list. The result is a list too; no other position is read.
# Units are the entries of u; one thread, one range.
# FILL 0 (a runtime argument) finds the rows of these entries (`places`, -1: none) and counts the products. FILL 1
# sorts the products by column, combines those of a column in the order of the entries of u, and keeps what the mask
# allows.
# Row k of a hypersparse matrix has the number rows[k] (listed_rows of them; -1: it is row k); columns in the same way.
# mask_kind: 0 none, 1 a list of that many positions, 2 a bitset (as INT64).
# include: kernels/products.cpu.py
# include: formats/csr/search.cpu.py
PRODUCTS, ENTRIES = 0, 1
FEW = 48  # lists up to this length use insertion sort
DIGIT = 8  # bits per pass of the radix sort of longer ones


@njit(**FUNCTION)
def named(numbers, listed, k):
    return at(numbers, k) if listed >= 0 else k


@njit(**KERNEL)
def push_list(
    lo,
    hi,
    fill,
    index,
    u: VectorValues,
    rows,
    listed_rows,
    cols,
    listed_cols,
    A: Matrix,
    a: Values,
    mask,
    mask_kind,
    listed_mask,
    complement,
    product,
    places,
    told,
    t_index,
    t_val,
):
    if not fill:
        products = np.int64(0)
        row = np.int64(0)
        for k in range(lo, hi):
            place = at(index, k)
            if listed_rows >= 0:
                row = ahead(False, rows, 0, row, listed_rows, place)
                place = row if row < listed_rows and at(rows, row) == place else np.int64(-1)
            put(places, k, place)
            if place >= 0:
                products += np.int64(at(A.ptr, place + 1)) - np.int64(at(A.ptr, place))
        put(told, PRODUCTS, products)
        return
    products = at(told, PRODUCTS)
    keys = empty(products, np.int64)
    spare_keys = empty(products, np.int64)
    values = empty(products if KIND == VALUES else 1, Z_T)
    spare_values = empty(products if KIND == VALUES else 1, Z_T)
    q = np.int64(0)
    low = np.int64(1) << 62
    high = np.int64(0)
    ascends = True
    last = np.int64(0)
    for k in range(lo, hi):
        row = at(places, k)
        if row < 0:
            continue
        x = at(u.values, k) if u.stride else u.iso
        for e in range(np.int64(at(A.ptr, row)), np.int64(at(A.ptr, row + 1))):
            j = column(A.col, A.width, e)
            low = min(low, j)
            high = max(high, j)
            ascends &= last <= j
            last = j
            put(keys, q, j)
            if KIND == VALUES:
                put(values, q, mul(value_at(a, e), x, named(cols, listed_cols, j), at(index, k)))
            q += 1
    if not ascends and products <= FEW:
        for p in range(1, products):
            j = at(keys, p)
            q = p
            if KIND == VALUES:
                z = at(values, p)
            while q > 0 and at(keys, q - 1) > j:
                put(keys, q, at(keys, q - 1))
                if KIND == VALUES:
                    put(values, q, at(values, q - 1))
                q -= 1
            put(keys, q, j)
            if KIND == VALUES:
                put(values, q, z)
    elif not ascends:
        starts = empty(1 << DIGIT, np.int64)
        shift = np.int64(0)
        while (high - low) >> shift != 0:
            for d in range(1 << DIGIT):
                put(starts, d, np.int64(0))
            for p in range(products):
                d = (at(keys, p) - low) >> shift & ((1 << DIGIT) - 1)
                put(starts, d, at(starts, d) + 1)
            before = np.int64(0)
            for d in range(1 << DIGIT):
                some = at(starts, d)
                put(starts, d, before)
                before += some
            for p in range(products):
                d = (at(keys, p) - low) >> shift & ((1 << DIGIT) - 1)
                q = at(starts, d)
                put(starts, d, q + 1)
                put(spare_keys, q, at(keys, p))
                if KIND == VALUES:
                    put(spare_values, q, at(values, p))
            keys, spare_keys = spare_keys, keys
            values, spare_values = spare_values, values
            shift += DIGIT
    entries = np.int64(0)
    m = np.int64(0)
    p = np.int64(0)
    while p < products:
        j = at(keys, p)
        first = p
        p += 1
        if KIND == VALUES:
            total = at(values, first)
        while p < products and at(keys, p) == j:
            if KIND == VALUES and HAS_TERMINAL != 2:
                total = add(total, at(values, p))
            p += 1
        j = named(cols, listed_cols, j)
        is_open = True
        if mask_kind == 1:
            m = ahead(False, mask, 0, m, listed_mask, j)
            is_open = (m < listed_mask and at(mask, m) == j) != (complement != 0)
        elif mask_kind == 2:
            is_open = (np.uint64(at(mask, j >> 6)) >> np.uint64(j & 63) & ONE != 0) != (complement != 0)
        if is_open:
            put(t_index, entries, j)
            if KIND == VALUES:
                put(t_val, entries, total)
            if KIND == COUNT:
                put(t_val, entries, repeated(product, p - first))
            entries += 1
    put(told, ENTRIES, entries)
