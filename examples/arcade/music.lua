-- Music without a recording: one plucked note at different pitches plays four chords in a loop, as
-- long as the game runs. A clock keeps the beat, exact to the sample (docs/sound.md).
local Music = {}

local CLOCK = "caves"
local BEATS = 8 -- in a bar; each has one note of the melody
local TEMPO = 176
-- Semitones above the note of sounds/pluck.wav, an A: minor, and its neighbours.
---@type table<number, integer[]>
local CHORDS = { { 0, 3, 7, 10 }, { -4, 0, 3, 7 }, { 3, 7, 10, 14 }, { -2, 2, 5, 10 } }
local PATTERN = { 1, 3, 2, 4, 3, 2, 4, 3 } ---@type integer[]
local BASS = -24

local world ---@type World

local function pluck(semitones, beat, volume)
  Sound.trigger(world, "sounds/pluck", {
    bus = "music", volume = volume, pitch = 2 ^ (semitones / 12),
    -- A little early, so that the clock's beat is the next one.
    clock = CLOCK, on = "beat", delay = (beat - 0.5) * 60 / TEMPO,
  })
end

function Music.init(of_world)
  world = of_world
  Sound.start_clock(CLOCK, TEMPO, BEATS)
end

---Plays the next bar when the clock begins one. Call it in each frame.
function Music.update()
  for _, event in ipairs(Sound.events()) do
    if event.kind == "bar" and event.clock == CLOCK then
      local chord = CHORDS[event.bar % #CHORDS + 1]
      pluck(chord[1] + BASS, 1, 0.9)
      pluck(chord[1] + BASS, 5, 0.6)
      for beat = 1, BEATS do
        -- Gaps let the melody breathe.
        if Math.random() < 0.72 then
          pluck(chord[PATTERN[beat]], beat, 0.25 + 0.2 * Math.random())
        end
      end
    end
  end
end

return Music
