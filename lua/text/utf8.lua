-- Utf8: functions for text that count characters instead of bytes. Drawing and measuring text are
-- functions of Gui.
local core = ...

local type, ipairs, pairs, select = type, ipairs, pairs, select
local byte, format = string.byte, string.format
-- The bounded versions (lua/boot/strings.lua), because a text may be long.
local find, gsub = core.string.find, core.string.gsub
local len, reverse_bytes, sub, to_char = string.len, string.reverse, string.sub, string.char
local ascii_lower, ascii_upper = string.lower, string.upper
local concat, floor = core.table.concat, math.floor
local raise, bad_argument = core.raise, core.bad_argument

---@module Utf8
---@node query
---Text by characters. Lua's strings are bytes, and a UTF-8 character is one to four bytes. A
---character here is a code point: an accent that is a separate code point counts as a character.
---`location`, `codes` and `offset` use byte positions, the other functions use characters; all
---count from 1. A string that is not valid UTF-8 raises an error with the byte position;
---`Utf8.valid` tests a string and `Utf8.clean` repairs it. Searching one valid string in another
---with `string.find` is safe. `upper` and `lower` support Latin-1, Latin Extended-A, Latin
---Extended Additional (Vietnamese), the Romanian, Croatian and Pinyin letters of Latin Extended-B,
---Greek, Cyrillic and Armenian. Other characters are not changed. Characters whose other case is
---more than one code point are not changed either, such as the German sharp s in `upper`.
---@example
---   local name = "Zoë"
---   assert(#name == 4 and Utf8.length(name) == 3)
---   assert(Utf8.upper(name) == "ZOË" and Utf8.sub(name, -1) == "ë")
---   for position, code in Utf8.codes(name) do print(position, code) end

---@class Utf8
local Utf8 = core.module("Utf8")

-- Returns the size of the character at a byte position and its code point, or 0 if no character
-- begins there. Implements table 3-7 of the Unicode standard: no overlong forms, no surrogates,
-- nothing above 10FFFF.
local function decode(s, i)
  local a, b, c, d = byte(s, i, i + 3)
  if not a then return 0 end
  if a < 0x80 then return 1, a end
  if a < 0xC2 or not b or b < 0x80 or b > 0xBF then return 0 end
  if a < 0xE0 then return 2, (a - 0xC0) * 0x40 + (b - 0x80) end
  if not c or c < 0x80 or c > 0xBF then return 0 end
  if a < 0xF0 then
    if (a == 0xE0 and b < 0xA0) or (a == 0xED and b > 0x9F) then return 0 end
    return 3, (a - 0xE0) * 0x1000 + (b - 0x80) * 0x40 + (c - 0x80)
  end
  if not d or d < 0x80 or d > 0xBF then return 0 end
  if a > 0xF4 or (a == 0xF0 and b < 0x90) or (a == 0xF4 and b > 0x8F) then return 0 end
  return 4, (a - 0xF0) * 0x40000 + (b - 0x80) * 0x1000 + (c - 0x80) * 0x40 + (d - 0x80)
end

local function encode(code)
  if code < 0x80 then return to_char(code) end
  if code < 0x800 then return to_char(0xC0 + floor(code / 0x40), 0x80 + code % 0x40) end
  if code < 0x10000 then
    return to_char(0xE0 + floor(code / 0x1000), 0x80 + floor(code / 0x40) % 0x40,
      0x80 + code % 0x40)
  end
  return to_char(0xF0 + floor(code / 0x40000), 0x80 + floor(code / 0x1000) % 0x40,
    0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

-- Returns the byte position of the first invalid byte, or nil.
local function invalid_at(s)
  local i, size = find(s, "[\128-\255]"), len(s)
  while i and i <= size do
    local width = decode(s, i)
    if width == 0 then return i end
    i = i + width
  end
end

local function check_string(name, index, argument, s)
  if type(s) ~= "string" then bad_argument(name, index, argument, "string", s) end
end

local function check_valid(name, index, argument, s)
  check_string(name, index, argument, s)
  local at = invalid_at(s)
  if at then
    raise(format("%s: argument #%d '%s' is not valid UTF-8 at byte %d (0x%02X); Utf8.clean repairs "
      .. "it", name, index, argument, at, byte(s, at)))
  end
end

local function is_whole(value)
  -- NaN and infinity fail the comparison.
  return type(value) == "number" and value - floor(value) == 0
end

local function check_whole(name, index, argument, value)
  if not is_whole(value) then bad_argument(name, index, argument, "a whole number", value) end
end

-- Counts the characters between two byte positions of a valid string.
local function count(s, first, last)
  local characters = 0
  for i = first, last do
    local b = byte(s, i)
    if b < 0x80 or b > 0xBF then characters = characters + 1 end
  end
  return characters
end

-- Returns the byte position of the character `index` (from 1) of a valid string. The index after
-- the last character returns the end position; larger indices return nil.
local function position_of(s, index)
  local i, size = 1, len(s)
  while index > 1 do
    if i > size then return nil end
    i = i + decode(s, i)
    index = index - 1
  end
  return i
end

---Returns the start of the character that contains a byte, and the start of the next character.
---@param s string the text
---@param index integer a byte position, from 1 to #s; may be inside a character
---@return integer first the byte position at which the character begins
---@return integer after the byte position after the character
function Utf8.location(s, index)
  check_string("Utf8.location", 1, "s", s)
  check_whole("Utf8.location", 2, "index", index)
  if index < 1 or index > len(s) then
    raise("Utf8.location: argument #2 'index' is " .. index .. ", but the string has " .. len(s)
      .. " bytes")
  end
  for first = index, index - 3, -1 do
    local width = first >= 1 and decode(s, first) or 0
    if first + width > index then return first, first + width end
  end
  raise(format("Utf8.location: argument #1 's' is not valid UTF-8 at byte %d (0x%02X); Utf8.clean "
    .. "repairs it", index, byte(s, index)))
end

---Returns true if a string is valid UTF-8.
---@param s string the text
---@return boolean also true for the empty string
function Utf8.valid(s)
  check_string("Utf8.valid", 1, "s", s)
  return invalid_at(s) == nil
end

---Returns the string with each invalid byte replaced.
---@param s string the text
---@param replacement? string valid text for each invalid byte; U+FFFD by default
---@return string valid UTF-8
function Utf8.clean(s, replacement)
  check_string("Utf8.clean", 1, "s", s)
  if replacement == nil then replacement = "\239\191\189" end
  check_valid("Utf8.clean", 2, "replacement", replacement)
  local pieces, from = {}, 1
  local i, size = 1, len(s)
  while i <= size do
    local width = decode(s, i)
    if width == 0 then
      pieces[#pieces + 1] = sub(s, from, i - 1)
      pieces[#pieces + 1] = replacement
      width = 1
      from = i + 1
    end
    i = i + width
  end
  if from == 1 then return s end
  pieces[#pieces + 1] = sub(s, from)
  return concat(pieces)
end

---Returns the number of characters.
---@param s string the text
---@return integer length in characters
function Utf8.length(s)
  check_valid("Utf8.length", 1, "s", s)
  return count(s, 1, len(s))
end

---Returns a text from code points.
---@param ... integer code points, from 0 to 0x10FFFF without 0xD800 to 0xDFFF
---@return string one character for each code point
function Utf8.char(...)
  local pieces = {}
  for i = 1, select("#", ...) do
    local code = select(i, ...)
    if not is_whole(code) or code < 0 or code > 0x10FFFF or (code >= 0xD800 and code <= 0xDFFF) then
      bad_argument("Utf8.char", i, "code",
        "a code point, a whole number from 0 to 0x10FFFF without 0xD800 to 0xDFFF", code)
    end
    pieces[i] = encode(code)
  end
  return concat(pieces)
end

---Returns the code point of a character.
---@param s string the text
---@param index? integer index of the character; negative values count from the end; 1 by default
---@return integer the code point
function Utf8.codepoint(s, index)
  check_valid("Utf8.codepoint", 1, "s", s)
  if index == nil then index = 1 end
  check_whole("Utf8.codepoint", 2, "index", index)
  local length = count(s, 1, len(s))
  local from_start = index < 0 and length + 1 + index or index
  if from_start < 1 or from_start > length then
    raise("Utf8.codepoint: argument #2 'index' is " .. index .. ", but the string has " .. length
      .. " characters")
  end
  local _, code = decode(s, position_of(s, from_start))
  return code
end

---Returns the byte position of a character. The index after the last character returns #s + 1.
---@param s string the text
---@param index integer index of the character, from 1
---@return integer? the byte position; nil if the string has fewer characters
function Utf8.offset(s, index)
  check_valid("Utf8.offset", 1, "s", s)
  check_whole("Utf8.offset", 2, "index", index)
  if index < 1 then bad_argument("Utf8.offset", 2, "index", "a whole number above 0", index) end
  return position_of(s, index)
end

---Returns a substring, like `string.sub`, but by characters.
---@param s string the text
---@param first integer first character; negative values count from the end
---@param last? integer last character; negative values count from the end; the last one by default
---@return string the substring, possibly empty
function Utf8.sub(s, first, last)
  check_valid("Utf8.sub", 1, "s", s)
  check_whole("Utf8.sub", 2, "first", first)
  if last == nil then last = -1 end
  check_whole("Utf8.sub", 3, "last", last)
  local length = count(s, 1, len(s))
  if first < 0 then first = length + 1 + first end
  if last < 0 then last = length + 1 + last end
  if first < 1 then first = 1 end
  if last > length then last = length end
  if first > last then return "" end
  if length == len(s) then return sub(s, first, last) end
  local from = position_of(s, first)
  if last == length then return sub(s, from) end
  return sub(s, from, position_of(s, last + 1) - 1)
end

---Finds one text in another, without patterns.
---@param s string the text to search in
---@param text string the text to find
---@param start? integer the character to start at, from 1; the first by default
---@return integer? first the first character of the match, or nil
---@return integer? last its last character
function Utf8.find(s, text, start)
  check_valid("Utf8.find", 1, "s", s)
  check_valid("Utf8.find", 2, "text", text)
  if start == nil then start = 1 end
  check_whole("Utf8.find", 3, "start", start)
  if start < 1 then bad_argument("Utf8.find", 3, "start", "a whole number above 0", start) end
  local from = position_of(s, start)
  if not from then return nil end
  local first, last = find(s, text, from, true)
  if not first then return nil end
  local index = start + count(s, from, first - 1)
  return index, index + count(s, first, last) - 1
end

---Returns the text with its characters in reverse order.
---@param s string the text
---@return string the reversed text
function Utf8.reverse(s)
  check_valid("Utf8.reverse", 1, "s", s)
  -- Reverses the bytes of each character first, so that reversing all bytes restores their order.
  return reverse_bytes((gsub(s, "[\194-\244][\128-\191]+", reverse_bytes)))
end

local function next_code(s, position)
  local at = 1
  if position > 0 then at = position + decode(s, position) end
  if at > len(s) then return nil end
  local _, code = decode(s, at)
  return at, code
end

---Iterates over a text by byte positions: `for position, code in Utf8.codes(s) do`.
---@param s string the text
---@return function iterator that returns each character's byte position and code point
---@return string text for the `for` statement
---@return integer start for the `for` statement
function Utf8.codes(s)
  check_valid("Utf8.codes", 1, "s", s)
  return next_code, s, 0
end

---Iterates over a text by characters: `for index, character in Utf8.characters(s) do`.
---@param s string the text
---@return function iterator that returns each character's index and the character as a string
function Utf8.characters(s)
  check_valid("Utf8.characters", 1, "s", s)
  local at, index = 1, 0
  return function()
    if at > len(s) then return nil end
    local from = at
    at = from + decode(s, from)
    index = index + 1
    return index, sub(s, from, at - 1)
  end
end

-- Uppercase letters from `first` to `last`, and the offset to their lowercase letters.
local CASES = {
  { 0xC0, 0xD6, 32 }, { 0xD8, 0xDE, 32 }, -- Latin-1
  { 0x100, 0x12E, 1, step = 2 }, { 0x132, 0x136, 1, step = 2 }, -- Latin Extended-A
  { 0x139, 0x147, 1, step = 2 }, { 0x14A, 0x176, 1, step = 2 },
  { 0x178, 0x178, -121 }, { 0x179, 0x17D, 1, step = 2 },
  { 0x1A0, 0x1A4, 1, step = 2 }, { 0x1AF, 0x1AF, 1 }, -- Latin Extended-B, in part
  { 0x1C4, 0x1CA, 2, step = 3 }, { 0x1CD, 0x1DB, 1, step = 2 }, { 0x1DE, 0x1EE, 1, step = 2 },
  { 0x1F1, 0x1F1, 2 }, { 0x1F4, 0x1F4, 1 }, { 0x1F8, 0x21E, 1, step = 2 },
  { 0x222, 0x232, 1, step = 2 },
  { 0x370, 0x372, 1, step = 2 }, { 0x376, 0x376, 1 }, { 0x37F, 0x37F, 116 }, -- Greek
  { 0x386, 0x386, 38 }, { 0x388, 0x38A, 37 }, { 0x38C, 0x38C, 64 }, { 0x38E, 0x38F, 63 },
  { 0x391, 0x3A1, 32 }, { 0x3A3, 0x3AB, 32 }, { 0x3CF, 0x3CF, 8 }, { 0x3D8, 0x3EE, 1, step = 2 },
  { 0x3F7, 0x3F7, 1 }, { 0x3F9, 0x3F9, -7 }, { 0x3FA, 0x3FA, 1 }, { 0x3FD, 0x3FF, -130 },
  { 0x400, 0x40F, 80 }, { 0x410, 0x42F, 32 }, { 0x460, 0x480, 1, step = 2 }, -- Cyrillic
  { 0x48A, 0x4BE, 1, step = 2 }, { 0x4C0, 0x4C0, 15 }, { 0x4C1, 0x4CD, 1, step = 2 },
  { 0x4D0, 0x52E, 1, step = 2 },
  { 0x531, 0x556, 48 }, -- Armenian
  { 0x1E00, 0x1E94, 1, step = 2 }, { 0x1EA0, 0x1EFE, 1, step = 2 }, -- Latin Extended Additional
}
-- Letters whose other case does not map back.
local ONLY_UPPER = {
  [0xB5] = 0x39C, [0x131] = 0x49, [0x17F] = 0x53, [0x1C5] = 0x1C4, [0x1C8] = 0x1C7,
  [0x1CB] = 0x1CA, [0x1F2] = 0x1F1, [0x3C2] = 0x3A3, [0x3D0] = 0x392, [0x3D1] = 0x398,
  [0x3D5] = 0x3A6, [0x3D6] = 0x3A0, [0x3F0] = 0x39A, [0x3F1] = 0x3A1, [0x3F5] = 0x395,
  [0x1E9B] = 0x1E60,
}
local ONLY_LOWER = {
  [0x130] = 0x69, [0x1C5] = 0x1C6, [0x1C8] = 0x1C9, [0x1CB] = 0x1CC, [0x1F2] = 0x1F3,
  [0x3F4] = 0x3B8, [0x1E9E] = 0xDF,
}

-- Created on first use, so that a game that never uses them has no cost.
local to_lower, to_upper
local function make_cases()
  to_lower, to_upper = {}, {}
  for _, row in ipairs(CASES) do
    for code = row[1], row[2], row.step or 1 do
      local capital, small = encode(code), encode(code + row[3])
      to_lower[capital], to_upper[small] = small, capital
    end
  end
  for small, capital in pairs(ONLY_UPPER) do to_upper[encode(small)] = encode(capital) end
  for capital, small in pairs(ONLY_LOWER) do to_lower[encode(capital)] = encode(small) end
end

local WIDE = "[\194-\244][\128-\191]+" -- a character of more than one byte, in valid text

---Returns the text in uppercase.
---@param s string the text
---@return string letters without a known uppercase form are not changed
function Utf8.upper(s)
  check_valid("Utf8.upper", 1, "s", s)
  if not to_upper then make_cases() end
  return (gsub(ascii_upper(s), WIDE, to_upper))
end

---Returns the text in lowercase.
---@param s string the text
---@return string letters without a known lowercase form are not changed
function Utf8.lower(s)
  check_valid("Utf8.lower", 1, "s", s)
  if not to_lower then make_cases() end
  return (gsub(ascii_lower(s), WIDE, to_lower))
end

-- Returns the first bytes of a text, at most `most`, without cutting a character.
function core.utf8_cut(s, most)
  local last = most
  while last > most - 3 do
    local b = byte(s, last + 1)
    if not b or b < 0x80 or b > 0xBF then break end
    last = last - 1
  end
  return sub(s, 1, last)
end

-- Used by the prelude's other files.
core.utf8_invalid_at, core.utf8_encode = invalid_at, encode
