// Runs the blocks of a kernel one after the other; the threads of a block are fibers on one OS thread, so atomics are
// plain operations and every run with the same seed is identical. Warp collectives and barriers are rendezvous: what
// cannot meet is reported (who waits where), it never hangs. A seed shuffles the order of lanes and warps and rotates
// the order of blocks. Compiled once; kernels (cuda_emu.h) are libraries that link against it.
// Each block of a cluster has shared memory of its own, and the blocks take turns. The race detector is told what is ordered
// by what: a thread is one of its threads, two blocks in a row have threads of their own, and shared memory is new memory
// in each block.
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#define EMU_RUNTIME 1
#include "cuda_emu.h"

// EMU_TSAN: kernels are compiled with -fsanitize=thread; this file is not, it only tells what is ordered by what.
#if defined(EMU_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *);
void __tsan_func_entry(void *);
void __tsan_func_exit();
// Made for Java's heap, and it takes any memory: what is known of accesses to it is forgotten.
void __tsan_java_init(uintptr_t begin, uintptr_t size);
void __tsan_java_alloc(uintptr_t p, uintptr_t size);
void __tsan_java_free(uintptr_t p, uintptr_t size);
// What is read and written as volatile is, on a GPU, as if by a relaxed atomic. The compiler tells of it before it does it.
#define EMU_VOLATILE(BYTES, BITS, T)                                       \
  T __tsan_atomic##BITS##_load(const volatile T *, int);                   \
  T __tsan_atomic##BITS##_fetch_or(volatile T *, T, int);                  \
  void __tsan_volatile_read##BYTES(volatile T *p) {                        \
    __tsan_func_entry(__builtin_return_address(0));                        \
    __tsan_atomic##BITS##_load(p, 0);                                      \
    __tsan_func_exit();                                                    \
  }                                                                        \
  void __tsan_volatile_write##BYTES(volatile T *p) {                       \
    __tsan_func_entry(__builtin_return_address(0));                        \
    __tsan_atomic##BITS##_fetch_or(p, 0, 0);                               \
    __tsan_func_exit();                                                    \
  }
EMU_VOLATILE(1, 8, unsigned char)
EMU_VOLATILE(2, 16, unsigned short)
EMU_VOLATILE(4, 32, unsigned)
EMU_VOLATILE(8, 64, unsigned long)
}
#define TSAN(x) x
#define TURNS 2
#else
#define TSAN(x) ((void)0)
#define TURNS 1
#endif
#if !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__ELF__)
#define EMU_UCONTEXT 1
#endif
#if defined(EMU_UCONTEXT)
#include <ucontext.h>
#endif

emu::Context emu_context;

namespace emu {
enum { MAX_THREADS = 1024, MAX_CLUSTER = 16, STACK = 256 << 10, PAGE = 4096, DYNAMIC = 256 << 10, FRAMES = 24 };
struct Warp;
struct Thread : Self {
  void *sp;
  Warp *warp;
  int lane;
  char waits;  // 0: runs, 'w': in a warp collective, 'b': at the barrier, 'c': at the cluster's, 'a': in __activemask
  Kind kind;
  u32 mask;
  Fold fold;
  u64 value, result;
  int arg, width, line, number;
  const char *what, *file;
  char *stack;
  void *tsan;
  // What orders threads, for the race detector. Who comes to the next meeting must not order those who still leave this
  // one: of two meetings in a row each has its own.
  char arrived, done[2];  // at __syncwarp, and for those whom this thread, as the last one, woke
  char *joined;
  u32 woke;
};
struct Warp { Thread *threads; u32 all, live, ready, later, waiting, active; };
struct Block {
  u32 live, at_barrier, at_cluster;
  EmuCounts counts, result;
  uint3 index;
  char *dynamic, *fixed;  // its dynamic shared memory, and its static one
  char fences, barriers[2];  // what those of its threads that fence for the block have seen, that meet at the barrier
  u32 meetings;
  Thread thread[MAX_THREADS];
  Warp warp[MAX_THREADS / 32];
};
struct State {
  void *sp, *tsan;
  Config config;
  char *shared_begin, *shared_end;
  u32 threads, warps, random, spins, cluster;
  bool abort, running;
  char fences, barriers[2];
  u32 meetings;
  const char *kernel;
  void (*call)(void *);
  void *closure;
  pthread_t owner;
  sigjmp_buf escape;
  char error[4096];
  void *frames[FRAMES];  // where a signal struck: return addresses, innermost first
  int frame_count;
  Block *blocks[MAX_CLUSTER];      // those of the cluster that runs
  Block *made[2 * MAX_CLUSTER];    // for the race detector two clusters in a row have blocks of their own
};
static State *S;
static Block *B;  // the block that runs
static const u64 POISON = 0xCBCBCBCBCBCBCBCBull;

static u32 random_number() {  // xorshift32
  u32 x = S->random;
  x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return S->random = x;
}
static Thread *self() { return static_cast<Thread *>(emu_context.self); }
static u32 bit(const Thread *t) { return 1u << t->lane; }
static bool alive(const Thread *t) { return t->warp->live & bit(t); }
template <class F> static void each(Warp &w, u32 lanes, F f) {
  for (u32 m = lanes; m; m &= m - 1) f(w.threads[__builtin_ctz(m)]);
}

// ---- fibers ---------------------------------------------------------------------------------------------------------
#if defined(EMU_UCONTEXT)
static void swap_stacks(void **save, void *load) { swapcontext((ucontext_t *)*save, (ucontext_t *)load); }
#else
extern "C" void emu_swap(void **save, void *load);
#define swap_stacks emu_swap
#if defined(__x86_64__)
asm(".text\n.hidden emu_swap\n.globl emu_swap\n.type emu_swap,@function\nemu_swap:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\nmovq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n.size emu_swap,.-emu_swap\n");
#else
asm(".text\n.hidden emu_swap\n.globl emu_swap\n.type emu_swap,%function\nemu_swap:\nsub sp,sp,#160\n"
    "stp x19,x20,[sp]\nstp x21,x22,[sp,#16]\nstp x23,x24,[sp,#32]\nstp x25,x26,[sp,#48]\nstp x27,x28,[sp,#64]\n"
    "stp x29,x30,[sp,#80]\nstp d8,d9,[sp,#96]\nstp d10,d11,[sp,#112]\nstp d12,d13,[sp,#128]\nstp d14,d15,[sp,#144]\n"
    "mov x9,sp\nstr x9,[x0]\nmov sp,x1\nldp x19,x20,[sp]\nldp x21,x22,[sp,#16]\nldp x23,x24,[sp,#32]\n"
    "ldp x25,x26,[sp,#48]\nldp x27,x28,[sp,#64]\nldp x29,x30,[sp,#80]\nldp d8,d9,[sp,#96]\nldp d10,d11,[sp,#112]\n"
    "ldp d12,d13,[sp,#128]\nldp d14,d15,[sp,#144]\nadd sp,sp,#160\nret\n.size emu_swap,.-emu_swap\n");
#endif
#endif

static void switch_to(void **save, void *load, void *tsan) {
  TSAN(__tsan_switch_to_fiber(tsan, 1));  // 1: this switch orders nothing
  (void)tsan;
  swap_stacks(save, load);
}
static void park() { switch_to(&self()->sp, S->sp, S->tsan); }  // give the processor back to the scheduler

static int where(char *p, size_t n, const Thread *t) {
  const uint3 &b = emu_context.block, i = t ? t->index : uint3{0, 0, 0};
  return snprintf(p, n, "kernel '%s' block (%u,%u,%u) thread (%u,%u,%u)", S->kernel, b.x, b.y, b.z, i.x, i.y, i.z);
}
[[noreturn]] __attribute__((format(printf, 1, 2))) static void fail(const char *format, ...) {
  int n = where(S->error, sizeof S->error, self());
  n += snprintf(S->error + n, sizeof S->error - n, ": ");
  va_list list;
  va_start(list, format);
  vsnprintf(S->error + n, sizeof S->error - n, format, list);
  va_end(list);
  S->abort = true;
  for (;;) park();
}

// ---- collectives ----------------------------------------------------------------------------------------------------
static void answer_shuffle(Warp &w, u32 group, Kind kind) {
  each(w, group, [&](Thread &t) {
    const int first = t.lane & ~(t.width - 1), last = first + t.width - 1;
    int source = kind == INDEX ? first | (t.arg & (t.width - 1)) : kind == UP ? t.lane - t.arg
               : kind == DOWN ? t.lane + t.arg : t.lane ^ t.arg;
    if (source > last || (kind == UP && source < first)) source = t.lane;
    const bool there = group >> source & 1;
    if (!there && S->config.strict)
      fail("%s at %s:%d: lane %d reads lane %d, which does not take part", t.what, t.file, t.line, t.lane, source);
    t.result = there ? w.threads[source].value : POISON;  // undefined on the device
  });
}
static void answer(Warp &w, u32 group, Kind kind) {
  Thread &first = w.threads[__builtin_ctz(group)];
  u64 all = (u64)group << 32;
  switch (kind) {
    case SYNC: break;
    case VOTE:
      each(w, group, [&](Thread &t) { all |= t.value ? bit(&t) : 0; });
      each(w, group, [&](Thread &t) { t.result = all; });
      break;
    case MATCH:
      each(w, group, [&](Thread &t) {
        t.result = all;
        each(w, group, [&](Thread &o) { t.result |= o.value == t.value ? bit(&o) : 0; });
      });
      break;
    case REDUCE:
      all = first.value;
      each(w, group & (group - 1), [&](Thread &t) { all = t.fold(all, t.value); });
      each(w, group, [&](Thread &t) { t.result = all; });
      break;
    default: answer_shuffle(w, group, kind);
  }
}
// Do all live lanes of `mask` wait in the same collective? Then answer them.
static bool finish(Warp &w, u32 mask, Kind kind, Fold fold) {
  const u32 group = mask & w.live;
  if (!group || (w.waiting & group) != group) return false;
  Thread &first = w.threads[__builtin_ctz(group)];
  bool same = true;
  each(w, group, [&](Thread &t) { same = same && t.mask == mask && t.kind == kind && t.fold == fold; });
  if (!same) return false;
  if (S->config.strict) {
    each(w, group, [&](Thread &t) {
      if (t.line != first.line)
        fail("%s reached from different lines: lane %d at %s:%d, lane %d at line %d", t.what, first.lane, first.file,
             first.line, t.lane, t.line);
    });
    if (const u32 gone = mask & w.all & ~w.live)
      fail("%s at %s:%d mask 0x%08x: lanes 0x%08x have exited", first.what, first.file, first.line, mask, gone);
  }
  answer(w, group, kind);
#if defined(EMU_TSAN)
  if (kind == SYNC) {
    Thread *last = self();
    char *done = &last->done[last->woke++ % 2];
    each(w, group, [&](Thread &t) { __tsan_acquire(&t.arrived), t.joined = done; });
    __tsan_release(done);
  }
#endif
  w.waiting &= ~group;
  w.ready |= group;
  return true;
}
static void release_barrier() {
  Thread *first = nullptr;
  for (u32 i = 0; i < S->threads; i++) {
    Thread *t = B->thread + i;
    if (!alive(t)) continue;
    if (!first) first = t;
    if (t->line != first->line || strcmp(t->file, first->file))
      fail("divergent __syncthreads(): thread %d waits at %s:%d, thread %d at %s:%d", first->number, first->file,
           first->line, t->number, t->file, t->line);
  }
  if (S->config.strict && B->live != S->threads)
    fail("%u of %u threads had exited before __syncthreads() at %s:%d", S->threads - B->live, S->threads, first->file,
         first->line);
  B->meetings++;
  B->result = B->counts;
  B->counts = {0, 1};
  B->at_barrier = 0;
  for (u32 i = 0; i < S->warps; i++) B->warp[i].ready = B->warp[i].live;
}
// Do all live threads of all blocks of the cluster wait at its barrier? Then they go on.
static void release_cluster() {
  Thread *first = nullptr;
  u32 waiting = 0;
  for (u32 k = 0; k < S->cluster; k++) {
    waiting += S->blocks[k]->at_cluster;
    if (S->blocks[k]->at_cluster != S->blocks[k]->live) return;
  }
  if (!waiting) return;
  S->meetings++;
  for (u32 k = 0; k < S->cluster; k++) {
    Block *b = S->blocks[k];
    for (u32 i = 0; i < S->threads; i++) {
      Thread *t = b->thread + i;
      if (!(t->warp->live & bit(t))) {
        if (S->config.strict) fail("a thread of block %u had exited before the barrier of its cluster", k);
        continue;
      }
      if (!first) first = t;
      if (t->line != first->line || strcmp(t->file, first->file))
        fail("divergent barrier of a cluster: one thread waits at %s:%d, another one at %s:%d", first->file,
             first->line, t->file, t->line);
    }
    b->at_cluster = 0;
    for (u32 i = 0; i < S->warps; i++) b->warp[i].ready = b->warp[i].live;
  }
}
static void fiber_main() {
  TSAN(__tsan_acquire(&S->error));
  S->call(S->closure);
  TSAN(__tsan_release(&S->kernel));
  Thread *t = self();
  Warp &w = *t->warp;
  w.live &= ~bit(t);
  B->live--;
  for (u32 m = w.waiting; m; m &= m - 1) {  // lanes may have waited for this one
    Thread &o = w.threads[__builtin_ctz(m)];
    if (finish(w, o.mask, o.kind, o.fold)) break;
  }
  if (B->live && B->at_barrier == B->live) release_barrier();
  release_cluster();
  park();  // never comes back
}

// ---- scheduler ------------------------------------------------------------------------------------------------------
static void prepare(Thread *t) {
#if defined(EMU_UCONTEXT)
  if (!t->sp) t->sp = calloc(1, sizeof(ucontext_t));
  ucontext_t *u = (ucontext_t *)t->sp;
  getcontext(u);
  u->uc_stack.ss_sp = t->stack;
  u->uc_stack.ss_size = STACK;
  makecontext(u, fiber_main, 0);
#else
  void **top = (void **)(t->stack + STACK - 64 * (t->number % 61));  // spread over cache sets
#if defined(__x86_64__)
  memset(top - 8, 0, 64);
  top[-2] = (void *)fiber_main;
  t->sp = top - 8;
#else
  memset(top - 20, 0, 160);
  top[-20 + 11] = (void *)fiber_main;
  t->sp = top - 20;
#endif
#endif
  TSAN(if (!t->tsan) t->tsan = __tsan_create_fiber(0));
}
static void poison(char *a, char *b) {
  for (; a < b && ((uintptr_t)a & 7); a++) *(volatile char *)a = (char)POISON;
  for (; a + 8 <= b; a += 8) *(volatile u64 *)a = POISON;
  for (; a < b; a++) *(volatile char *)a = (char)POISON;
}
static void report_deadlock() {
  for (u32 k = 0; k < S->cluster && !B->live; k++) B = S->blocks[k];  // one that has not ended
  emu_context.block = B->index;
  char *e = S->error;
  const size_t size = sizeof S->error;
  bool seen[MAX_THREADS] = {};
  int n = where(e, size, nullptr);
  n += snprintf(e + n, size - n, ": deadlock, %u of %u threads exited;", S->threads - B->live, S->threads);
  for (u32 i = 0; i < S->threads && n < (int)size - 300; i++) {
    Thread *t = B->thread + i;
    if (seen[i] || !alive(t)) continue;
    u32 count = 0;
    for (u32 j = i; j < S->threads; j++) {
      Thread *o = B->thread + j;
      if (!alive(o) || o->waits != t->waits || o->line != t->line || o->mask != t->mask || o->what != t->what) continue;
      seen[j] = true;
      count++;
    }
    n += snprintf(e + n, size - n, " %u thread(s) from %u wait in %s at %s:%d", count, i, t->what, t->file, t->line);
    if (t->waits == 'w') n += snprintf(e + n, size - n, " mask 0x%08x", t->mask);
    n += snprintf(e + n, size - n, ";");
  }
  S->abort = true;
}
static void start_block() {
  const u32 nx = emu_context.block_size.x, ny = emu_context.block_size.y;
  B->live = S->threads;
  B->at_barrier = B->at_cluster = 0;
  B->counts = {0, 1};
  for (u32 i = 0; i < S->warps; i++) {
    const u32 lanes = S->threads - 32 * i, mask = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    B->warp[i] = Warp{B->thread + 32 * i, mask, mask, mask, 0, 0, 0};
  }
  for (u32 i = 0; i < S->threads; i++) {
    Thread *t = B->thread + i;
    t->warp = B->warp + i / 32;
    t->lane = i % 32;
    t->number = i;
    t->index = uint3{i % nx, i / nx % ny, i / (nx * ny)};
    t->waits = 0;
    prepare(t);
  }
}
// Runs the threads of the present block as far as they come, or (in a cluster, with a seed) a part of that way; whether
// any of them moved.
static bool run_block() {
  const u32 seed = S->config.seed;
  bool moved = false;
  for (u32 turns = seed && S->cluster > 1 ? 1 + random_number() % 4 : ~0u; B->live && turns; turns--) {
    bool progress = false;
    for (u32 i = 0, r = seed ? random_number() % S->warps : 0; i < S->warps; i++) {
      Warp &w = B->warp[(i + r) % S->warps];
      for (int left = seed ? 1 + random_number() % 64 : 1 << 30; w.ready && left; left--) {
        u32 m = w.ready;
        if (seed)
          for (u32 k = random_number() % __builtin_popcount(m); k; k--) m &= m - 1;
        w.ready &= ~(m & -m);
        progress = true;
        Thread *t = w.threads + __builtin_ctz(m);
        emu_context.self = t;
        switch_to(&S->sp, t->sp, t->tsan);
        if (S->abort) return true;
      }
      w.ready |= w.later;
      w.later = 0;
      if (!w.ready && w.active) {  // nobody else can move: lanes at the same __activemask() are together
        u32 group = 0;
        const int line = w.threads[__builtin_ctz(w.active)].line;
        each(w, w.active, [&](Thread &t) { group |= t.line == line ? bit(&t) : 0; });
        each(w, group, [&](Thread &t) { t.result = group; });
        w.active &= ~group;
        w.ready |= group;
        progress = true;
      }
    }
    moved |= progress;
    if (!progress) break;
  }
  return moved;
}
static char *dynamic_of(const Block *b) { return b->dynamic + DYNAMIC - ((S->config.shared_bytes + 15) & ~15u); }
static char *fixed_of(const Block *b) { return b->fixed + (uintptr_t)S->shared_begin % PAGE; }  // aligned as the library's
static size_t fixed_bytes() { return S->shared_end - S->shared_begin; }
static void enter(Block *b) {
  B = b;
  emu_context.block = b->index;
  emu_context.dynamic_shared = dynamic_of(b);
  emu_context.fixed_shared = fixed_of(b) - S->shared_begin;
}
static void renew(char *begin, char *end) {  // whole groups of 8 bytes
  poison(begin, end);
  TSAN(__tsan_java_alloc((uintptr_t)begin & ~7ull, ((uintptr_t)end - ((uintptr_t)begin & ~7ull) + 7) & ~7ull));
  TSAN(__tsan_java_free((uintptr_t)begin & ~7ull, ((uintptr_t)end - ((uintptr_t)begin & ~7ull) + 7) & ~7ull));
}
static void run_cluster() {
  u32 left = S->cluster;
  for (u32 idle = 0; left && !S->abort;) {
    const u32 r = S->config.seed ? random_number() % S->cluster : 0;
    bool moved = false;
    for (u32 k = 0; k < S->cluster && !S->abort; k++) {
      Block *b = S->blocks[(k + r) % S->cluster];
      if (!b->live) continue;
      enter(b);
      moved |= run_block();
      if (!b->live && !S->abort) {  // who reads its memory from now on finds nothing
        left--;
        if (S->cluster > 1) poison(fixed_of(b), fixed_of(b) + fixed_bytes()), poison(dynamic_of(b), b->dynamic + DYNAMIC);
      }
    }
    if (!moved && !S->abort && ++idle > 1) report_deadlock();
    else if (moved) idle = 0;
  }
}

// ---- faults and endless loops ---------------------------------------------------------------------------------------
static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGVTALRM};
static struct sigaction old_actions[6];
static const char *meaning(int sig, const char *address) {
  const char *stack = self() ? self()->stack : nullptr;
  if (stack && address < stack && address >= stack - PAGE) return "stack overflow";
  if (sig == SIGILL || sig == SIGTRAP)
    return "undefined behaviour: misaligned pointer, index outside its array, shift too wide, signed overflow, "
           "or float out of an integer's range";
  return sig == SIGFPE ? "integer division by zero" : "illegal memory access";
}
static void on_signal(int sig, siginfo_t *info, void *) {
  if (!S->running) {
    signal(sig, SIG_DFL);
    return;
  }
  if (!pthread_equal(pthread_self(), S->owner)) {  // the timer's signal may reach another thread of the process
    if (sig == SIGVTALRM) pthread_kill(S->owner, sig);
    else signal(sig, SIG_DFL);
    return;
  }
  S->frame_count = backtrace(S->frames, FRAMES);
  int n = where(S->error, sizeof S->error, self());
  if (sig == SIGVTALRM)
    snprintf(S->error + n, sizeof S->error - n, ": timeout after %u ms of CPU time", S->config.timeout_ms);
  else
    snprintf(S->error + n, sizeof S->error - n, ": %s (address %p)", meaning(sig, (char *)info->si_addr), info->si_addr);
  siglongjmp(S->escape, 1);
}
static void set_timer(u32 ms) {
  itimerval t = {};
  t.it_value.tv_sec = ms / 1000;
  t.it_value.tv_usec = ms % 1000 * 1000;
  setitimer(ITIMER_VIRTUAL, &t, nullptr);
}
static void catch_signals() {
#if !defined(EMU_TSAN)
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int i = 0; i < 6; i++) sigaction(SIGNALS[i], &action, &old_actions[i]);
  set_timer(S->config.timeout_ms);
#endif
}
static void restore_signals() {
#if !defined(EMU_TSAN)
  set_timer(0);
  for (int i = 0; i < 6; i++) sigaction(SIGNALS[i], &old_actions[i], nullptr);
#endif
}

// ---- one launch -----------------------------------------------------------------------------------------------------
static char *pages(size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) perror("emulator: mmap"), abort();
  return (char *)p;
}
static char *guarded(size_t bytes) {  // with an inaccessible page on either side
  char *p = pages(bytes + 2 * PAGE);
  mprotect(p, PAGE, PROT_NONE);
  mprotect(p + PAGE + bytes, PAGE, PROT_NONE);
  return p + PAGE;
}
static Block *make_block() {
  Block *b = (Block *)pages(sizeof(Block));
  TSAN(AnnotateBenignRaceSized(__FILE__, __LINE__, b, sizeof(Block), "the emulator's own state"));
  char *stack = pages((size_t)MAX_THREADS * (STACK + PAGE));
  for (Thread &t : b->thread) {
    mprotect(stack, PAGE, PROT_NONE);
    t.stack = stack + PAGE;
    stack += STACK + PAGE;
  }
  b->dynamic = guarded(DYNAMIC);
  b->fixed = pages(DYNAMIC + PAGE);
  return b;
}
static void setup() {
  if (!S) {
    S = (State *)pages(sizeof(State));
    TSAN(AnnotateBenignRaceSized(__FILE__, __LINE__, S, sizeof(State), "the emulator's own state"));
    TSAN(AnnotateBenignRaceSized(__FILE__, __LINE__, &emu_context, sizeof emu_context, "the emulator's own state"));
    TSAN(__tsan_java_init(8, 8));  // a heap of nothing: of what lies in it every report would look for the owner
#if defined(EMU_UCONTEXT)
    S->sp = calloc(1, sizeof(ucontext_t));
#endif
    backtrace(S->frames, 1);  // loads its library now, not in a signal handler
  }
#if !defined(EMU_TSAN)
  static thread_local char *signal_stack;  // a fiber whose stack overflows has none left for the handler
  if (!signal_stack) {
    stack_t s = {};
    s.ss_sp = signal_stack = pages(65536);
    s.ss_size = 65536;
    sigaltstack(&s, nullptr);
  }
#endif
}
}  // namespace emu

using namespace emu;

extern "C" const char *emu_error() { return S ? S->error : ""; }
extern "C" int emu_frames(void **out) {
  memcpy(out, S->frames, S->frame_count * sizeof *out);
  return S->frame_count;
}
void emu_fail(const char *message) { fail("%s", message); }

u64 emu_meet(const char *what, Kind kind, u32 mask, u64 value, int arg, int width, Fold fold, const char *file, int line) {
  Thread *t = self();
  Warp &w = *t->warp;
  if (!(mask & bit(t))) fail("%s at %s:%d: the calling lane %d is not in mask 0x%08x", what, file, line, t->lane, mask);
  t->what = what, t->kind = kind, t->mask = mask, t->value = value, t->arg = arg, t->width = width, t->fold = fold;
  t->file = file, t->line = line, t->waits = 'w';
  if (kind == SYNC) TSAN(__tsan_release(&t->arrived));
  w.waiting |= bit(t);
  if (finish(w, mask, kind, fold) && !S->config.seed) w.ready &= ~bit(t);  // the last to come goes on
  else park();
  if (kind == SYNC) TSAN(__tsan_acquire(t->joined));
  t->waits = 0;
  return t->result;
}
void emu_cluster_barrier(const char *file, int line) {
  Thread *t = self();
  t->what = "the barrier of the cluster", t->file = file, t->line = line, t->mask = 0, t->waits = 'c';
  char *meeting = &S->barriers[S->meetings % 2];
  TSAN(__tsan_release(meeting));
  B->at_cluster++;
  release_cluster();
  park();
  TSAN(__tsan_acquire(meeting));
  (void)meeting;
  t->waits = 0;
}
u32 emu_cluster_rank() {
  for (u32 k = 0; k < S->cluster; k++)
    if (S->blocks[k] == B) return k;
  return 0;
}
void *emu_peer(void *p, u32 rank) {
  char *at = (char *)p, *begin = emu_context.dynamic_shared, *end = B->dynamic + DYNAMIC;
  const bool fixed = at >= fixed_of(B) && at < fixed_of(B) + fixed_bytes();
  if (!fixed && !(at >= begin && at < end)) fail("the address of a peer's memory is asked for, of what is not shared");
  if (rank >= S->cluster) fail("block %u of a cluster of %u", rank, S->cluster);
  Block *b = S->blocks[rank];
  if (!b->live) fail("the shared memory of block %u of the cluster is asked for, which has exited", rank);
  return fixed ? fixed_of(b) + (at - fixed_of(B)) : b->dynamic + (at - B->dynamic);
}
EmuCounts emu_barrier(int predicate, const char *file, int line) {
  Thread *t = self();
  t->what = "__syncthreads", t->file = file, t->line = line, t->mask = 0, t->waits = 'b';
  B->counts.count += predicate;
  B->counts.all &= predicate;
  char *meeting = &B->barriers[B->meetings % 2];
  TSAN(__tsan_release(meeting));
  if (++B->at_barrier == B->live) {
    release_barrier();
    if (!S->config.seed) t->warp->ready &= ~bit(t);
    else park();
  } else {
    park();
  }
  TSAN(__tsan_acquire(meeting));
  (void)meeting;
  t->waits = 0;
  return B->result;
}
u32 emu_activemask(const char *file, int line) {
  Thread *t = self();
  t->what = "__activemask", t->waits = 'a', t->file = file, t->line = line;
  t->warp->active |= bit(t);
  park();
  t->waits = 0;
  return (u32)t->result;
}
// What a thread did before its fence is ordered before what another one does after a later fence.
void emu_fence(int of_block) {
  TSAN(__tsan_acquire(of_block ? &B->fences : &S->fences));
  TSAN(__tsan_release(of_block ? &B->fences : &S->fences));
  (void)of_block;
  emu_tick();
}
void emu_yield() {
  self()->warp->later |= bit(self());
  park();
}
void emu_tick() {
  if (++S->spins % 64 == 0 || (S->config.seed && random_number() % 4 == 0)) emu_yield();
}

int emu_launch(const char *kernel, const Config *c, void (*call)(void *), void *closure, char *shared_begin, char *shared_end) {
  setup();
  S->kernel = kernel, S->config = *c, S->call = call, S->closure = closure, S->owner = pthread_self();
  S->random = c->seed * 2654435761u | 1;
  S->frame_count = 0;
  S->abort = false;
  const u32 *g = c->grid, *b = c->block;
  const u64 blocks = (u64)g[0] * g[1] * g[2], threads = (u64)b[0] * b[1] * b[2];
  if (!blocks || !threads || threads > MAX_THREADS || b[2] > 64 || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535 ||
      c->shared_bytes > 227 * 1024) {
    snprintf(S->error, sizeof S->error, "kernel '%s': invalid launch configuration", kernel);
    return 1;
  }
  const u32 cluster = S->cluster = c->cluster ? c->cluster : 1;
  if (cluster > MAX_CLUSTER || blocks % cluster || (cluster > 1 && g[0] % cluster) || shared_end - shared_begin > DYNAMIC) {
    snprintf(S->error, sizeof S->error, "kernel '%s': invalid launch configuration: cluster of %u", kernel, cluster);
    return 1;
  }
  for (u32 k = 0; k < TURNS * cluster; k++)
    if (!S->made[k]) S->made[k] = make_block();
  S->shared_begin = shared_begin, S->shared_end = shared_end;
  emu_context = {nullptr, {0, 0, 0}, {b[0], b[1], b[2]}, {g[0], g[1], g[2]}, nullptr, 0};
  S->threads = (u32)threads;
  S->warps = (S->threads + 31) / 32;
  TSAN(S->tsan = __tsan_get_current_fiber());
  TSAN(__tsan_release(&S->error));
  catch_signals();
  if (sigsetjmp(S->escape, 1)) S->abort = true;
  S->running = true;
  const u64 clusters = blocks / cluster, rotation = c->seed ? (u64)random_number() % clusters : 0;
  for (u64 k = 0; k < clusters && !S->abort; k++) {
    const u64 first = (k + rotation) % clusters * cluster;
    for (u32 r = 0; r < cluster; r++) {
      const u64 i = first + r;
      B = S->blocks[r] = S->made[k % TURNS * cluster + r];
      B->index = uint3{(u32)(i % g[0]), (u32)(i / g[0] % g[1]), (u32)(i / ((u64)g[0] * g[1]))};
      renew(fixed_of(B), fixed_of(B) + fixed_bytes());
      renew(dynamic_of(B), B->dynamic + DYNAMIC);
      start_block();
    }
    run_cluster();
  }
  S->running = false;
  emu_context.self = nullptr;
  TSAN(__tsan_acquire(&S->kernel));
  restore_signals();
  return S->abort;
}
