; Read nested Python dicts into arrays: visit the entries `depth` levels down, in dict order, in one call. Uses the CPython
; API under the GIL and creates no Python objects.
;
; The state is 64-bit words: 0 what is read of each entry (0: the hash of the key; or an attribute of its value, which is a
; dict: 1 as integers, 2 as floats), 1 the output address, 2 its capacity in entries, 3 the number of entries seen, 4 the
; number taken, 5 a byte per entry that selects it (0: all are selected), 6 the attribute's name, 7 the default for a
; missing attribute, 8 and 9 the types int and float, 10 the number of pending entries, and from 11 on the pending entries:
; up to {WAIT}, prefetched before the first of them is read.

declare i32 @PyDict_Next(ptr, ptr, ptr, ptr)
declare ptr @PyDict_GetItemWithError(ptr, ptr)
declare i64 @PyObject_Hash(ptr)
declare ptr @PyObject_Type(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyErr_Occurred()
declare void @Py_DecRef(ptr)
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)

define internal i64 @word(ptr %state, i64 %k) alwaysinline {
  %at = getelementptr i64, ptr %state, i64 %k
  %found = load i64, ptr %at
  ret i64 %found
}
define internal ptr @pointer(ptr %state, i64 %k) alwaysinline {
  %at = getelementptr ptr, ptr %state, i64 %k
  %found = load ptr, ptr %at
  ret ptr %found
}
define internal void @set(ptr %state, i64 %k, i64 %value) alwaysinline {
  %at = getelementptr i64, ptr %state, i64 %k
  store i64 %value, ptr %at
  ret void
}

; All functions below return 1, or 0 to stop: on a Python error, a value of another type, or more entries than expected.
; @walk is the entry point.
define i64 @walk(ptr %top, i64 %depth, ptr %state) {
  %went = call i64 @visit(ptr %top, i64 %depth, ptr %state)
  %ended = icmp eq i64 %went, 0
  br i1 %ended, label %over, label %rest
rest:
  %said = call i64 @read(ptr %state)
  ret i64 %said
over:
  ret i64 0
}

define internal i64 @visit(ptr %dictionary, i64 %depth, ptr %state) {
entry:
  %place = alloca i64, align 8
  %key.at = alloca ptr, align 8
  %value.at = alloca ptr, align 8
  %below = alloca [{ROWS} x ptr], align 8
  %count.at = alloca i64, align 8
  store i64 0, ptr %place
  store i64 0, ptr %count.at
  %last = icmp eq i64 %depth, 0
  br label %next
next:
  %more = call i32 @PyDict_Next(ptr %dictionary, ptr %place, ptr %key.at, ptr %value.at)
  %none = icmp eq i32 %more, 0
  br i1 %none, label %done, label %one
one:
  %key = load ptr, ptr %key.at
  %value = load ptr, ptr %value.at
  br i1 %last, label %entries, label %inner
entries:
  %taken = call i64 @take(ptr %key, ptr %value, ptr %state)
  br label %went
inner:
  call void @ask(ptr %value)
  %count = load i64, ptr %count.at
  %to = getelementptr ptr, ptr %below, i64 %count
  store ptr %value, ptr %to
  %count.next = add i64 %count, 1
  store i64 %count.next, ptr %count.at
  %full = icmp eq i64 %count.next, {ROWS}
  br i1 %full, label %enough, label %next
enough:
  store i64 0, ptr %count.at
  %visited = call i64 @visit_each(ptr %below, i64 {ROWS}, i64 %depth, ptr %state)
  br label %went
went:
  %fine = phi i64 [ %taken, %entries ], [ %visited, %enough ]
  %ends = icmp eq i64 %fine, 0
  br i1 %ends, label %failed, label %next
done:
  %rest = load i64, ptr %count.at
  %said = call i64 @visit_each(ptr %below, i64 %rest, i64 %depth, ptr %state)
  ret i64 %said
failed:
  ret i64 0
}

; Dicts one level below %depth. Reading the first entry of each fetches their hash tables, many at a time.
define internal i64 @visit_each(ptr %dictionaries, i64 %count, i64 %depth, ptr %state) {
entry:
  %place = alloca i64, align 8
  %key.at = alloca ptr, align 8
  %value.at = alloca ptr, align 8
  %below = sub i64 %depth, 1
  br label %look
look:
  %j = phi i64 [ 0, %entry ], [ %j.next, %touch ]
  %looked = icmp eq i64 %j, %count
  br i1 %looked, label %next, label %touch
touch:
  %first.at = getelementptr ptr, ptr %dictionaries, i64 %j
  %first = load ptr, ptr %first.at
  store i64 0, ptr %place
  %any = call i32 @PyDict_Next(ptr %first, ptr %place, ptr %key.at, ptr %value.at)
  %j.next = add i64 %j, 1
  br label %look

next:
  %k = phi i64 [ 0, %look ], [ %k.next, %visit ]
  %over = icmp eq i64 %k, %count
  br i1 %over, label %done, label %visit
visit:
  %at = getelementptr ptr, ptr %dictionaries, i64 %k
  %dictionary = load ptr, ptr %at
  %went = call i64 @visit(ptr %dictionary, i64 %below, ptr %state)
  %k.next = add i64 %k, 1
  %ends = icmp eq i64 %went, 0
  br i1 %ends, label %failed, label %next
done:
  ret i64 1
failed:
  ret i64 0
}

; Prefetch the fields of a dict object.
define internal void @ask(ptr %dictionary) alwaysinline {
  %further = getelementptr i8, ptr %dictionary, i64 32
  call void @llvm.prefetch.p0(ptr %dictionary, i32 0, i32 3, i32 1)
  call void @llvm.prefetch.p0(ptr %further, i32 0, i32 3, i32 1)
  ret void
}

; Add an entry to the pending ones.
define internal i64 @take(ptr %key, ptr %value, ptr %state) {
entry:
  %seen = call i64 @word(ptr %state, i64 3)
  %most = call i64 @word(ptr %state, i64 2)
  %room = icmp slt i64 %seen, %most
  br i1 %room, label %see, label %failed
see:
  %seen.next = add i64 %seen, 1
  call void @set(ptr %state, i64 3, i64 %seen.next)
  %mask = call ptr @pointer(ptr %state, i64 5)
  %all = icmp eq ptr %mask, null
  br i1 %all, label %wanted, label %ask
ask:
  %byte.at = getelementptr i8, ptr %mask, i64 %seen
  %byte = load i8, ptr %byte.at
  %not = icmp eq i8 %byte, 0
  br i1 %not, label %fine, label %wanted
wanted:
  %what = call i64 @word(ptr %state, i64 0)
  %keys = icmp eq i64 %what, 0
  %object = select i1 %keys, ptr %key, ptr %value
  br i1 %keys, label %number, label %fields
number:
  call void @llvm.prefetch.p0(ptr %object, i32 0, i32 3, i32 1)
  br label %wait
fields:
  call void @ask(ptr %object)
  br label %wait
wait:
  %waiting = call i64 @word(ptr %state, i64 10)
  %place = add i64 %waiting, 11
  %word = ptrtoint ptr %object to i64
  call void @set(ptr %state, i64 %place, i64 %word)
  %waiting.next = add i64 %waiting, 1
  call void @set(ptr %state, i64 10, i64 %waiting.next)
  %full = icmp eq i64 %waiting.next, {WAIT}
  br i1 %full, label %read, label %fine
read:
  %said = call i64 @read(ptr %state)
  ret i64 %said
fine:
  ret i64 1
failed:
  ret i64 0
}

; Read all pending entries, and clear the list.
define internal i64 @read(ptr %state) {
entry:
  %what = call i64 @word(ptr %state, i64 0)
  %hashes = icmp eq i64 %what, 0
  br i1 %hashes, label %convert, label %find
find:
  %found = call i64 @attributes(ptr %state)
  %there = icmp ne i64 %found, 0
  br i1 %there, label %convert, label %failed

convert:
  %count = call i64 @word(ptr %state, i64 10)
  %out = call ptr @pointer(ptr %state, i64 1)
  %before = call i64 @word(ptr %state, i64 4)
  br label %next
next:
  %k = phi i64 [ 0, %convert ], [ %k.next, %store ]
  %over = icmp eq i64 %k, %count
  br i1 %over, label %done, label %one
one:
  %at = add i64 %k, 11
  %object = call ptr @pointer(ptr %state, i64 %at)
  br i1 %hashes, label %hash, label %number
hash:
  %hashed = call i64 @PyObject_Hash(ptr %object)
  %unhashed = icmp eq i64 %hashed, -1
  br i1 %unhashed, label %failed, label %store
number:
  %read = call { i64, i1 } @number(ptr %object, i64 %what, ptr %state)
  %is = extractvalue { i64, i1 } %read, 1
  %bits = extractvalue { i64, i1 } %read, 0
  br i1 %is, label %store, label %failed
store:
  %value = phi i64 [ %hashed, %hash ], [ %bits, %number ]
  %to = add i64 %before, %k
  call void @set(ptr %out, i64 %to, i64 %value)
  %k.next = add i64 %k, 1
  br label %next

done:
  %taken = add i64 %before, %count
  call void @set(ptr %state, i64 4, i64 %taken)
  call void @set(ptr %state, i64 10, i64 0)
  ret i64 1
failed:
  ret i64 0
}

; Replace each pending dict by its attribute.
define internal i64 @attributes(ptr %state) {
entry:
  %count = call i64 @word(ptr %state, i64 10)
  %name = call ptr @pointer(ptr %state, i64 6)
  %default = call ptr @pointer(ptr %state, i64 7)
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k.next, %keep ]
  %over = icmp eq i64 %k, %count
  br i1 %over, label %done, label %one
one:
  %at = add i64 %k, 11
  %dictionary = call ptr @pointer(ptr %state, i64 %at)
  %found = call ptr @PyDict_GetItemWithError(ptr %dictionary, ptr %name)
  %missing = icmp eq ptr %found, null
  br i1 %missing, label %ask, label %keep
ask:
  %error = call ptr @PyErr_Occurred()
  %wrong = icmp ne ptr %error, null
  br i1 %wrong, label %failed, label %keep
keep:
  %object = phi ptr [ %found, %one ], [ %default, %ask ]
  call void @llvm.prefetch.p0(ptr %object, i32 0, i32 3, i32 1)
  %word = ptrtoint ptr %object to i64
  call void @set(ptr %state, i64 %at, i64 %word)
  %k.next = add i64 %k, 1
  br label %next
done:
  ret i64 1
failed:
  ret i64 0
}

; The bits of an int as an integer, or of an int or a float as a float; and whether the value has such a type.
define internal { i64, i1 } @number(ptr %object, i64 %what, ptr %state) {
entry:
  %int = call ptr @pointer(ptr %state, i64 8)
  %float = call ptr @pointer(ptr %state, i64 9)
  %type = call ptr @PyObject_Type(ptr %object)
  call void @Py_DecRef(ptr %type)
  %is.int = icmp eq ptr %type, %int
  %is.float = icmp eq ptr %type, %float
  %as.integer = icmp eq i64 %what, 1
  br i1 %as.integer, label %integer, label %real
integer:
  br i1 %is.int, label %whole, label %other
whole:
  %number = call i64 @PyLong_AsLongLong(ptr %object)
  %maybe.not = icmp eq i64 %number, -1
  br i1 %maybe.not, label %ask, label %fine
real:
  %either = or i1 %is.int, %is.float
  br i1 %either, label %double, label %other
double:
  %value = call double @PyFloat_AsDouble(ptr %object)
  %bits = bitcast double %value to i64
  %maybe = fcmp oeq double %value, -1.0
  br i1 %maybe, label %ask, label %fine
ask:
  %asked = phi i64 [ %number, %whole ], [ %bits, %double ]
  %error = call ptr @PyErr_Occurred()
  %raised = icmp ne ptr %error, null
  br i1 %raised, label %other, label %fine
fine:
  %read = phi i64 [ %number, %whole ], [ %bits, %double ], [ %asked, %ask ]
  %some = insertvalue { i64, i1 } poison, i64 %read, 0
  %said = insertvalue { i64, i1 } %some, i1 true, 1
  ret { i64, i1 } %said
other:
  ret { i64, i1 } { i64 0, i1 false }
}
