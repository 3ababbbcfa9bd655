// Runs the blocks of a kernel one after the other; the threads of a block are fibers on one OS thread, so atomics are
// plain operations and every run with the same seed is identical. Warp collectives and barriers are rendezvous: what
// cannot meet is reported (who waits where), it never hangs. A seed shuffles the order of lanes and warps and rotates
// the order of blocks. Compiled once; kernels (cuda_emu.h) are libraries that link against it.
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
extern "C" void AnnotateBenignRaceSized(const char *, int, const volatile void *, size_t, const char *);
#define TSAN(x) x
#else
#define TSAN(x) ((void)0)
#endif
#if !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__ELF__)
#define EMU_UCONTEXT 1
#endif
#if defined(EMU_UCONTEXT)
#include <ucontext.h>
#endif

emu::Context emu_context;

namespace emu {
enum { MAX_THREADS = 1024, STACK = 256 << 10, PAGE = 4096, DYNAMIC = 256 << 10, FRAMES = 24 };
struct Warp;
struct Thread : Self {
  void *sp;
  Warp *warp;
  int lane;
  char waits;  // 0: runs, 'w': in a warp collective, 'b': at the barrier, 'a': in __activemask
  Kind kind;
  u32 mask;
  Fold fold;
  u64 value, result;
  int arg, width, line, number;
  const char *what, *file;
  char *stack;
  void *tsan;
};
struct Warp { Thread *threads; u32 all, live, ready, later, waiting, active; };
struct State {
  void *sp, *tsan;
  Config config;
  char *dynamic;
  u32 threads, live, at_barrier, warps, random, spins;
  EmuCounts counts, result;
  bool abort, running, ordered;
  const char *kernel;
  void (*call)(void *);
  void *closure;
  pthread_t owner;
  sigjmp_buf escape;
  char error[4096];
  void *frames[FRAMES];  // where a signal struck: return addresses, innermost first
  int frame_count;
  Thread thread[MAX_THREADS];
  Warp warp[MAX_THREADS / 32];
};
static State *S;
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
  w.waiting &= ~group;
  w.ready |= group;
  return true;
}
static void release_barrier() {
  Thread *first = nullptr;
  for (u32 i = 0; i < S->threads; i++) {
    Thread *t = S->thread + i;
    if (!alive(t)) continue;
    if (!first) first = t;
    if (t->line != first->line || strcmp(t->file, first->file))
      fail("divergent __syncthreads(): thread %d waits at %s:%d, thread %d at %s:%d", first->number, first->file,
           first->line, t->number, t->file, t->line);
  }
  if (S->config.strict && S->live != S->threads)
    fail("%u of %u threads had exited before __syncthreads() at %s:%d", S->threads - S->live, S->threads, first->file,
         first->line);
  S->result = S->counts;
  S->counts = {0, 1};
  S->at_barrier = 0;
  for (u32 i = 0; i < S->warps; i++) S->warp[i].ready = S->warp[i].live;
}
static void fiber_main() {
  TSAN(__tsan_acquire(&S->error));
  S->call(S->closure);
  TSAN(__tsan_release(&S->kernel));
  Thread *t = self();
  Warp &w = *t->warp;
  w.live &= ~bit(t);
  S->live--;
  for (u32 m = w.waiting; m; m &= m - 1) {  // lanes may have waited for this one
    Thread &o = w.threads[__builtin_ctz(m)];
    if (finish(w, o.mask, o.kind, o.fold)) break;
  }
  if (S->live && S->at_barrier == S->live) release_barrier();
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
  char *e = S->error;
  const size_t size = sizeof S->error;
  bool seen[MAX_THREADS] = {};
  int n = where(e, size, nullptr);
  n += snprintf(e + n, size - n, ": deadlock, %u of %u threads exited;", S->threads - S->live, S->threads);
  for (u32 i = 0; i < S->threads && n < (int)size - 300; i++) {
    Thread *t = S->thread + i;
    if (seen[i] || !alive(t)) continue;
    u32 count = 0;
    for (u32 j = i; j < S->threads; j++) {
      Thread *o = S->thread + j;
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
  S->live = S->threads;
  S->at_barrier = 0;
  S->counts = {0, 1};
  for (u32 i = 0; i < S->warps; i++) {
    const u32 lanes = S->threads - 32 * i, mask = lanes >= 32 ? ~0u : (1u << lanes) - 1;
    S->warp[i] = Warp{S->thread + 32 * i, mask, mask, mask, 0, 0, 0};
  }
  for (u32 i = 0; i < S->threads; i++) {
    Thread *t = S->thread + i;
    t->warp = S->warp + i / 32;
    t->lane = i % 32;
    t->number = i;
    t->index = uint3{i % nx, i / nx % ny, i / (nx * ny)};
    t->waits = 0;
    prepare(t);
  }
}
static void run_block() {
  const u32 seed = S->config.seed;
  start_block();
  while (S->live) {
    bool progress = false;
    for (u32 i = 0, r = seed ? random_number() % S->warps : 0; i < S->warps; i++) {
      Warp &w = S->warp[(i + r) % S->warps];
      for (int left = seed ? 1 + random_number() % 64 : 1 << 30; w.ready && left; left--) {
        u32 m = w.ready;
        if (seed)
          for (u32 k = random_number() % __builtin_popcount(m); k; k--) m &= m - 1;
        w.ready &= ~(m & -m);
        progress = true;
        Thread *t = w.threads + __builtin_ctz(m);
        emu_context.self = t;
        switch_to(&S->sp, t->sp, t->tsan);
        if (S->abort) return;
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
    if (!progress && S->live) return report_deadlock();
  }
}

// ---- faults and endless loops ---------------------------------------------------------------------------------------
static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGVTALRM};
static struct sigaction old_actions[6];
static const char *meaning(int sig, const char *address) {
  const char *stack = self() ? self()->stack : nullptr;
  if (stack && address < stack && address >= stack - PAGE) return "stack overflow";
  if (sig == SIGILL || sig == SIGTRAP)
    return "undefined behaviour: misaligned or null pointer, index outside its array, shift too wide, signed overflow, "
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
static void setup() {
  if (!S) {
    S = (State *)pages(sizeof(State));
    TSAN(AnnotateBenignRaceSized(__FILE__, __LINE__, S, sizeof(State), "the emulator's own state"));
    TSAN(AnnotateBenignRaceSized(__FILE__, __LINE__, &emu_context, sizeof emu_context, "the emulator's own state"));
    char *stack = pages((size_t)MAX_THREADS * (STACK + PAGE));
    for (Thread &t : S->thread) {
      mprotect(stack, PAGE, PROT_NONE);
      t.stack = stack + PAGE;
      stack += STACK + PAGE;
    }
    S->dynamic = guarded(DYNAMIC);
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
  if (kind == SYNC) TSAN(__tsan_release(&w));
  w.waiting |= bit(t);
  if (finish(w, mask, kind, fold) && !S->config.seed) w.ready &= ~bit(t);  // the last to come goes on
  else park();
  if (kind == SYNC) TSAN(__tsan_acquire(&w));
  t->waits = 0;
  return t->result;
}
EmuCounts emu_barrier(int predicate, const char *file, int line) {
  Thread *t = self();
  t->what = "__syncthreads", t->file = file, t->line = line, t->mask = 0, t->waits = 'b';
  S->counts.count += predicate;
  S->counts.all &= predicate;
  TSAN(__tsan_release(&S->at_barrier));
  if (++S->at_barrier == S->live) {
    release_barrier();
    if (!S->config.seed) t->warp->ready &= ~bit(t);
    else park();
  } else {
    park();
  }
  TSAN(__tsan_acquire(&S->at_barrier));
  t->waits = 0;
  return S->result;
}
u32 emu_activemask(const char *file, int line) {
  Thread *t = self();
  t->what = "__activemask", t->waits = 'a', t->file = file, t->line = line;
  t->warp->active |= bit(t);
  park();
  t->waits = 0;
  return (u32)t->result;
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
  char *dynamic_end = S->dynamic + DYNAMIC;
  emu_context = {nullptr, {0, 0, 0}, {b[0], b[1], b[2]}, {g[0], g[1], g[2]}, dynamic_end - ((c->shared_bytes + 15) & ~15u)};
  S->threads = (u32)threads;
  S->warps = (S->threads + 31) / 32;
  // Blocks reuse shared memory. Where a kernel has some, they are ordered, and only races inside a block are seen.
  S->ordered = shared_end - shared_begin > 64 || c->shared_bytes;
  TSAN(S->tsan = __tsan_get_current_fiber());
  TSAN(__tsan_release(&S->error));
  catch_signals();
  if (sigsetjmp(S->escape, 1)) S->abort = true;
  S->running = true;
  const u64 rotation = c->seed ? (u64)random_number() % blocks : 0;
  for (u64 k = 0; k < blocks && !S->abort; k++) {
    const u64 i = (k + rotation) % blocks;
    emu_context.block = uint3{(u32)(i % g[0]), (u32)(i / g[0] % g[1]), (u32)(i / ((u64)g[0] * g[1]))};
    poison(shared_begin, shared_end);
    poison(emu_context.dynamic_shared, dynamic_end);
    if (S->ordered) {
      TSAN(__tsan_acquire(&S->kernel));
      TSAN(__tsan_release(&S->error));
    }
    run_block();
  }
  S->running = false;
  emu_context.self = nullptr;
  TSAN(__tsan_acquire(&S->kernel));
  restore_signals();
  return S->abort;
}
