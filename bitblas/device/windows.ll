
; POSIX names that native.ll calls, for Windows: a slim lock and a condition variable, each one pointer.
declare void @InitializeSRWLock(ptr)
declare void @AcquireSRWLockExclusive(ptr)
declare void @ReleaseSRWLockExclusive(ptr)
declare void @InitializeConditionVariable(ptr)
declare i32 @SleepConditionVariableSRW(ptr, ptr, i32, i32)
declare void @WakeAllConditionVariable(ptr)
declare i32 @SwitchToThread()

define internal i32 @pthread_mutex_init(ptr %mutex, ptr %how) {
  call void @InitializeSRWLock(ptr %mutex)
  ret i32 0
}
define internal i32 @pthread_mutex_lock(ptr %mutex) {
  call void @AcquireSRWLockExclusive(ptr %mutex)
  ret i32 0
}
define internal i32 @pthread_mutex_unlock(ptr %mutex) {
  call void @ReleaseSRWLockExclusive(ptr %mutex)
  ret i32 0
}
define internal i32 @pthread_cond_init(ptr %condition, ptr %how) {
  call void @InitializeConditionVariable(ptr %condition)
  ret i32 0
}
define internal i32 @pthread_cond_wait(ptr %condition, ptr %mutex) {
  %slept = call i32 @SleepConditionVariableSRW(ptr %condition, ptr %mutex, i32 -1, i32 0)
  ret i32 0
}
define internal i32 @pthread_cond_broadcast(ptr %condition) {
  call void @WakeAllConditionVariable(ptr %condition)
  ret i32 0
}
define internal i32 @sched_yield() {
  %went = call i32 @SwitchToThread()
  ret i32 0
}
