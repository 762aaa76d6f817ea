-- The player's language. One call prefers it everywhere: texts (texts/game.de.strings) and pictures
-- (pictures/exit.de.png) are variants of one name, and the engine picks (docs/resources.md).
local Texts = {}

---Each in its own words, as whoever looks for it reads them.
Texts.LANGUAGES = {
  { code = "en", name = "English" },
  { code = "de", name = "Deutsch" },
  { code = "fr", name = "Français" },
  { code = "el", name = "Ελληνικά" },
}

local localizer ---@type Localizer
local current = 1

-- No file says that it is English: what has no language serves where none was found.
local function prefer()
  Application.set_property_preference_order(Texts.LANGUAGES[current].code)
end

function Texts.init()
  localizer = Localizer("texts/game")
  local wanted = Application.user_setting("language")
  for i, language in ipairs(Texts.LANGUAGES) do
    if language.code == wanted then current = i end
  end
  prefer()
end

---Goes on to the next language (or back, by -1), and remembers it for the next start.
function Texts.turn(by)
  current = Math.wrap(current + by, 1, #Texts.LANGUAGES + 1)
  prefer()
  Application.set_user_setting("language", Texts.LANGUAGES[current].code)
  Application.save_user_settings()
end

function Texts.language()
  return Texts.LANGUAGES[current]
end

---A text in the player's language; `{name}` in it becomes `values.name`.
function Texts.get(key, values)
  return Localizer.lookup(localizer, key, values)
end

return Texts
