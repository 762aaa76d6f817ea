/* The only places where a Lua error is raised by native code, or passes through it. Rust returns
   with the error's value on the stack, all Rust frames are gone by then, and only these C frames
   are jumped over. */
#include <stddef.h>
#include <stdint.h>

/* What of LuaJIT's own data is read and written in place here, as layout.rs has it and checks it at
   boot: a call of the C interface takes as long as all that is done with it. */
typedef union Slot { uint64_t bits; double number; } Slot;

typedef struct lua_State {
  uint64_t next;
  uint8_t marked, kind, unused, status;
  void *global, *gray;
  Slot *base, *top, *last;
} lua_State;

typedef struct Function {
  uint64_t header[6];
  Slot upvalues[5];
} Function;

#define POINTER ((1ull << 47) - 1)
#define THREAD_KIND (~6ull << 47)
#define TRUE_BITS (~(2ull << 47))

typedef struct lua_Debug lua_Debug;
int lua_checkstack(lua_State *L, int n);
int lua_error(lua_State *L);
int lua_gettop(lua_State *L);
void lua_call(lua_State *L, int n, int results);
void lua_insert(lua_State *L, int i);
void lua_pushboolean(lua_State *L, int on);
void lua_pushstring(lua_State *L, const char *text);
void lua_pushvalue(lua_State *L, int i);
int lua_resume(lua_State *L, int n);
void lua_settop(lua_State *L, int i);
int lua_status(lua_State *L);
int lua_toboolean(lua_State *L, int i);
void lua_xmove(lua_State *from, lua_State *to, int n);
int script_call(lua_State *L);        /* cx.rs: the number of results, or -1 and an error value */
/* interrupt.rs: 1 and an error value, or 0 to go on */
int script_interrupted(lua_State *L, lua_Debug *ar);

/* A lua_CFunction returns int; but LuaJIT's interpreter computes with all 64 bits of the register,
   of which an int defines only the lower half (optimised Rust leaves other things in the upper
   one). Hence size_t. */
size_t script_entry(lua_State *L) {
  int n = script_call(L);
  return n >= 0 ? (size_t)n : (size_t)lua_error(L);
}

void script_hook(lua_State *L, lua_Debug *ar) {
  if (script_interrupted(L, ar)) lua_error(L);
}

/* Coroutines. In C, and not in the prelude: compiled Lua can leave a loop for a C function and come
   back, but not for a call whose results, however many there are, are the next call's arguments. */
/* FREE slots are sure to be there for what a C function leaves. */
enum { YIELDED = 1, ALL = -1, UPVALUES = -10002, FREE = 16 };
/* The upvalues of both functions. A wrapped coroutine is the last one's; the bits of the first are
   the least address that they may work at. */
enum { RESUME = UPVALUES - 2, NOTE = UPVALUES - 3, REFUSE = UPVALUES - 4, THREAD = UPVALUES - 5 };

static const Slot *upvalues(const lua_State *L) {
  return ((const Function *)(uintptr_t)(L->base[-2].bits & POINTER))->upvalues;
}

static int is_thread(const Slot *slot) { return (slot->bits & ~POINTER) == THREAD_KIND; }

static lua_State *thread_in(const Slot *slot) {
  return (lua_State *)(uintptr_t)(slot->bits & POINTER);
}

/* Whether the native stack, which coroutines inside each other share and LuaJIT does not watch, has
   room for another one. */
static int has_room(const lua_State *L) {
  char here;
  return (uintptr_t)&here > (uintptr_t)upvalues(L)[0].bits;
}

/* Has the coroutine at `thread` refused: it is none, or it would lie too deep inside others. */
static void refuse(lua_State *L, int thread) {
  if (lua_gettop(L) == 0) lua_settop(L, 1);
  lua_pushvalue(L, REFUSE);
  lua_pushvalue(L, thread);
  lua_call(L, 1, 0);
}

/* Notes the death of the coroutine at `thread`, whose error is on top: for the reports. */
static int died(lua_State *L, int thread) {
  lua_pushvalue(L, NOTE);
  lua_pushvalue(L, thread);
  lua_pushvalue(L, -3);
  lua_call(L, 2, 0);
  return -1;
}

static int failed(lua_State *L, const char *words) {
  lua_pushstring(L, words);
  return -1;
}

/* Begins a coroutine, or says why it cannot go on: Lua's own function knows. As `go_on`. */
static int begin(lua_State *L, int thread, int n) {
  int base = lua_gettop(L) - n;
  lua_pushvalue(L, RESUME);
  lua_insert(L, base + 1);
  lua_pushvalue(L, thread);
  lua_insert(L, base + 2);
  lua_call(L, n + 1, ALL);
  if (lua_toboolean(L, base + 1)) return lua_gettop(L) - base;
  lua_settop(L, base + 2);
  return died(L, thread);
}

/* What a coroutine that was resumed left, as `go_on`. */
static int taken(lua_State *L, int thread, lua_State *coroutine, int status) {
  int n;
  if (status > YIELDED) {
    lua_xmove(coroutine, L, 1);
    return died(L, thread);
  }
  n = lua_gettop(coroutine);
  if (!lua_checkstack(L, n + 1)) {
    lua_settop(coroutine, 0);
    return failed(L, "too many results to resume");
  }
  lua_pushboolean(L, 1);
  lua_xmove(coroutine, L, n);
  return n + 1;
}

/* Resumes the coroutine at `thread` with the `n` topmost values: the number of values that this
   leaves on top, `true` and its results; or -1, and its error there. */
static int go_on(lua_State *L, int thread, lua_State *coroutine, int n) {
  if (lua_status(coroutine) != YIELDED) return begin(L, thread, n);
  if (!lua_checkstack(coroutine, n)) return failed(L, "too many arguments to resume");
  lua_xmove(L, coroutine, n);
  return taken(L, thread, coroutine, lua_resume(coroutine, n));
}

/* The usual resume, in place. Whether it is one: the coroutine has yielded, and takes the `n`
   topmost values. */
static inline int is_usual(const lua_State *coroutine, ptrdiff_t n) {
  return coroutine->status == YIELDED && n < FREE && coroutine->last - coroutine->top > n;
}

/* Moves the values and resumes it: its status. */
static inline int pass(lua_State *L, lua_State *coroutine, ptrdiff_t n) {
  const Slot *from = L->top -= n;
  for (ptrdiff_t i = 0; i < n; i++) coroutine->top[i] = from[i];
  coroutine->top += n;
  return lua_resume(coroutine, (int)n);
}

/* Whether its results can be moved in place, behind `true`. */
static inline int has_few(const lua_State *L, const lua_State *coroutine, int status) {
  return status <= YIELDED && L->last - L->top > coroutine->top - coroutine->base + 1;
}

/* Moves them: how many. */
static inline ptrdiff_t take(lua_State *L, lua_State *coroutine) {
  ptrdiff_t n = coroutine->top - coroutine->base;
  for (ptrdiff_t i = 0; i < n; i++) L->top[i] = coroutine->base[i];
  L->top += n;
  coroutine->top = coroutine->base;
  return n;
}

static size_t given_back(lua_State *L, int n) {
  if (n >= 0) return (size_t)n;
  lua_pushboolean(L, 0);
  lua_insert(L, -2);
  return 2;
}

/* coroutine.resume */
size_t script_resume(lua_State *L) {
  lua_State *coroutine;
  ptrdiff_t n = L->top - L->base - 1;
  if (n < 0 || !is_thread(L->base) || !has_room(L)) refuse(L, 1);
  coroutine = thread_in(L->base);
  if (is_usual(coroutine, n)) {
    int status = pass(L, coroutine, n);
    if (!has_few(L, coroutine, status)) return given_back(L, taken(L, 1, coroutine, status));
    (L->top++)->bits = TRUE_BITS;
    return (size_t)take(L, coroutine) + 1;
  }
  return given_back(L, go_on(L, 1, coroutine, (int)n));
}

/* What coroutine.wrap gives. */
size_t script_wrapped(lua_State *L) {
  lua_State *coroutine = thread_in(&upvalues(L)[4]);
  ptrdiff_t n = L->top - L->base;
  int left;
  if (!has_room(L)) refuse(L, THREAD);
  if (is_usual(coroutine, n)) {
    int status = pass(L, coroutine, n);
    if (has_few(L, coroutine, status)) return (size_t)take(L, coroutine);
    left = taken(L, THREAD, coroutine, status);
  } else {
    left = go_on(L, THREAD, coroutine, (int)n);
  }
  return left >= 0 ? (size_t)left - 1 : (size_t)lua_error(L);
}
