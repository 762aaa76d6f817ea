/* The numbers of LuaJIT's strings, by which tables order them. LuaJIT numbers strings one after the
   other as they are made, so that the order of `pairs` hangs on every string that was made before.
   That hangs on what was compiled, for compiled code makes no string that nobody uses, and that in
   turn on the addresses of code. Here a string's number comes of its text alone.

   Every string is made by lj_str_new. The linker has others call the function below in its place,
   where it can do that (build.rs); elsewhere vm.rs begins the numbers anew from time to time. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef STRINGS_BY_TEXT

/* The beginning of LuaJIT's lua_State, as in layout.rs. */
typedef struct lua_State { uint64_t header[2]; char *global; } lua_State;

void *__real_lj_str_new(lua_State *L, const char *text, size_t size);
void *__wrap_lj_str_new(lua_State *L, const char *text, size_t size);

/* Where the number of the next new string is, from the beginning of LuaJIT's global_State. Zero
   until it was found: then LuaJIT numbers. */
static size_t place;

/* An odd number whose bits look random: the golden ratio, of 64 bits. */
#define FACTOR 0x9e3779b97f4a7c15ull

static uint64_t word(const char *text) {
  uint64_t bits;
  memcpy(&bits, text, sizeof bits);
  return bits;
}

/* Up to eight bytes. */
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

/* What is longer is summed up in lanes, which a processor works on at once. */
enum { LANES = 4, LANE = sizeof(uint64_t) };

static uint64_t turned(uint64_t bits) { return bits << 29 | bits >> 35; }

/* All bytes count, in all bits: tables look at the lowest. */
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
  /* What is longer than a string can be is refused. */
  if (at && size < INT32_MAX) {
    uint32_t next = number(text, size);
    memcpy(L->global + at, &next, sizeof next);
  }
  return __real_lj_str_new(L, text, size);
}

/* Says where the number of the next new string is. Whether strings are numbered by their text
   now. */
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
