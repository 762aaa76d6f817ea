/* The program of the Web spike: PUC Lua 5.1 with small replacements of the LuaJIT libraries `ffi`
   and `bit` and of LuaJIT's `xpcall`. They have what lua/math and lua/boot need, and no more: no
   pointers, and no arithmetic of 64-bit integers. Runs the script that is its first argument. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lauxlib.h"
#include "lua.h"
#include "lualib.h"

#ifdef __wasm__
// The exception that carries longjmp. The linker asks for its declaration.
__asm__(".tagtype __c_longjmp i32\n"
        ".globl __c_longjmp\n"
        "__c_longjmp:\n");
#endif

#define FIELDS_MAX 16
#define FIELD_BYTES_MAX 8

typedef enum { FLOAT32, UINT8, INT16, UINT32, UINT64, FLOAT64 } ElementKind;

static const struct {
  const char *name;
  size_t bytes;
} KINDS[] = {{"float", 4}, {"uint8_t", 1}, {"int16_t", 2}, {"uint32_t", 4}, {"uint64_t", 8},
             {"double", 8}};

// A type: a struct with fields of one kind, or an array of that kind.
typedef struct {
  ElementKind kind;
  int is_array;
  int field_count;
  char fields[FIELDS_MAX][FIELD_BYTES_MAX];
} CType;

// A value: the header, and its elements after it.
typedef struct {
  const CType *type;
  size_t count;
  double elements[];
} CData;

static double get(const CData *data, size_t i) {
  const void *e = data->elements;
  switch (data->type->kind) {
  case FLOAT32: return ((const float *)e)[i];
  case UINT8: return ((const uint8_t *)e)[i];
  case INT16: return ((const int16_t *)e)[i];
  case UINT32: return ((const uint32_t *)e)[i];
  case UINT64: return (double)((const uint64_t *)e)[i];
  default: return ((const double *)e)[i];
  }
}

static void set(CData *data, size_t i, double value) {
  void *e = data->elements;
  switch (data->type->kind) {
  case FLOAT32: ((float *)e)[i] = (float)value; break;
  case UINT8: ((uint8_t *)e)[i] = (uint8_t)(int64_t)value; break;
  case INT16: ((int16_t *)e)[i] = (int16_t)(int64_t)value; break;
  case UINT32: ((uint32_t *)e)[i] = (uint32_t)(int64_t)value; break;
  case UINT64: ((uint64_t *)e)[i] = (uint64_t)value; break;
  default: ((double *)e)[i] = value; break;
  }
}

// Returns the value at an index, or null if it is none of this file's.
static CData *data_at(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index)) return NULL;
  lua_pushliteral(L, "ffi");
  lua_rawget(L, -2);
  int ours = lua_toboolean(L, -1);
  lua_pop(L, 2);
  return ours ? lua_touserdata(L, index) : NULL;
}

static CData *checked_data(lua_State *L, int index) {
  CData *data = data_at(L, index);
  if (!data) luaL_error(L, "spike: argument #%d is no value of ffi", index);
  return data;
}

static long field_of(lua_State *L, const CData *data, int key) {
  if (lua_type(L, key) == LUA_TNUMBER && data->type->is_array) {
    lua_Number index = lua_tonumber(L, key);
    return index >= 0 && index < (lua_Number)data->count ? (long)index : -1;
  }
  if (lua_type(L, key) != LUA_TSTRING) return -1;
  const char *name = lua_tostring(L, key);
  for (int i = 0; i < data->type->field_count; i++)
    if (strcmp(data->type->fields[i], name) == 0) return i;
  return -1;
}

// __index: a field of the struct, or else what the type's own metatable has (upvalue 1).
static int data_index(lua_State *L) {
  CData *data = lua_touserdata(L, 1);
  long field = field_of(L, data, 2);
  if (field >= 0) {
    lua_pushnumber(L, get(data, (size_t)field));
    return 1;
  }
  if (lua_isfunction(L, lua_upvalueindex(1))) {
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 1);
    return 1;
  }
  if (lua_istable(L, lua_upvalueindex(1))) {
    lua_settop(L, 2);
    lua_gettable(L, lua_upvalueindex(1));
    return 1;
  }
  return luaL_error(L, "spike: no such element");
}

static int data_newindex(lua_State *L) {
  CData *data = lua_touserdata(L, 1);
  long field = data->type->is_array ? field_of(L, data, 2) : -1;
  if (field >= 0) {
    set(data, (size_t)field, luaL_checknumber(L, 3));
    return 0;
  }
  if (!lua_isfunction(L, lua_upvalueindex(1))) return luaL_error(L, "spike: no such element");
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 3, 0);
  return 0;
}

// Creates a value. Stack: the type at 1, its elements or, for an array, its count after it.
static int create(lua_State *L) {
  CType *type = lua_touserdata(L, 1);
  int value_count = lua_gettop(L) - 1;
  size_t count = (size_t)type->field_count;
  if (type->is_array && !count) count = (size_t)luaL_checkinteger(L, 2);
  size_t bytes = count * KINDS[type->kind].bytes;
  CData *data = lua_newuserdata(L, sizeof(CData) + bytes);
  data->type = type;
  data->count = count;
  memset(data->elements, 0, bytes);
  int is_list = value_count == 1 && lua_istable(L, 2);
  for (int i = 0; !type->is_array && i < type->field_count && (is_list || i < value_count); i++) {
    if (is_list) lua_rawgeti(L, 2, i + 1);
    set(data, (size_t)i, luaL_checknumber(L, is_list ? -1 : i + 2));
    if (is_list) lua_pop(L, 1);
  }
  lua_getfenv(L, 1);
  lua_getfield(L, -1, "meta");
  lua_setmetatable(L, -3);
  lua_pop(L, 1);
  return 1;
}

static void parse_struct(lua_State *L, CType *type, const char *text) {
  const char *at = strchr(text, '{') + 1;
  while (*at && *at != '}') {
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *after = at + length + strspn(at + length, " \n");
    if (length && (*after == ',' || *after == ';')) {
      if (type->field_count == FIELDS_MAX || length >= FIELD_BYTES_MAX)
        luaL_error(L, "spike: this struct is too large");
      memcpy(type->fields[type->field_count], at, length);
      type->fields[type->field_count++][length] = 0;
    }
    at += length ? length : 1;
  }
}

// typeof(text or value): a type, which can be called.
static int ffi_typeof(lua_State *L) {
  if (data_at(L, 1)) {
    lua_getmetatable(L, 1);
    lua_getfield(L, -1, "type");
    return 1;
  }
  if (lua_isuserdata(L, 1)) return 1;
  const char *text = luaL_checkstring(L, 1);
  CType *type = lua_newuserdata(L, sizeof(CType));
  memset(type, 0, sizeof *type);
  int kinds = sizeof KINDS / sizeof *KINDS, kind = 0;
  while (kind < kinds && !strstr(text, KINDS[kind].name)) kind++;
  if (kind == kinds || strchr(text, '*')) return luaL_error(L, "spike: no type '%s'", text);
  type->kind = (ElementKind)kind;
  const char *bracket = strchr(text, '[');
  type->is_array = bracket != NULL;
  if (bracket && bracket[1] != '?') type->field_count = (int)strtol(bracket + 1, NULL, 10);
  if (strchr(text, '{')) parse_struct(L, type, text);
  lua_newtable(L); // the environment, with the metatable of the values
  lua_newtable(L);
  lua_pushboolean(L, 1);
  lua_setfield(L, -2, "ffi");
  lua_pushvalue(L, -3); // values keep their type alive
  lua_setfield(L, -2, "type");
  lua_pushnil(L);
  lua_pushcclosure(L, data_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pushnil(L);
  lua_pushcclosure(L, data_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setfield(L, -2, "meta");
  lua_setfenv(L, -2);
  luaL_getmetatable(L, "spike.type");
  lua_setmetatable(L, -2);
  return 1;
}

static int ffi_new(lua_State *L) {
  if (lua_type(L, 1) == LUA_TSTRING) {
    int count = lua_gettop(L);
    lua_pushcfunction(L, ffi_typeof);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    lua_replace(L, 1);
    lua_settop(L, count);
  }
  return create(L);
}

static int ffi_metatype(lua_State *L) {
  lua_settop(L, 2);
  lua_getfenv(L, 1);
  lua_getfield(L, -1, "meta");
  for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    int read = strcmp(name, "__index") == 0, written = strcmp(name, "__newindex") == 0;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    if (read || written) lua_pushcclosure(L, read ? data_index : data_newindex, 1);
    lua_rawset(L, 4);
  }
  lua_pushliteral(L, "ffi");
  lua_setfield(L, 4, "__metatable");
  lua_settop(L, 1);
  return 1;
}

static int ffi_istype(lua_State *L) {
  CData *data = data_at(L, 2);
  lua_pushboolean(L, data && data->type == lua_touserdata(L, 1));
  return 1;
}

static size_t bytes_of(const CData *data) {
  return data->count * KINDS[data->type->kind].bytes;
}

static int ffi_sizeof(lua_State *L) {
  lua_pushinteger(L, (lua_Integer)bytes_of(checked_data(L, 1)));
  return 1;
}

static int ffi_copy(lua_State *L) {
  CData *to = checked_data(L, 1);
  size_t length, bytes;
  const void *from;
  if (lua_type(L, 2) == LUA_TSTRING) {
    from = lua_tolstring(L, 2, &length);
  } else {
    CData *data = checked_data(L, 2);
    from = data->elements;
    length = bytes_of(data);
  }
  bytes = (size_t)luaL_optinteger(L, 3, (lua_Integer)length);
  if (bytes > length || bytes > bytes_of(to)) return luaL_error(L, "spike: copy out of range");
  memmove(to->elements, from, bytes);
  return 0;
}

static int ffi_fill(lua_State *L) {
  CData *to = checked_data(L, 1);
  size_t bytes = (size_t)luaL_checkinteger(L, 2);
  if (bytes > bytes_of(to)) return luaL_error(L, "spike: fill out of range");
  memset(to->elements, (int)luaL_optinteger(L, 3, 0), bytes);
  return 0;
}

static int ffi_string(lua_State *L) {
  CData *data = checked_data(L, 1);
  size_t bytes = (size_t)luaL_optinteger(L, 2, (lua_Integer)bytes_of(data));
  if (bytes > bytes_of(data)) return luaL_error(L, "spike: string out of range");
  lua_pushlstring(L, (const char *)data->elements, bytes);
  return 1;
}

// type(value): "cdata" for the values of this file, as in LuaJIT.
static int spike_type(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushstring(L, data_at(L, 1) ? "cdata" : luaL_typename(L, 1));
  return 1;
}

// The library bit ---------------------------------------------------------------------------------

static uint32_t bits(lua_State *L, int index) {
  // The lowest 32 bits of a number, rounded to an integer.
  union {
    double number;
    uint64_t bits;
  } sum = {luaL_checknumber(L, index) + 6755399441055744.0};
  return (uint32_t)sum.bits;
}

static int push_bits(lua_State *L, uint32_t value) {
  lua_pushnumber(L, (int32_t)value);
  return 1;
}

#define FOLD(name, operator)                                                                       \
  static int name(lua_State *L) {                                                                  \
    uint32_t value = bits(L, 1);                                                                   \
    for (int i = lua_gettop(L); i > 1; i--) value operator bits(L, i);                             \
    return push_bits(L, value);                                                                    \
  }
FOLD(bit_band, &=)
FOLD(bit_bor, |=)
FOLD(bit_bxor, ^=)

#define SHIFT(name, result)                                                                        \
  static int name(lua_State *L) {                                                                  \
    uint32_t value = bits(L, 1), by = bits(L, 2) & 31;                                             \
    return push_bits(L, result);                                                                   \
  }
SHIFT(bit_lshift, value << by)
SHIFT(bit_rshift, value >> by)
SHIFT(bit_arshift, (uint32_t)((int32_t)value >> by))
SHIFT(bit_rol, value << by | value >> ((32 - by) & 31))
SHIFT(bit_ror, value >> by | value << ((32 - by) & 31))

static int bit_tobit(lua_State *L) { return push_bits(L, bits(L, 1)); }
static int bit_bnot(lua_State *L) { return push_bits(L, ~bits(L, 1)); }
static int bit_bswap(lua_State *L) { return push_bits(L, __builtin_bswap32(bits(L, 1))); }

static int bit_tohex(lua_State *L) {
  char text[9];
  int32_t digits = lua_isnoneornil(L, 2) ? 8 : (int32_t)bits(L, 2);
  int count = digits < 0 ? -digits : digits;
  if (count > 8) count = 8;
  snprintf(text, sizeof text, digits < 0 ? "%08X" : "%08x", bits(L, 1));
  lua_pushlstring(L, text + 8 - count, (size_t)count);
  return 1;
}

// os.clock: seconds of CPU time of this thread, so that other programs do not disturb the figures.
#ifdef __wasm__
__attribute__((import_module("wasi_snapshot_preview1"), import_name("clock_time_get"))) int32_t
wasi_clock(int32_t id, int64_t precision, uint64_t *nanoseconds);

static double cpu_seconds(void) {
  uint64_t nanoseconds = 0;
  wasi_clock(3, 1, &nanoseconds); // the CPU time of the thread
  return (double)nanoseconds * 1e-9;
}
#else
static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
#endif

static int spike_clock(lua_State *L) {
  lua_pushnumber(L, cpu_seconds());
  return 1;
}

// LuaJIT's xpcall, which passes arguments ---------------------------------------------------------

static int spike_xpcall(lua_State *L) {
  luaL_checkany(L, 2);
  lua_pushvalue(L, 1); // handler, function, arguments
  lua_pushvalue(L, 2);
  lua_replace(L, 1);
  lua_replace(L, 2);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  lua_pushboolean(L, status == 0);
  lua_replace(L, 1);
  return lua_gettop(L);
}

static const luaL_Reg FFI[] = {
    {"typeof", ffi_typeof}, {"new", ffi_new},       {"metatype", ffi_metatype},
    {"istype", ffi_istype}, {"sizeof", ffi_sizeof}, {"copy", ffi_copy},
    {"fill", ffi_fill},     {"string", ffi_string}, {NULL, NULL}};

static const luaL_Reg BIT[] = {
    {"band", bit_band},     {"bor", bit_bor},         {"bxor", bit_bxor},
    {"lshift", bit_lshift}, {"rshift", bit_rshift},   {"arshift", bit_arshift},
    {"rol", bit_rol},       {"ror", bit_ror},         {"tobit", bit_tobit},
    {"bnot", bit_bnot},     {"bswap", bit_bswap},     {"tohex", bit_tohex},
    {NULL, NULL}};

int main(int count, char **arguments) {
  lua_State *L = luaL_newstate();
  if (!L || count < 2) return 2;
  luaL_openlibs(L);
  luaL_newmetatable(L, "spike.type");
  lua_pushcfunction(L, create);
  lua_setfield(L, -2, "__call");
  luaL_register(L, "ffi", FFI);
  luaL_register(L, "bit", BIT);
  lua_register(L, "xpcall", spike_xpcall);
  lua_register(L, "type", spike_type);
  lua_getglobal(L, "os");
  lua_pushcfunction(L, spike_clock);
  lua_setfield(L, -2, "clock");
  lua_settop(L, 0);
  lua_createtable(L, count, 0);
  for (int i = 1; i < count; i++) {
    lua_pushstring(L, arguments[i]);
    lua_rawseti(L, -2, i - 1);
  }
  lua_setglobal(L, "arg");
  if (luaL_loadfile(L, arguments[1]) || lua_pcall(L, 0, 0, 0)) {
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
    return 1;
  }
  return 0;
}
