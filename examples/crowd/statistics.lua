-- Statistics on top of the game: a key switches their pages. The modules crowd.lua, flow.lua,
-- towers.lua and game.lua always count; this module only shows the counters, with the console
-- command `graph`. A release has no console and shows nothing.
local Statistics = {}

-- The commands that show a page, and the names that hide it.
local PAGES = {
  {
    commands = {
      { "make", "beetles" },
      { "add", "beetles", "crowd/alive", "orange" },
      { "add", "beetles", "crowd/fallen", "red" },
      { "table", "crowd/" },
    },
    names = { "beetles", "crowd/" },
  },
  {
    commands = {
      { "make", "milliseconds" },
      { "add", "milliseconds", "scopes/frame/update", "green" },
      { "add", "milliseconds", "scopes/frame/render", "blue" },
      { "range", "milliseconds", 0, 4 },
    },
    names = { "milliseconds" },
  },
}

local page = 0

---Shows the next page. After the last one, no page is shown.
function Statistics.turn()
  for _, name in ipairs(page > 0 and PAGES[page].names or {}) do
    Application.console_command("graph", "remove", name)
  end
  page = (page + 1) % (#PAGES + 1)
  for _, command in ipairs(page > 0 and PAGES[page].commands or {}) do
    Application.console_command("graph", unpack(command))
  end
end

return Statistics
