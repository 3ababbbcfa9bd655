; Run the rounds of a loop on the CPU: call kernels from a table, without Python in between.
;
; The table is 64-bit words: the number of copies of a round, the address of the condition (0: the loop ends), the address
; of `share`, the number of operations in a round; then seven words per operation, copy after copy: the kernel, its slots,
; its range bounds, the number of ranges; the address of a number (0: none) and the value it must have for the operation to
; run; the address of a flag that is nonzero while the operation has only paused (0: it never pauses), as a nested loop may,
; because `rounds` is itself a kernel (1: part of a long operation, after which the loop checks the clock and may pause and
; later continue with the next operation). The state: the round, the limit of rounds, the index of the current copy, a
; fault (nonzero: the loop ends), whether the loop has only paused, after {NANOSECONDS}, so that Python can handle signals,
; a number that this code does not use, and the operation that paused (0: none), at which the round continues.

declare i32 @clock_gettime(i32, ptr)

define internal i64 @now() {
  %time = alloca [2 x i64], align 8
  %said = call i32 @clock_gettime(i32 1, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

; A kernel in the form that `native.ll` calls: its slots are the table and the state.
define i64 @rounds(i64 %lo, i64 %hi, ptr %slots) {
entry:
  %table = load ptr, ptr %slots
  %state.at = getelementptr i64, ptr %slots, i64 2
  %state = load ptr, ptr %state.at
  %copies = load i64, ptr %table
  %condition.at = getelementptr i64, ptr %table, i64 1
  %condition = load ptr, ptr %condition.at
  %share.at = getelementptr i64, ptr %table, i64 2
  %share = load ptr, ptr %share.at
  %count.at = getelementptr i64, ptr %table, i64 3
  %count = load i64, ptr %count.at
  %operations = getelementptr i64, ptr %table, i64 4
  %limit.at = getelementptr i64, ptr %state, i64 1
  %limit = load i64, ptr %limit.at
  %copy.at = getelementptr i64, ptr %state, i64 2
  %fault.at = getelementptr i64, ptr %state, i64 3
  %pauses.at = getelementptr i64, ptr %state, i64 4
  %resumed.at = getelementptr i64, ptr %state, i64 6
  %resumed = load i64, ptr %resumed.at
  store i64 0, ptr %resumed.at
  %length = mul i64 %count, 7
  %begin = call i64 @now()
  store i64 0, ptr %pauses.at
  %resumes = icmp ne i64 %resumed, 0
  br i1 %resumes, label %start, label %round

round:
  %number = load i64, ptr %state
  %more = icmp slt i64 %number, %limit
  %remaining = load i64, ptr %condition
  %goes = icmp ne i64 %remaining, 0
  %fault = load i64, ptr %fault.at
  %fine = icmp eq i64 %fault, 0
  %wanted = and i1 %more, %goes
  %runs = and i1 %wanted, %fine
  br i1 %runs, label %start, label %over

start:
  %k.first = phi i64 [ %resumed, %entry ], [ 0, %round ]
  %copy = load i64, ptr %copy.at
  %first = mul i64 %copy, %length
  %row = getelementptr i64, ptr %operations, i64 %first
  br label %operation

operation:
  %k = phi i64 [ %k.first, %start ], [ %k.next, %next ]
  %done = icmp eq i64 %k, %count
  br i1 %done, label %ended, label %look
look:
  %place = mul i64 %k, 7
  %it = getelementptr i64, ptr %row, i64 %place
  %number.at.at = getelementptr i64, ptr %it, i64 4
  %number.at = load ptr, ptr %number.at.at
  %always = icmp eq ptr %number.at, null
  br i1 %always, label %do, label %ask
ask:
  %is = load i64, ptr %number.at
  %should.at = getelementptr i64, ptr %it, i64 5
  %should = load i64, ptr %should.at
  %same = icmp eq i64 %is, %should
  br i1 %same, label %do, label %next
do:
  %kernel = load ptr, ptr %it
  %given.at = getelementptr i64, ptr %it, i64 1
  %given = load ptr, ptr %given.at
  %bounds.at = getelementptr i64, ptr %it, i64 2
  %bounds = load ptr, ptr %bounds.at
  %parts.at = getelementptr i64, ptr %it, i64 3
  %parts = load i64, ptr %parts.at
  %alone = icmp eq i64 %parts, 1
  br i1 %alone, label %one, label %many
one:
  %from = load i64, ptr %bounds
  %to.at = getelementptr i64, ptr %bounds, i64 1
  %to = load i64, ptr %to.at
  %said.one = call i64 %kernel(i64 %from, i64 %to, ptr %given)
  br label %ran
many:
  %said.many = call i64 %share(ptr %kernel, ptr %bounds, i64 %parts, ptr %given)
  br label %ran
ran:
  %said = phi i64 [ %said.one, %one ], [ %said.many, %many ]
  %bad = icmp ne i64 %said, 0
  br i1 %bad, label %failed, label %fair
fair:
  %waits.at.at = getelementptr i64, ptr %it, i64 6
  %waits.at = load ptr, ptr %waits.at.at
  %never = icmp eq ptr %waits.at, null
  br i1 %never, label %next, label %maybe
maybe:
  %waits.number = ptrtoint ptr %waits.at to i64
  %part = icmp eq i64 %waits.number, 1
  br i1 %part, label %clock, label %inner
clock:
  %time.part = call i64 @now()
  %took.part = sub i64 %time.part, %begin
  %long.part = icmp sgt i64 %took.part, {NANOSECONDS}
  br i1 %long.part, label %stop, label %next
stop:
  %k.after = add i64 %k, 1
  store i64 %k.after, ptr %resumed.at
  br label %pause
inner:
  %waits = load i64, ptr %waits.at
  %ended.inside = icmp eq i64 %waits, 0
  br i1 %ended.inside, label %next, label %halt
halt:
  store i64 %k, ptr %resumed.at
  br label %pause
next:
  %k.next = add i64 %k, 1
  br label %operation

ended:
  %number.ran = load i64, ptr %state
  %number.next = add i64 %number.ran, 1
  store i64 %number.next, ptr %state
  %copy.more = add i64 %copy, 1
  %last = icmp eq i64 %copy.more, %copies
  %copy.next = select i1 %last, i64 0, i64 %copy.more
  store i64 %copy.next, ptr %copy.at
  %time = call i64 @now()
  %took = sub i64 %time, %begin
  %long = icmp sgt i64 %took, {NANOSECONDS}
  br i1 %long, label %pause, label %round
pause:
  store i64 1, ptr %pauses.at
  br label %over

over:
  ret i64 0
failed:
  ret i64 %said
}
