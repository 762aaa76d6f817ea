/* The numbers of LuaJIT's strings, by which tables order them. LuaJIT numbers strings in the order
   of their creation, so that the order of `pairs` depends on every string that was created before.
   These strings depend on the code that was compiled, because compiled code creates no unused
   string, and the compilation depends on the addresses of code. Here a string's number depends only
   on its text.

   Every string is created by lj_str_new. Where the linker supports it (build.rs), calls are
   redirected to the function below; elsewhere vm.rs restarts the numbers from time to time. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef STRINGS_BY_TEXT

/* The first fields of LuaJIT's lua_State, as in luajit_layout.rs. */
typedef struct lua_State { uint64_t header[2]; char *global; } lua_State;

void *__real_lj_str_new(lua_State *L, const char *text, size_t size);
void *__wrap_lj_str_new(lua_State *L, const char *text, size_t size);

/* Offset of the next new string's number in LuaJIT's global_State. Zero until it is found; LuaJIT
   assigns the numbers until then. */
static size_t place;

/* An odd multiplier with random-looking bits: the golden ratio, of 64 bits. */
#define FACTOR 0x9e3779b97f4a7c15ull

static uint64_t word(const char *text) {
  uint64_t bits;
  memcpy(&bits, text, sizeof bits);
  return bits;
}

/* Returns up to eight bytes as a word. */
static uint64_t end(const char *text, size_t size) {
  uint32_t first, last;
  if (size == 8) return word(text);
  if (size >= 4) {
    memcpy(&first, text, sizeof first);
    memcpy(&last, text + size - sizeof last, sizeof last);
    return (uint64_t)first << 32 | last;
  }
  if (size == 0) return 0;
  return (uint64_t)(uint8_t)text[0] << 16 | (uint64_t)(uint8_t)text[size / 2] << 8 |
         (uint8_t)text[size - 1];
}

/* Longer strings are hashed in lanes, which a processor computes in parallel. */
enum { LANES = 4, LANE = sizeof(uint64_t) };

static uint64_t turned(uint64_t bits) { return bits << 29 | bits >> 35; }

/* Hashes a string. Every byte affects all bits of the result, because tables use the lowest bits.
   */
static uint32_t number(const char *text, size_t size) {
  uint64_t sum = (size + 1) * FACTOR;
  if (size > LANES * LANE) {
    uint64_t sums[LANES] = {sum, sum + 1, sum + 2, sum + 3};
    for (; size > LANES * LANE; size -= LANES * LANE, text += LANES * LANE) {
      for (int i = 0; i < LANES; i++) {
        sums[i] = turned(sums[i] ^ word(text + i * LANE)) * FACTOR;
      }
    }
    for (int i = 0; i < LANES; i++) sum = turned(sum ^ sums[i]) * FACTOR;
  }
  for (; size > 8; size -= 8, text += 8) {
    sum = (sum ^ word(text)) * FACTOR;
    sum ^= sum >> 32;
  }
  sum = (sum ^ end(text, size)) * FACTOR;
  sum ^= sum >> 32;
  return (uint32_t)(sum * FACTOR >> 32);
}

void *__wrap_lj_str_new(lua_State *L, const char *text, size_t size) {
  size_t at = __atomic_load_n(&place, __ATOMIC_RELAXED);
  /* Longer strings are refused by LuaJIT. */
  if (at && size < INT32_MAX) {
    uint32_t next = number(text, size);
    memcpy(L->global + at, &next, sizeof next);
  }
  return __real_lj_str_new(L, text, size);
}

/* Sets the offset of the next new string's number. Returns 1 if strings are numbered by their text
   from now on. */
int script_number_by_text(size_t at) {
  __atomic_store_n(&place, at, __ATOMIC_RELAXED);
  return 1;
}

#else

int script_number_by_text(size_t at) {
  (void)at;
  return 0;
}

#endif
