/* The only places where a Lua error is raised by native code. Rust returns with the error's value
   on the stack, all Rust frames are gone by then, and only these C frames are jumped over. */
#include <stddef.h>

typedef struct lua_State lua_State;
typedef struct lua_Debug lua_Debug;
int lua_error(lua_State *L);
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
