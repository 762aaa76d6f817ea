//! The names that the porting layer (core/stingray.lua) adds or replaces, for the build script: it
//! runs the layer with empty modules in place of the API, and makes a table of the functions that
//! they then have.

use mlua::Lua;

/// The layer's main script, and the start of the names of its other scripts.
pub const LAYER: &str = "stingray";

/// Runs the layer: receives the name of the script to start with, and the texts by name. Every
/// global that the layer reads is a module that has any function. Returns the table in Rust.
const HARNESS: &str = r#"
local main, texts = ...
local globals = { ipairs = ipairs, next = next, pairs = pairs, pcall = pcall, rawset = rawset,
  select = select, setmetatable = setmetatable, string = string, table = table,
  tostring = tostring, type = type, unpack = unpack }
local libraries = {}
for name in pairs(globals) do libraries[name] = true end
local function stub() end
local any_function = { __index = function() return stub end }
globals._G, libraries._G = globals, true
globals.rawget, libraries.rawget = function(from, key) return from[key] end, true
function globals.require(name)
  local text = texts[name] or error("the porting layer requires '" .. name .. "'")
  return setfenv(assert(loadstring(text, "=" .. name)), globals)()
end
libraries.require = true
setmetatable(globals, { __index = function(all, name)
  local module = setmetatable({}, any_function)
  rawset(all, name, module)
  return module
end })
globals.require(main)

local name_of = { [globals] = "_G" }
for name, value in pairs(globals) do
  if type(value) == "table" and not libraries[name] then name_of[value] = name end
end
local rows = {}
for name, value in pairs(globals) do
  local names, inherits = {}, ""
  if type(value) == "table" and not libraries[name] then
    for key in pairs(value) do
      if type(key) == "string" then names[#names + 1] = string.format("%q", key) end
    end
    inherits = name_of[(getmetatable(value) or {}).__index] or ""
  end
  local is_read_only = #names == 0 and inherits == "" and type(value) == "table"
  if not libraries[name] and not is_read_only then
    table.sort(names)
    rows[#rows + 1] = string.format("LayerModule { name: %q, inherits: %q, names: &[%s] },",
      name, inherits, table.concat(names, ", "))
  end
end
table.sort(rows)
return "pub const LAYER: &[LayerModule] = &[\n" .. table.concat(rows, "\n") .. "\n];\n"
"#;

/// Returns the table for the layer's scripts, as Rust source. `scripts` are their names and texts.
pub fn table(scripts: &[(String, String)]) -> mlua::Result<String> {
    let lua = Lua::new();
    let texts = lua.create_table()?;
    for (name, text) in scripts {
        texts.set(name.as_str(), text.as_str())?;
    }
    lua.load(HARNESS).set_name("=layer_names").call((LAYER, texts))
}
