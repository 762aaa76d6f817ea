-- The player's language. One call selects it everywhere: texts (texts/game.de.strings) and pictures
-- (pictures/exit.de.png) are variants of one name, and the engine chooses (docs/resources.md).
local Texts = {}

---The name of each language in that language.
Texts.LANGUAGES = {
  { code = "en", name = "English" },
  { code = "de", name = "Deutsch" },
  { code = "fr", name = "Français" },
  { code = "el", name = "Ελληνικά" },
}

local localizer ---@type Localizer
local current = 1

-- English has no suffix: files without a language are used if no other variant fits.
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

---Switches to the next language (-1: the previous one), and saves it for the next start.
function Texts.turn(by)
  current = Math.wrap(current + by, 1, #Texts.LANGUAGES + 1)
  prefer()
  Application.set_user_setting("language", Texts.LANGUAGES[current].code)
  Application.save_user_settings()
end

function Texts.language()
  return Texts.LANGUAGES[current]
end

---Returns a text in the player's language, with `{name}` replaced by `values.name`.
function Texts.get(key, values)
  return Localizer.lookup(localizer, key, values)
end

return Texts
