; Call compiled CPU kernels from Python: @launch unpacks arguments from Python objects, @share distributes ranges of units
; to the threads that wait in @worker. {HEAD}: bytes of a Python object before its own fields; {PAUSE}: the processor's
; spin-wait hint.
;
; A kernel is `i64 kernel(i64 lo, i64 hi, ptr slots)` with 16 bytes per argument: an array's address and size, or a number.
; It returns 0 or an error code.

declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyErr_Occurred()
declare void @Py_DecRef(ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_mutex_init(ptr, ptr)
declare i32 @pthread_cond_init(ptr, ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @sched_yield()

; ---- one call: launch(n or bounds, *arguments) ----------------------------------------------------------------------
; `self` is an int: the address of the kernel's description in 64-bit words: the kernel, the number of arguments, the types
; int and ndarray, the dtype of bounds, then three words per argument: how it is read (0: an array, -1: an int, otherwise
; the bytes of a NumPy scalar), its type, its dtype. Returns 0; 1 if the types differ, in which case nothing has run;
; otherwise the kernel's return code.

define ptr @launch(ptr %self, ptr %args, i64 %nargs) {
entry:
  %slots = alloca [{MOST} x i64], align 16
  %address = call i64 @PyLong_AsLongLong(ptr %self)
  %words = inttoptr i64 %address to ptr
  %kernel = load ptr, ptr %words
  %count.at = getelementptr i64, ptr %words, i64 1
  %count = load i64, ptr %count.at
  %given = sub i64 %nargs, 1
  %as.many = icmp eq i64 %given, %count
  br i1 %as.many, label %units, label %others

units:
  %int.at = getelementptr i64, ptr %words, i64 2
  %int = load ptr, ptr %int.at
  %first = load ptr, ptr %args
  %first.type.at = getelementptr i8, ptr %first, i64 {TYPE}
  %first.type = load ptr, ptr %first.type.at
  %is.int = icmp eq ptr %first.type, %int
  br i1 %is.int, label %range, label %ranges

range:
  %n = call i64 @PyLong_AsLongLong(ptr %first)
  %n.maybe = icmp eq i64 %n, -1
  br i1 %n.maybe, label %n.overflowed, label %loop
n.overflowed:
  %n.error = call ptr @PyErr_Occurred()
  %n.fine = icmp eq ptr %n.error, null
  br i1 %n.fine, label %loop, label %failed

ranges:
  %ndarray.at = getelementptr i64, ptr %words, i64 3
  %ndarray = load ptr, ptr %ndarray.at
  %int64.at = getelementptr i64, ptr %words, i64 4
  %int64 = load ptr, ptr %int64.at
  %bounds = call ptr @data(ptr %first, ptr %ndarray, ptr %int64)
  %no.bounds = icmp eq ptr %bounds, null
  br i1 %no.bounds, label %others, label %counted

counted:
  %shape.at = getelementptr i8, ptr %first, i64 {SHAPE}
  %shape = load ptr, ptr %shape.at
  %limits = load i64, ptr %shape
  %parts = sub i64 %limits, 1
  br label %loop

loop:
  %units.or.parts = phi i64 [ %n, %range ], [ %n, %n.overflowed ], [ %parts, %counted ], [ %units.or.parts, %stored ]
  %limits.or.null = phi ptr [ null, %range ], [ null, %n.overflowed ], [ %bounds, %counted ], [ %limits.or.null, %stored ]
  %k = phi i64 [ 0, %range ], [ 0, %n.overflowed ], [ 0, %counted ], [ %next, %stored ]
  %done = icmp eq i64 %k, %count
  br i1 %done, label %run, label %argument

argument:
  %next = add i64 %k, 1
  %object.at = getelementptr ptr, ptr %args, i64 %next
  %object = load ptr, ptr %object.at
  %place = mul i64 %k, 3
  %how.place = add i64 %place, 5
  %how.at = getelementptr i64, ptr %words, i64 %how.place
  %how = load i64, ptr %how.at
  %wanted.at = getelementptr i64, ptr %how.at, i64 1
  %wanted = load ptr, ptr %wanted.at
  %slot.place = mul i64 %k, 2
  %slot = getelementptr i64, ptr %slots, i64 %slot.place
  %is.array = icmp eq i64 %how, 0
  br i1 %is.array, label %array, label %number

array:
  %dtype.at = getelementptr i64, ptr %how.at, i64 2
  %dtype = load ptr, ptr %dtype.at
  %data = call ptr @data(ptr %object, ptr %wanted, ptr %dtype)
  %no.data = icmp eq ptr %data, null
  br i1 %no.data, label %others, label %sized
sized:
  store ptr %data, ptr %slot
  %sizes.at = getelementptr i8, ptr %object, i64 {SHAPE}
  %sizes = load ptr, ptr %sizes.at
  %size = load i64, ptr %sizes
  %size.slot = getelementptr i64, ptr %slot, i64 1
  store i64 %size, ptr %size.slot
  br label %stored

number:
  %type.at = getelementptr i8, ptr %object, i64 {TYPE}
  %type = load ptr, ptr %type.at
  %right = icmp eq ptr %type, %wanted
  br i1 %right, label %typed, label %others

typed:
  %value.at = getelementptr i8, ptr %object, i64 {HEAD}
  switch i64 %how, label %others [ i64 -1, label %long i64 1, label %one i64 2, label %two i64 4, label %four i64 8, label %eight i64 16, label %sixteen ]
long:
  %v.long = call i64 @PyLong_AsLongLong(ptr %object)
  store i64 %v.long, ptr %slot
  %maybe = icmp eq i64 %v.long, -1
  br i1 %maybe, label %overflowed, label %stored
overflowed:
  %error = call ptr @PyErr_Occurred()
  %fine = icmp eq ptr %error, null
  br i1 %fine, label %stored, label %failed
one:
  %v.one = load i8, ptr %value.at
  store i8 %v.one, ptr %slot
  br label %stored
two:
  %v.two = load i16, ptr %value.at
  store i16 %v.two, ptr %slot
  br label %stored
four:
  %v.four = load i32, ptr %value.at
  store i32 %v.four, ptr %slot
  br label %stored
eight:
  %v.eight = load i64, ptr %value.at
  store i64 %v.eight, ptr %slot
  br label %stored
sixteen:
  %v.sixteen = load i128, ptr %value.at, align 8
  store i128 %v.sixteen, ptr %slot, align 8
  br label %stored

stored:
  br label %loop

run:
  %state = call ptr @PyEval_SaveThread()
  %whole = icmp eq ptr %limits.or.null, null
  br i1 %whole, label %alone, label %shared
alone:
  %said.alone = call i64 %kernel(i64 0, i64 %units.or.parts, ptr %slots)
  br label %ran
shared:
  %said.shared = call i64 @share(ptr %kernel, ptr %limits.or.null, i64 %units.or.parts, ptr %slots)
  br label %ran
ran:
  %said = phi i64 [ %said.alone, %alone ], [ %said.shared, %shared ]
  call void @PyEval_RestoreThread(ptr %state)
  %answer = call ptr @PyLong_FromLongLong(i64 %said)
  ret ptr %answer

others:
  %one.answer = call ptr @PyLong_FromLongLong(i64 1)
  ret ptr %one.answer
failed:
  ret ptr null
}

; The callable of a kernel: direct(n, *arguments, bounds=None, ..). It runs the kernel if there is nothing to decide or to
; trace; otherwise it calls the kernel's Python function with the same arguments. `self` is an int: the address of a cell of
; 64-bit words: that function, None, and the `self` of `launch` for the types of the last call (0: there was none). Bounds
; other than None are passed to threads.

@watched = global i32 0 ; whether a trace is active

define ptr @direct(ptr %self, ptr %args, i64 %nargs, ptr %names) {
entry:
  %address = call i64 @PyLong_AsLongLong(ptr %self)
  %cell = inttoptr i64 %address to ptr
  %slow = load ptr, ptr %cell
  %none.at = getelementptr i64, ptr %cell, i64 1
  %none = load ptr, ptr %none.at
  %known.at = getelementptr i64, ptr %cell, i64 2
  %known = load ptr, ptr %known.at
  %unknown = icmp eq ptr %known, null
  %watched = load i32, ptr @watched
  %heard = icmp ne i32 %watched, 0
  %ask = or i1 %unknown, %heard
  br i1 %ask, label %python, label %named

named:
  %unnamed = icmp eq ptr %names, null
  br i1 %unnamed, label %run, label %count
count:
  %more = call i64 @PyTuple_Size(ptr %names)
  br label %name
name:
  %k = phi i64 [ 0, %count ], [ %next, %empty ]
  %over = icmp sge i64 %k, %more
  br i1 %over, label %run, label %look
look:
  %next = add i64 %k, 1
  %place = add i64 %nargs, %k
  %value.at = getelementptr ptr, ptr %args, i64 %place
  %value = load ptr, ptr %value.at
  %is.none = icmp eq ptr %value, %none
  br i1 %is.none, label %empty, label %python
empty:
  br label %name

run:
  %answer = call ptr @launch(ptr %known, ptr %args, i64 %nargs)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %failed, label %ran
failed:
  ret ptr null
ran:
  %said = call i64 @PyLong_AsLongLong(ptr %answer)
  %fine = icmp eq i64 %said, 0
  br i1 %fine, label %done, label %told
done:
  ret ptr %answer
told:
  call void @Py_DecRef(ptr %answer)
  br label %python

python:
  %result = call ptr @PyObject_Vectorcall(ptr %slow, ptr %args, i64 %nargs, ptr %names)
  ret ptr %result
}

; The address of an array's elements; null unless it is contiguous, one-dimensional, and of the given type and dtype.
define internal ptr @data(ptr %array, ptr %type, ptr %dtype) {
  %type.at = getelementptr i8, ptr %array, i64 {TYPE}
  %its.type = load ptr, ptr %type.at
  %typed = icmp eq ptr %its.type, %type
  br i1 %typed, label %is.array, label %no
is.array:
  %dtype.at = getelementptr i8, ptr %array, i64 {DTYPE}
  %its.dtype = load ptr, ptr %dtype.at
  %right = icmp eq ptr %its.dtype, %dtype
  %flags.at = getelementptr i8, ptr %array, i64 {FLAGS}
  %flags = load i32, ptr %flags.at
  %wanted = and i32 %flags, 257 ; C_CONTIGUOUS, ALIGNED
  %both = icmp eq i32 %wanted, 257
  %dims.at = getelementptr i8, ptr %array, i64 {DIMS}
  %dims = load i32, ptr %dims.at
  %flat = icmp eq i32 %dims, 1
  %like = and i1 %right, %both
  %good = and i1 %like, %flat
  br i1 %good, label %yes, label %no
yes:
  %data.at = getelementptr i8, ptr %array, i64 {HEAD}
  %data = load ptr, ptr %data.at
  ret ptr %data
no:
  ret ptr null
}

; ---- distribution of ranges over threads ----------------------------------------------------------------------------
; One job at a time; its owner works on it too. A caller that finds another job active works alone. A thread enters an open
; job. The owner closes the job and waits for the threads inside it, but not for threads that slept through it.

@busy = global i32 0
@epoch = global i64 0
@open = global i32 0
@inside = global i64 0
@sleepers = global i64 0
@allowed = global i64 0 ; number of threads that may enter a job
@job.kernel = global ptr null
@job.bounds = global ptr null
@job.parts = global i64 0
@job.slots = global ptr null
@job.next = global i64 0
@job.said = global i64 0
@lock = global [16 x i64] zeroinitializer, align 16
@wake = global [16 x i64] zeroinitializer, align 16

; Reset to the state of a new process: at the start, and in the child of a fork, which has no other threads.
define void @reset() {
  store i32 0, ptr @busy
  store i32 0, ptr @open
  store i64 0, ptr @inside
  store i64 0, ptr @sleepers
  store i64 0, ptr @allowed
  %a = call i32 @pthread_mutex_init(ptr @lock, ptr null)
  %b = call i32 @pthread_cond_init(ptr @wake, ptr null)
  ret void
}

define i64 @share(ptr %kernel, ptr %bounds, i64 %parts, ptr %slots) {
entry:
  %threads = load atomic i64, ptr @allowed monotonic, align 8
  %some = icmp sgt i64 %threads, 0
  br i1 %some, label %ask, label %alone

ask:
  %had = cmpxchg ptr @busy, i32 0, i32 1 seq_cst seq_cst
  %mine = extractvalue { i32, i1 } %had, 1
  br i1 %mine, label %publish, label %alone

publish:
  store ptr %kernel, ptr @job.kernel
  store ptr %bounds, ptr @job.bounds
  store i64 %parts, ptr @job.parts
  store ptr %slots, ptr @job.slots
  store atomic i64 0, ptr @job.next seq_cst, align 8
  store atomic i64 0, ptr @job.said seq_cst, align 8
  store atomic i32 1, ptr @open seq_cst, align 4
  %e = atomicrmw add ptr @epoch, i64 1 seq_cst
  %asleep = load atomic i64, ptr @sleepers seq_cst, align 8
  %any = icmp sgt i64 %asleep, 0
  br i1 %any, label %rouse, label %join
rouse:
  %l = call i32 @pthread_mutex_lock(ptr @lock)
  %w = call i32 @pthread_cond_broadcast(ptr @wake)
  %u = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %join
join:
  call void @work()
  store atomic i32 0, ptr @open seq_cst, align 4
  br label %wait
wait:
  %spins = phi i64 [ 0, %join ], [ %more, %again ]
  %others = load atomic i64, ptr @inside seq_cst, align 8
  %left = icmp sgt i64 %others, 0
  br i1 %left, label %pause, label %over
pause:
  {PAUSE}
  %more = add i64 %spins, 1
  %long = icmp sgt i64 %more, {SPINS}
  br i1 %long, label %yield, label %again
yield:
  %y = call i32 @sched_yield()
  br label %again
again:
  br label %wait
over:
  %said = load atomic i64, ptr @job.said seq_cst, align 8
  store atomic i32 0, ptr @busy seq_cst, align 4
  ret i64 %said

alone:
  %k = phi i64 [ 0, %entry ], [ 0, %ask ], [ %k.next, %range ]
  %end = icmp sge i64 %k, %parts
  br i1 %end, label %done, label %range
range:
  %lo.at = getelementptr i64, ptr %bounds, i64 %k
  %lo = load i64, ptr %lo.at
  %k.next = add i64 %k, 1
  %hi.at = getelementptr i64, ptr %bounds, i64 %k.next
  %hi = load i64, ptr %hi.at
  %answer = call i64 %kernel(i64 %lo, i64 %hi, ptr %slots)
  %bad = icmp ne i64 %answer, 0
  br i1 %bad, label %stop, label %alone
stop:
  ret i64 %answer
done:
  ret i64 0
}

; Take ranges of the job until none are left; a failing range ends the job.
define internal void @work() {
entry:
  %kernel = load ptr, ptr @job.kernel
  %bounds = load ptr, ptr @job.bounds
  %parts = load i64, ptr @job.parts
  %slots = load ptr, ptr @job.slots
  br label %take
take:
  %k = atomicrmw add ptr @job.next, i64 1 seq_cst
  %some = icmp slt i64 %k, %parts
  br i1 %some, label %range, label %end
range:
  %lo.at = getelementptr i64, ptr %bounds, i64 %k
  %lo = load i64, ptr %lo.at
  %after = add i64 %k, 1
  %hi.at = getelementptr i64, ptr %bounds, i64 %after
  %hi = load i64, ptr %hi.at
  %answer = call i64 %kernel(i64 %lo, i64 %hi, ptr %slots)
  %bad = icmp ne i64 %answer, 0
  br i1 %bad, label %stop, label %take
stop:
  store atomic i64 %answer, ptr @job.said seq_cst, align 8
  %was = atomicrmw max ptr @job.next, i64 %parts seq_cst
  br label %end
end:
  ret void
}

; The main function of a thread: it polls for the next job for a while, then sleeps.
define ptr @worker(ptr %unused) {
entry:
  br label %idle
idle:
  %seen = phi i64 [ 0, %entry ], [ %now, %leave ]
  br label %spin
spin:
  %spins = phi i64 [ 0, %idle ], [ %more, %pause ]
  %now.spin = load atomic i64, ptr @epoch seq_cst, align 8
  %same = icmp eq i64 %now.spin, %seen
  br i1 %same, label %pause, label %enter
pause:
  {PAUSE}
  %more = add i64 %spins, 1
  %long = icmp sgt i64 %more, {SPINS}
  br i1 %long, label %bed, label %spin
bed:
  %l = call i32 @pthread_mutex_lock(ptr @lock)
  %s = atomicrmw add ptr @sleepers, i64 1 seq_cst
  br label %sleep
sleep:
  %now.sleep = load atomic i64, ptr @epoch seq_cst, align 8
  %still = icmp eq i64 %now.sleep, %seen
  br i1 %still, label %doze, label %rise
doze:
  %d = call i32 @pthread_cond_wait(ptr @wake, ptr @lock)
  br label %sleep
rise:
  %r = atomicrmw sub ptr @sleepers, i64 1 seq_cst
  %u = call i32 @pthread_mutex_unlock(ptr @lock)
  br label %enter
enter:
  %now = phi i64 [ %now.spin, %spin ], [ %now.sleep, %rise ]
  %before = atomicrmw add ptr @inside, i64 1 seq_cst
  %is.open = load atomic i32, ptr @open seq_cst, align 4
  %opened = icmp ne i32 %is.open, 0
  %allowed = load atomic i64, ptr @allowed seq_cst, align 8
  %room = icmp slt i64 %before, %allowed
  %in = and i1 %opened, %room
  br i1 %in, label %help, label %leave
help:
  call void @work()
  br label %leave
leave:
  %after = atomicrmw sub ptr @inside, i64 1 seq_cst
  br label %idle
}
