/* All places where native code raises a Lua error, or where a Lua error passes through native code.
   Rust returns with the error's value on the stack. All Rust frames are gone by then, and the error
   skips only these C frames. */
#include <stddef.h>
#include <stdint.h>

/* The parts of LuaJIT's own data that are read and written in place here. luajit_layout.rs has the
   same layout and checks it at boot. A single call of the C interface takes as long as all the work
   on these slots. */
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
/* context.rs: returns the number of results, or -1 and an error value */
int script_call(lua_State *L);
/* interrupt.rs: returns 1 and an error value, or 0 to continue */
int script_interrupted(lua_State *L, lua_Debug *ar);

/* A lua_CFunction returns int, but LuaJIT's interpreter computes with all 64 bits of the register.
   An int defines only the lower half (optimised Rust leaves other values in the upper half).
   Therefore these functions return size_t. */
size_t script_entry(lua_State *L) {
  int n = script_call(L);
  return n >= 0 ? (size_t)n : (size_t)lua_error(L);
}

void script_hook(lua_State *L, lua_Debug *ar) {
  if (script_interrupted(L, ar)) lua_error(L);
}

/* Coroutines. They are resumed in C and not in the prelude: compiled Lua can call a C function from
   a loop, but not a function whose variable number of results are the next call's arguments. */
/* FREE: number of stack slots that are always available for the results of a C function. */
enum { YIELDED = 1, ALL = -1, UPVALUES = -10002, FREE = 16 };
/* The upvalues of both functions. The last one is the wrapped coroutine. The bits of the first one
   are the lowest stack address at which the functions may run. */
enum { RESUME = UPVALUES - 2, NOTE = UPVALUES - 3, REFUSE = UPVALUES - 4, THREAD = UPVALUES - 5 };

static const Slot *upvalues(const lua_State *L) {
  return ((const Function *)(uintptr_t)(L->base[-2].bits & POINTER))->upvalues;
}

static int is_thread(const Slot *slot) { return (slot->bits & ~POINTER) == THREAD_KIND; }

static lua_State *thread_in(const Slot *slot) {
  return (lua_State *)(uintptr_t)(slot->bits & POINTER);
}

/* Returns true if the native stack has room for another coroutine. Nested coroutines share the
   native stack, and LuaJIT does not check it. */
static int has_room(const lua_State *L) {
  char here;
  return (uintptr_t)&here > (uintptr_t)upvalues(L)[0].bits;
}

/* Raises the error for the value at `thread`: it is not a coroutine, or it would be nested too
   deeply. */
static void refuse(lua_State *L, int thread) {
  if (lua_gettop(L) == 0) lua_settop(L, 1);
  lua_pushvalue(L, REFUSE);
  lua_pushvalue(L, thread);
  lua_call(L, 1, 0);
}

/* Records the death of the coroutine at `thread`, whose error is on top of the stack, for error
   reports. */
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

/* Starts a coroutine, or returns the reason why it cannot continue, using Lua's own function.
   Returns the same as `go_on`. */
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

/* Moves the results or the error of a resumed coroutine to `L`. Returns the same as `go_on`. */
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

/* Resumes the coroutine at `thread` with the `n` topmost values. Returns the number of values that
   it leaves on top of the stack, `true` and the results; or -1, with the error on top. */
static int go_on(lua_State *L, int thread, lua_State *coroutine, int n) {
  if (lua_status(coroutine) != YIELDED) return begin(L, thread, n);
  if (!lua_checkstack(coroutine, n)) return failed(L, "too many arguments to resume");
  lua_xmove(L, coroutine, n);
  return taken(L, thread, coroutine, lua_resume(coroutine, n));
}

/* Fast path of a resume, in place. Returns true if it can be used: the coroutine has yielded, and
   has room for the `n` topmost values. */
static inline int is_usual(const lua_State *coroutine, ptrdiff_t n) {
  return coroutine->status == YIELDED && n < FREE && coroutine->last - coroutine->top > n;
}

/* Moves the values to the coroutine and resumes it. Returns its status. */
static inline int pass(lua_State *L, lua_State *coroutine, ptrdiff_t n) {
  const Slot *from = L->top -= n;
  for (ptrdiff_t i = 0; i < n; i++) coroutine->top[i] = from[i];
  coroutine->top += n;
  return lua_resume(coroutine, (int)n);
}

/* Returns true if the coroutine's results can be moved in place, after `true`. */
static inline int has_few(const lua_State *L, const lua_State *coroutine, int status) {
  return status <= YIELDED && L->last - L->top > coroutine->top - coroutine->base + 1;
}

/* Moves the coroutine's results to `L`. Returns their number. */
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

/* The function that coroutine.wrap returns. */
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
