-- The functions of the unpacked rows (src/script/unpacked_row.rs). Do not edit: after a
-- change of a row, `ENGINE_ROWS_UPDATE=1 cargo test --test all -- reference` writes it.
local core = ...
local ffi, type, shared = core.ffi, type, core.drawing
local cast, istype, min = ffi.cast, ffi.istype, core.math.min
local V2, V3, C = core.ctypes.Vector2, core.ctypes.Vector3, core.ctypes.Color
local M, WHITE = core.ctypes.Matrix4x4, shared.white
local sources, fonts = shared.sources, shared.fonts
local source_of, font_of = shared.source_of, shared.font_of
local style_of, borders_of = shared.style_of, shared.borders_of
local take_points, points_buffer = shared.take_points, shared.points_buffer
local take_uvs, uvs_buffer = shared.take_uvs, shared.uvs_buffer
local take_colors, colors_buffer = shared.take_colors, shared.colors_buffer
local stroke_of, text_by_name = shared.stroke_of, shared.text_by_name
local flips, blends = shared.flips, shared.blends
local below_zero, raise_refusal = shared.below_zero, shared.raise_refusal
local raise_argument_error = shared.raise_argument_error
local num_arguments, refuse_extra = core.select, core.refuse_extra
local cx, scratch, types, addresses = core.unpacked_rows()
cx, scratch = cast('void *', cx), cast('const float *', scratch)

do local functions = core.module('Gui')
local native = cast(types[1], addresses[1])
functions.rect = function(a1, a2, a3, a4, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(1, a1, a2, a3, a4) refuse_extra('Gui.rect', 4, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and istype(C, a4) then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4._r, a4._g, a4._b, a4._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and (istype(C, a4) or a4 == nil)) then raise_argument_error(1, a1, a2, a3, a4) end
a4 = a4 or WHITE
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4._r, a4._g,
a4._b, a4._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect')
end end
do local functions = core.module('Gui')
local native = cast(types[2], addresses[2])
functions.update_rect = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(2, a1, a2, a3, a4, a5) refuse_extra('Gui.update_rect', 5, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and istype(C,
a5) then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5._r, a5._g, a5._b, a5._a)
if r < 0 then raise_refusal('Gui.update_rect') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(C, a5) or a5 == nil)) then raise_argument_error(2,
a1, a2, a3, a4, a5) end
a5 = a5 or WHITE
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5._r,
a5._g, a5._b, a5._a)
if r < 0 then raise_refusal('Gui.update_rect') end return
end end
do local functions = core.module('Gui')
local native = cast(types[3], addresses[3])
functions.rect_3d = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(3, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.rect_3d', 6, ...) end
if type(a1) == 'number' and istype(M, a2) and istype(V3, a3) and type(a4) == 'number' and istype(V2,
a5) and istype(C, a6) then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4, a5._x, a5._y, a6._r, a6._g, a6._b, a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect_3d')
end
if not (type(a1) == 'number' and istype(M, a2) and (istype(V2, a3) or istype(V3, a3)) and type(a4)
== 'number' and (istype(V2, a5) or istype(V3, a5)) and (istype(C, a6) or a6 == nil)) then
raise_argument_error(3, a1, a2, a3, a4, a5, a6) end
a6 = a6 or WHITE
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4, a5._x, a5._y, a6._r,
a6._g, a6._b, a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect_3d')
end end
do local functions = core.module('Gui')
local native = cast(types[4], addresses[4])
functions.update_rect_3d = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(4, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_rect_3d', 7, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(M, a3) and istype(V3, a4) and type(a5)
== 'number' and istype(V2, a6) and istype(C, a7) then
local r = native(cx, a1, a2, a3, a4._x, a4._y, a4._z, a5, a6._x, a6._y, a7._r, a7._g, a7._b, a7._a)
if r < 0 then raise_refusal('Gui.update_rect_3d') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and istype(M, a3) and (istype(V2, a4) or
istype(V3, a4)) and type(a5) == 'number' and (istype(V2, a6) or istype(V3, a6)) and (istype(C, a7)
or a7 == nil)) then raise_argument_error(4, a1, a2, a3, a4, a5, a6, a7) end
a7 = a7 or WHITE
local r = native(cx, a1, a2, a3, a4._x, a4._y, istype(V3, a4) and a4._z or 0, a5, a6._x, a6._y,
a7._r, a7._g, a7._b, a7._a)
if r < 0 then raise_refusal('Gui.update_rect_3d') end return
end end
do local functions = core.module('Gui')
local native = cast(types[5], addresses[5])
functions.rect_outline = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(5, a1, a2, a3, a4, a5) refuse_extra('Gui.rect_outline', 5, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and type(a4) == 'number' and a4 >= 0
and istype(C, a5) then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4, a5._r, a5._g, a5._b, a5._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect_outline')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and type(a4) == 'number' and (istype(C, a5) or a5 == nil)) then
raise_argument_error(5, a1, a2, a3, a4, a5) end
if a4 < 0 then below_zero('Gui.rect_outline', 4, 'thickness', a4) end
a5 = a5 or WHITE
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4, a5._r,
a5._g, a5._b, a5._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rect_outline')
end end
do local functions = core.module('Gui')
local native = cast(types[6], addresses[6])
functions.update_rect_outline = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(6, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.update_rect_outline', 6, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and type(a5)
== 'number' and a5 >= 0 and istype(C, a6) then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5, a6._r, a6._g, a6._b, a6._a)
if r < 0 then raise_refusal('Gui.update_rect_outline') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and type(a5) == 'number' and (istype(C, a6) or a6 == nil)) then
raise_argument_error(6, a1, a2, a3, a4, a5, a6) end
if a5 < 0 then below_zero('Gui.update_rect_outline', 5, 'thickness', a5) end
a6 = a6 or WHITE
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5, a6._r,
a6._g, a6._b, a6._a)
if r < 0 then raise_refusal('Gui.update_rect_outline') end return
end end
do local functions = core.module('Gui')
local native = cast(types[7], addresses[7])
functions.gradient_rect = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(7, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.gradient_rect', 7, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and istype(C, a4) and istype(C, a5)
and a6 == nil and a7 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4._r, a4._g, a4._b, a4._a, a5._r,
a5._g, a5._b, a5._a, 0, -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.gradient_rect')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and (istype(C, a4) or a4 == nil) and (istype(C, a5) or a5 == nil) and (a6 == nil or
type(a6) == 'number') and (a7 == nil or type(a7) == 'number')) then raise_argument_error(7, a1, a2,
a3, a4, a5, a6, a7) end
a4 = a4 or WHITE
a5 = a5 or WHITE
if a7 and a7 < 0 then below_zero('Gui.gradient_rect', 7, 'radius', a7) end
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4._r, a4._g,
a4._b, a4._a, a5._r, a5._g, a5._b, a5._a, a6 or 0, a7 or -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.gradient_rect')
end end
do local functions = core.module('Gui')
local native = cast(types[8], addresses[8])
functions.update_gradient_rect = function(a1, a2, a3, a4, a5, a6, a7, a8, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(8, a1, a2, a3, a4, a5, a6, a7, a8) refuse_extra('Gui.update_gradient_rect', 8,
...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and istype(C,
a5) and istype(C, a6) and a7 == nil and a8 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5._r, a5._g, a5._b, a5._a, a6._r,
a6._g, a6._b, a6._a, 0, -1)
if r < 0 then raise_refusal('Gui.update_gradient_rect') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(C, a5) or a5 == nil) and (istype(C, a6) or a6 == nil)
and (a7 == nil or type(a7) == 'number') and (a8 == nil or type(a8) == 'number')) then
raise_argument_error(8, a1, a2, a3, a4, a5, a6, a7, a8) end
a5 = a5 or WHITE
a6 = a6 or WHITE
if a8 and a8 < 0 then below_zero('Gui.update_gradient_rect', 8, 'radius', a8) end
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5._r,
a5._g, a5._b, a5._a, a6._r, a6._g, a6._b, a6._a, a7 or 0, a8 or -1)
if r < 0 then raise_refusal('Gui.update_gradient_rect') end return
end end
do local functions = core.module('Gui')
local native = cast(types[9], addresses[9])
functions.rounded_rect = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(9, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.rounded_rect', 6, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and type(a4) == 'number' and a4 >= 0
and istype(C, a5) and a6 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4, a5._r, a5._g, a5._b, a5._a, -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rounded_rect')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and type(a4) == 'number' and (istype(C, a5) or a5 == nil) and (a6 == nil or type(a6)
== 'number')) then raise_argument_error(9, a1, a2, a3, a4, a5, a6) end
if a4 < 0 then below_zero('Gui.rounded_rect', 4, 'radius', a4) end
a5 = a5 or WHITE
if a6 and a6 < 0 then below_zero('Gui.rounded_rect', 6, 'outline', a6) end
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4, a5._r,
a5._g, a5._b, a5._a, a6 or -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.rounded_rect')
end end
do local functions = core.module('Gui')
local native = cast(types[10], addresses[10])
functions.update_rounded_rect = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(10, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_rounded_rect', 7, ...)
end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and type(a5)
== 'number' and a5 >= 0 and istype(C, a6) and a7 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5, a6._r, a6._g, a6._b, a6._a, -1)
if r < 0 then raise_refusal('Gui.update_rounded_rect') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and type(a5) == 'number' and (istype(C, a6) or a6 == nil) and (a7
== nil or type(a7) == 'number')) then raise_argument_error(10, a1, a2, a3, a4, a5, a6, a7) end
if a5 < 0 then below_zero('Gui.update_rounded_rect', 5, 'radius', a5) end
a6 = a6 or WHITE
if a7 and a7 < 0 then below_zero('Gui.update_rounded_rect', 7, 'outline', a7) end
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5, a6._r,
a6._g, a6._b, a6._a, a7 or -1)
if r < 0 then raise_refusal('Gui.update_rounded_rect') end return
end end
do local functions = core.module('Gui')
local native = cast(types[11], addresses[11])
functions.bitmap = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(11, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) refuse_extra('Gui.bitmap', 10,
...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 and istype(V3, a3) and istype(V2, a4) and istype(C, a5) and a6
== nil and a7 == nil and a8 == nil and a9 == nil and a10 == nil then
local r = native(cx, a1, source_a2, a3._x, a3._y, a3._z, a4._x, a4._y, 1, a5._r, a5._g, a5._b,
a5._a, 0, 0, 0, 1, 1, 0, 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap')
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number') and (istype(V2, a3)
or istype(V3, a3)) and (istype(V2, a4) or istype(V3, a4) or a4 == nil) and (istype(C, a5) or a5 ==
nil) and (a6 == nil or type(a6) == 'number') and (istype(V2, a7) or istype(V3, a7) or a7 == nil) and
(a8 == nil or type(a8) == 'number' or istype(V2, a8) or istype(V3, a8)) and (a9 == nil or flips[a9])
and (a10 == nil or blends[a10])) then raise_argument_error(11, a1, a2, a3, a4, a5, a6, a7, a8, a9,
a10) end
source_a2 = source_a2 or source_of('Gui.bitmap', 2, 'material', a2)
a5 = a5 or WHITE
local r = native(cx, a1, source_a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4 and a4._x or 0,
a4 and a4._y or 0, a4 and 1 or 0, a5._r, a5._g, a5._b, a5._a, a6 or 0, a7 and a7._x or 0, a7 and
a7._y or 0, type(a8) == 'number' and a8 or a8 and a8._x or 1, type(a8) == 'number' and a8 or a8 and
a8._y or 1, a9 and flips[a9] or 0, a10 and blends[a10] or 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap')
end end
do local functions = core.module('Gui')
local native = cast(types[12], addresses[12])
functions.update_bitmap = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(12, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
refuse_extra('Gui.update_bitmap', 11, ...) end
local source_a3 = sources[a3]
if type(a1) == 'number' and type(a2) == 'number' and source_a3 and istype(V3, a4) and istype(V2, a5)
and istype(C, a6) and a7 == nil and a8 == nil and a9 == nil and a10 == nil and a11 == nil then
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, a4._z, a5._x, a5._y, 1, a6._r, a6._g, a6._b,
a6._a, 0, 0, 0, 1, 1, 0, 0)
if r < 0 then raise_refusal('Gui.update_bitmap') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (type(a3) == 'string' or type(a3) ==
'number') and (istype(V2, a4) or istype(V3, a4)) and (istype(V2, a5) or istype(V3, a5) or a5 == nil)
and (istype(C, a6) or a6 == nil) and (a7 == nil or type(a7) == 'number') and (istype(V2, a8) or
istype(V3, a8) or a8 == nil) and (a9 == nil or type(a9) == 'number' or istype(V2, a9) or istype(V3,
a9)) and (a10 == nil or flips[a10]) and (a11 == nil or blends[a11])) then raise_argument_error(12,
a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) end
source_a3 = source_a3 or source_of('Gui.update_bitmap', 3, 'material', a3)
a6 = a6 or WHITE
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, istype(V3, a4) and a4._z or 0, a5 and a5._x or
0, a5 and a5._y or 0, a5 and 1 or 0, a6._r, a6._g, a6._b, a6._a, a7 or 0, a8 and a8._x or 0, a8 and
a8._y or 0, type(a9) == 'number' and a9 or a9 and a9._x or 1, type(a9) == 'number' and a9 or a9 and
a9._y or 1, a10 and flips[a10] or 0, a11 and blends[a11] or 0)
if r < 0 then raise_refusal('Gui.update_bitmap') end return
end end
do local functions = core.module('Gui')
local native = cast(types[13], addresses[13])
functions.bitmap_3d = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(13, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.bitmap_3d', 7, ...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 and istype(M, a3) and istype(V3, a4) and type(a5) == 'number'
and istype(V2, a6) and istype(C, a7) then
local r = native(cx, a1, source_a2, a3, a4._x, a4._y, a4._z, a5, a6._x, a6._y, a7._r, a7._g, a7._b,
a7._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_3d')
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number') and istype(M, a3)
and (istype(V2, a4) or istype(V3, a4)) and type(a5) == 'number' and (istype(V2, a6) or istype(V3,
a6)) and (istype(C, a7) or a7 == nil)) then raise_argument_error(13, a1, a2, a3, a4, a5, a6, a7) end
source_a2 = source_a2 or source_of('Gui.bitmap_3d', 2, 'material', a2)
a7 = a7 or WHITE
local r = native(cx, a1, source_a2, a3, a4._x, a4._y, istype(V3, a4) and a4._z or 0, a5, a6._x,
a6._y, a7._r, a7._g, a7._b, a7._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_3d')
end end
do local functions = core.module('Gui')
local native = cast(types[14], addresses[14])
functions.update_bitmap_3d = function(a1, a2, a3, a4, a5, a6, a7, a8, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(14, a1, a2, a3, a4, a5, a6, a7, a8) refuse_extra('Gui.update_bitmap_3d', 8,
...) end
local source_a3 = sources[a3]
if type(a1) == 'number' and type(a2) == 'number' and source_a3 and istype(M, a4) and istype(V3, a5)
and type(a6) == 'number' and istype(V2, a7) and istype(C, a8) then
local r = native(cx, a1, a2, source_a3, a4, a5._x, a5._y, a5._z, a6, a7._x, a7._y, a8._r, a8._g,
a8._b, a8._a)
if r < 0 then raise_refusal('Gui.update_bitmap_3d') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (type(a3) == 'string' or type(a3) ==
'number') and istype(M, a4) and (istype(V2, a5) or istype(V3, a5)) and type(a6) == 'number' and
(istype(V2, a7) or istype(V3, a7)) and (istype(C, a8) or a8 == nil)) then raise_argument_error(14,
a1, a2, a3, a4, a5, a6, a7, a8) end
source_a3 = source_a3 or source_of('Gui.update_bitmap_3d', 3, 'material', a3)
a8 = a8 or WHITE
local r = native(cx, a1, a2, source_a3, a4, a5._x, a5._y, istype(V3, a5) and a5._z or 0, a6, a7._x,
a7._y, a8._r, a8._g, a8._b, a8._a)
if r < 0 then raise_refusal('Gui.update_bitmap_3d') end return
end end
do local functions = core.module('Gui')
local native = cast(types[15], addresses[15])
functions.bitmap_uv = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(15, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
refuse_extra('Gui.bitmap_uv', 12, ...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 and istype(V2, a3) and istype(V2, a4) and istype(V3, a5) and
istype(V2, a6) and istype(C, a7) and a8 == nil and a9 == nil and a10 == nil and a11 == nil and a12
== nil then
local r = native(cx, a1, source_a2, a3._x, a3._y, a4._x, a4._y, a5._x, a5._y, a5._z, a6._x, a6._y,
a7._r, a7._g, a7._b, a7._a, 0, 0, 0, 1, 1, 0, 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_uv')
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number') and istype(V2, a3)
and istype(V2, a4) and (istype(V2, a5) or istype(V3, a5)) and (istype(V2, a6) or istype(V3, a6)) and
(istype(C, a7) or a7 == nil) and (a8 == nil or type(a8) == 'number') and (istype(V2, a9) or
istype(V3, a9) or a9 == nil) and (a10 == nil or type(a10) == 'number' or istype(V2, a10) or
istype(V3, a10)) and (a11 == nil or flips[a11]) and (a12 == nil or blends[a12])) then
raise_argument_error(15, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) end
source_a2 = source_a2 or source_of('Gui.bitmap_uv', 2, 'material', a2)
a7 = a7 or WHITE
local r = native(cx, a1, source_a2, a3._x, a3._y, a4._x, a4._y, a5._x, a5._y, istype(V3, a5) and
a5._z or 0, a6._x, a6._y, a7._r, a7._g, a7._b, a7._a, a8 or 0, a9 and a9._x or 0, a9 and a9._y or 0,
type(a10) == 'number' and a10 or a10 and a10._x or 1, type(a10) == 'number' and a10 or a10 and
a10._y or 1, a11 and flips[a11] or 0, a12 and blends[a12] or 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_uv')
end end
do local functions = core.module('Gui')
local native = cast(types[16], addresses[16])
functions.update_bitmap_uv = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(16, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)
refuse_extra('Gui.update_bitmap_uv', 13, ...) end
local source_a3 = sources[a3]
if type(a1) == 'number' and type(a2) == 'number' and source_a3 and istype(V2, a4) and istype(V2, a5)
and istype(V3, a6) and istype(V2, a7) and istype(C, a8) and a9 == nil and a10 == nil and a11 == nil
and a12 == nil and a13 == nil then
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, a5._x, a5._y, a6._x, a6._y, a6._z, a7._x,
a7._y, a8._r, a8._g, a8._b, a8._a, 0, 0, 0, 1, 1, 0, 0)
if r < 0 then raise_refusal('Gui.update_bitmap_uv') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (type(a3) == 'string' or type(a3) ==
'number') and istype(V2, a4) and istype(V2, a5) and (istype(V2, a6) or istype(V3, a6)) and
(istype(V2, a7) or istype(V3, a7)) and (istype(C, a8) or a8 == nil) and (a9 == nil or type(a9) ==
'number') and (istype(V2, a10) or istype(V3, a10) or a10 == nil) and (a11 == nil or type(a11) ==
'number' or istype(V2, a11) or istype(V3, a11)) and (a12 == nil or flips[a12]) and (a13 == nil or
blends[a13])) then raise_argument_error(16, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13)
end
source_a3 = source_a3 or source_of('Gui.update_bitmap_uv', 3, 'material', a3)
a8 = a8 or WHITE
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, a5._x, a5._y, a6._x, a6._y, istype(V3, a6) and
a6._z or 0, a7._x, a7._y, a8._r, a8._g, a8._b, a8._a, a9 or 0, a10 and a10._x or 0, a10 and a10._y
or 0, type(a11) == 'number' and a11 or a11 and a11._x or 1, type(a11) == 'number' and a11 or a11 and
a11._y or 1, a12 and flips[a12] or 0, a13 and blends[a13] or 0)
if r < 0 then raise_refusal('Gui.update_bitmap_uv') end return
end end
do local functions = core.module('Gui')
local native = cast(types[17], addresses[17])
functions.bitmap_3d_uv = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(17, a1, a2, a3, a4, a5, a6, a7, a8, a9) refuse_extra('Gui.bitmap_3d_uv', 9,
...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 and istype(V2, a3) and istype(V2, a4) and istype(M, a5) and
istype(V3, a6) and type(a7) == 'number' and istype(V2, a8) and istype(C, a9) then
local r = native(cx, a1, source_a2, a3._x, a3._y, a4._x, a4._y, a5, a6._x, a6._y, a6._z, a7, a8._x,
a8._y, a9._r, a9._g, a9._b, a9._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_3d_uv')
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number') and istype(V2, a3)
and istype(V2, a4) and istype(M, a5) and (istype(V2, a6) or istype(V3, a6)) and type(a7) == 'number'
and (istype(V2, a8) or istype(V3, a8)) and (istype(C, a9) or a9 == nil)) then
raise_argument_error(17, a1, a2, a3, a4, a5, a6, a7, a8, a9) end
source_a2 = source_a2 or source_of('Gui.bitmap_3d_uv', 2, 'material', a2)
a9 = a9 or WHITE
local r = native(cx, a1, source_a2, a3._x, a3._y, a4._x, a4._y, a5, a6._x, a6._y, istype(V3, a6) and
a6._z or 0, a7, a8._x, a8._y, a9._r, a9._g, a9._b, a9._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.bitmap_3d_uv')
end end
do local functions = core.module('Gui')
local native = cast(types[18], addresses[18])
functions.update_bitmap_3d_uv = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(18, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
refuse_extra('Gui.update_bitmap_3d_uv', 10, ...) end
local source_a3 = sources[a3]
if type(a1) == 'number' and type(a2) == 'number' and source_a3 and istype(V2, a4) and istype(V2, a5)
and istype(M, a6) and istype(V3, a7) and type(a8) == 'number' and istype(V2, a9) and istype(C, a10)
then
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, a5._x, a5._y, a6, a7._x, a7._y, a7._z, a8,
a9._x, a9._y, a10._r, a10._g, a10._b, a10._a)
if r < 0 then raise_refusal('Gui.update_bitmap_3d_uv') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (type(a3) == 'string' or type(a3) ==
'number') and istype(V2, a4) and istype(V2, a5) and istype(M, a6) and (istype(V2, a7) or istype(V3,
a7)) and type(a8) == 'number' and (istype(V2, a9) or istype(V3, a9)) and (istype(C, a10) or a10 ==
nil)) then raise_argument_error(18, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) end
source_a3 = source_a3 or source_of('Gui.update_bitmap_3d_uv', 3, 'material', a3)
a10 = a10 or WHITE
local r = native(cx, a1, a2, source_a3, a4._x, a4._y, a5._x, a5._y, a6, a7._x, a7._y, istype(V3, a7)
and a7._z or 0, a8, a9._x, a9._y, a10._r, a10._g, a10._b, a10._a)
if r < 0 then raise_refusal('Gui.update_bitmap_3d_uv') end return
end end
do local functions = core.module('Gui')
local native = cast(types[19], addresses[19])
functions.nine_patch = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(19, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.nine_patch', 6, ...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 and type(a3) == 'number' and a3 >= 0 and istype(V3, a4) and
istype(V2, a5) and istype(C, a6) then
local r = native(cx, a1, source_a2, a3, a3, a3, a3, a4._x, a4._y, a4._z, a5._x, a5._y, a6._r, a6._g,
a6._b, a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.nine_patch')
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number') and (type(a3) ==
'number' or type(a3) == 'table') and (istype(V2, a4) or istype(V3, a4)) and (istype(V2, a5) or
istype(V3, a5)) and (istype(C, a6) or a6 == nil)) then raise_argument_error(19, a1, a2, a3, a4, a5,
a6) end
source_a2 = source_a2 or source_of('Gui.nine_patch', 2, 'material', a2)
local left_a3, bottom_a3, right_a3, top_a3 = borders_of('Gui.nine_patch', 3, 'borders', a3)
a6 = a6 or WHITE
local r = native(cx, a1, source_a2, left_a3, bottom_a3, right_a3, top_a3, a4._x, a4._y, istype(V3,
a4) and a4._z or 0, a5._x, a5._y, a6._r, a6._g, a6._b, a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.nine_patch')
end end
do local functions = core.module('Gui')
local native = cast(types[20], addresses[20])
functions.update_nine_patch = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(20, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_nine_patch', 7, ...)
end
local source_a3 = sources[a3]
if type(a1) == 'number' and type(a2) == 'number' and source_a3 and type(a4) == 'number' and a4 >= 0
and istype(V3, a5) and istype(V2, a6) and istype(C, a7) then
local r = native(cx, a1, a2, source_a3, a4, a4, a4, a4, a5._x, a5._y, a5._z, a6._x, a6._y, a7._r,
a7._g, a7._b, a7._a)
if r < 0 then raise_refusal('Gui.update_nine_patch') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (type(a3) == 'string' or type(a3) ==
'number') and (type(a4) == 'number' or type(a4) == 'table') and (istype(V2, a5) or istype(V3, a5))
and (istype(V2, a6) or istype(V3, a6)) and (istype(C, a7) or a7 == nil)) then
raise_argument_error(20, a1, a2, a3, a4, a5, a6, a7) end
source_a3 = source_a3 or source_of('Gui.update_nine_patch', 3, 'material', a3)
local left_a4, bottom_a4, right_a4, top_a4 = borders_of('Gui.update_nine_patch', 4, 'borders', a4)
a7 = a7 or WHITE
local r = native(cx, a1, a2, source_a3, left_a4, bottom_a4, right_a4, top_a4, a5._x, a5._y,
istype(V3, a5) and a5._z or 0, a6._x, a6._y, a7._r, a7._g, a7._b, a7._a)
if r < 0 then raise_refusal('Gui.update_nine_patch') end return
end end
do local functions = core.module('Gui')
local native = cast(types[21], addresses[21])
functions.triangle = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(21, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.triangle', 6, ...) end
if type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or istype(V3,
a3)) and (istype(V2, a4) or istype(V3, a4)) and type(a5) == 'number' and istype(C, a6) then
local r = native(cx, a1, a2._x, a2._y, a3._x, a3._y, a4._x, a4._y, a5, a6._r, a6._g, a6._b, a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.triangle')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and (istype(V2, a4) or istype(V3, a4)) and (a5 == nil or type(a5) == 'number') and
(istype(C, a6) or a6 == nil)) then raise_argument_error(21, a1, a2, a3, a4, a5, a6) end
a6 = a6 or WHITE
local r = native(cx, a1, a2._x, a2._y, a3._x, a3._y, a4._x, a4._y, a5 or 0, a6._r, a6._g, a6._b,
a6._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.triangle')
end end
do local functions = core.module('Gui')
local native = cast(types[22], addresses[22])
functions.update_triangle = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(22, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_triangle', 7, ...) end
if type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(V2, a5) or istype(V3, a5)) and type(a6) == 'number'
and istype(C, a7) then
local r = native(cx, a1, a2, a3._x, a3._y, a4._x, a4._y, a5._x, a5._y, a6, a7._r, a7._g, a7._b,
a7._a)
if r < 0 then raise_refusal('Gui.update_triangle') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(V2, a5) or istype(V3, a5)) and (a6 == nil or type(a6)
== 'number') and (istype(C, a7) or a7 == nil)) then raise_argument_error(22, a1, a2, a3, a4, a5, a6,
a7) end
a7 = a7 or WHITE
local r = native(cx, a1, a2, a3._x, a3._y, a4._x, a4._y, a5._x, a5._y, a6 or 0, a7._r, a7._g, a7._b,
a7._a)
if r < 0 then raise_refusal('Gui.update_triangle') end return
end end
do local functions = core.module('Gui')
local native = cast(types[23], addresses[23])
functions.line = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(23, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.line', 6, ...) end
if type(a1) == 'number' and istype(V3, a2) and (istype(V2, a3) or istype(V3, a3)) and type(a4) ==
'number' and a4 >= 0 and istype(C, a5) and a6 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4, a5._r, a5._g, a5._b, a5._a, nil)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.line')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and type(a4) == 'number' and (istype(C, a5) or a5 == nil) and (a6 == nil or type(a6)
== 'table')) then raise_argument_error(23, a1, a2, a3, a4, a5, a6) end
if a4 < 0 then below_zero('Gui.line', 4, 'thickness', a4) end
a5 = a5 or WHITE
local stroke_a6 = stroke_of('Gui.line', 6, 'options', a6)
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4, a5._r,
a5._g, a5._b, a5._a, stroke_a6)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.line')
end end
do local functions = core.module('Gui')
local native = cast(types[24], addresses[24])
functions.update_line = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(24, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_line', 7, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and (istype(V2, a4) or
istype(V3, a4)) and type(a5) == 'number' and a5 >= 0 and istype(C, a6) and a7 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5, a6._r, a6._g, a6._b, a6._a, nil)
if r < 0 then raise_refusal('Gui.update_line') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and type(a5) == 'number' and (istype(C, a6) or a6 == nil) and (a7
== nil or type(a7) == 'table')) then raise_argument_error(24, a1, a2, a3, a4, a5, a6, a7) end
if a5 < 0 then below_zero('Gui.update_line', 5, 'thickness', a5) end
a6 = a6 or WHITE
local stroke_a7 = stroke_of('Gui.update_line', 7, 'options', a7)
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5, a6._r,
a6._g, a6._b, a6._a, stroke_a7)
if r < 0 then raise_refusal('Gui.update_line') end return
end end
do local functions = core.module('Gui')
local native = cast(types[25], addresses[25])
functions.polyline = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(25, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.polyline', 7, ...) end
if not (type(a1) == 'number' and type(a2) == 'table' and type(a3) == 'number' and (a4 == nil or
type(a4) == 'number') and (istype(C, a5) or a5 == nil) and (a6 == nil or type(a6) == 'boolean') and
(a7 == nil or type(a7) == 'table')) then raise_argument_error(25, a1, a2, a3, a4, a5, a6, a7) end
local count_a2 = take_points('Gui.polyline', 2, 'points', a2, 2)
if a3 < 0 then below_zero('Gui.polyline', 3, 'thickness', a3) end
a5 = a5 or WHITE
local stroke_a7 = stroke_of('Gui.polyline', 7, 'options', a7)
local r = native(cx, a1, points_buffer, count_a2, a3, a4 or 0, a5._r, a5._g, a5._b, a5._a, a6 and 1
or 0, stroke_a7)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.polyline')
end end
do local functions = core.module('Gui')
local native = cast(types[26], addresses[26])
functions.update_polyline = function(a1, a2, a3, a4, a5, a6, a7, a8, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(26, a1, a2, a3, a4, a5, a6, a7, a8) refuse_extra('Gui.update_polyline', 8, ...)
end
if not (type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'table' and type(a4) ==
'number' and (a5 == nil or type(a5) == 'number') and (istype(C, a6) or a6 == nil) and (a7 == nil or
type(a7) == 'boolean') and (a8 == nil or type(a8) == 'table')) then raise_argument_error(26, a1, a2,
a3, a4, a5, a6, a7, a8) end
local count_a3 = take_points('Gui.update_polyline', 3, 'points', a3, 2)
if a4 < 0 then below_zero('Gui.update_polyline', 4, 'thickness', a4) end
a6 = a6 or WHITE
local stroke_a8 = stroke_of('Gui.update_polyline', 8, 'options', a8)
local r = native(cx, a1, a2, points_buffer, count_a3, a4, a5 or 0, a6._r, a6._g, a6._b, a6._a, a7
and 1 or 0, stroke_a8)
if r < 0 then raise_refusal('Gui.update_polyline') end return
end end
do local functions = core.module('Gui')
local native = cast(types[27], addresses[27])
functions.polygon = function(a1, a2, a3, a4, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(27, a1, a2, a3, a4) refuse_extra('Gui.polygon', 4, ...) end
if not (type(a1) == 'number' and type(a2) == 'table' and (a3 == nil or type(a3) == 'number') and
(istype(C, a4) or a4 == nil)) then raise_argument_error(27, a1, a2, a3, a4) end
local count_a2 = take_points('Gui.polygon', 2, 'points', a2, 3)
a4 = a4 or WHITE
local r = native(cx, a1, points_buffer, count_a2, a3 or 0, a4._r, a4._g, a4._b, a4._a)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.polygon')
end end
do local functions = core.module('Gui')
local native = cast(types[28], addresses[28])
functions.update_polygon = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(28, a1, a2, a3, a4, a5) refuse_extra('Gui.update_polygon', 5, ...) end
if not (type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'table' and (a4 == nil or
type(a4) == 'number') and (istype(C, a5) or a5 == nil)) then raise_argument_error(28, a1, a2, a3,
a4, a5) end
local count_a3 = take_points('Gui.update_polygon', 3, 'points', a3, 3)
a5 = a5 or WHITE
local r = native(cx, a1, a2, points_buffer, count_a3, a4 or 0, a5._r, a5._g, a5._b, a5._a)
if r < 0 then raise_refusal('Gui.update_polygon') end return
end end
do local functions = core.module('Gui')
local native = cast(types[29], addresses[29])
functions.polygon_uv = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(29, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.polygon_uv', 6, ...) end
if not (type(a1) == 'number' and (a2 == nil or type(a2) == 'string' or type(a2) == 'number') and
type(a3) == 'table' and (a4 == nil or type(a4) == 'table') and (a5 == nil or type(a5) == 'number')
and (a6 == nil or istype(C, a6) or type(a6) == 'table')) then raise_argument_error(29, a1, a2, a3,
a4, a5, a6) end
local source_a2 = a2 == nil and 0 or source_of('Gui.polygon_uv', 2, 'material', a2)
local count_a3 = take_points('Gui.polygon_uv', 3, 'points', a3, 3)
local count_a4 = a4 and take_uvs('Gui.polygon_uv', 4, 'uvs', a4) or 0
local count_a6 = take_colors('Gui.polygon_uv', 6, 'colors', a6)
local r = native(cx, a1, source_a2, points_buffer, count_a3, a4 and uvs_buffer or nil, count_a4, a5
or 0, colors_buffer, count_a6)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.polygon_uv')
end end
do local functions = core.module('Gui')
local native = cast(types[30], addresses[30])
functions.update_polygon_uv = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(30, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_polygon_uv', 7, ...)
end
if not (type(a1) == 'number' and type(a2) == 'number' and (a3 == nil or type(a3) == 'string' or
type(a3) == 'number') and type(a4) == 'table' and (a5 == nil or type(a5) == 'table') and (a6 == nil
or type(a6) == 'number') and (a7 == nil or istype(C, a7) or type(a7) == 'table')) then
raise_argument_error(30, a1, a2, a3, a4, a5, a6, a7) end
local source_a3 = a3 == nil and 0 or source_of('Gui.update_polygon_uv', 3, 'material', a3)
local count_a4 = take_points('Gui.update_polygon_uv', 4, 'points', a4, 3)
local count_a5 = a5 and take_uvs('Gui.update_polygon_uv', 5, 'uvs', a5) or 0
local count_a7 = take_colors('Gui.update_polygon_uv', 7, 'colors', a7)
local r = native(cx, a1, a2, source_a3, points_buffer, count_a4, a5 and uvs_buffer or nil, count_a5,
a6 or 0, colors_buffer, count_a7)
if r < 0 then raise_refusal('Gui.update_polygon_uv') end return
end end
do local functions = core.module('Gui')
local native = cast(types[31], addresses[31])
functions.circle = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(31, a1, a2, a3, a4, a5) refuse_extra('Gui.circle', 5, ...) end
if type(a1) == 'number' and istype(V3, a2) and type(a3) == 'number' and a3 >= 0 and istype(C, a4)
and a5 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3, a4._r, a4._g, a4._b, a4._a, -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.circle')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and type(a3) == 'number' and
(istype(C, a4) or a4 == nil) and (a5 == nil or type(a5) == 'number')) then raise_argument_error(31,
a1, a2, a3, a4, a5) end
if a3 < 0 then below_zero('Gui.circle', 3, 'radius', a3) end
a4 = a4 or WHITE
if a5 and a5 < 0 then below_zero('Gui.circle', 5, 'outline', a5) end
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3, a4._r, a4._g, a4._b,
a4._a, a5 or -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.circle')
end end
do local functions = core.module('Gui')
local native = cast(types[32], addresses[32])
functions.update_circle = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(32, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.update_circle', 6, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and type(a4) == 'number' and a4
>= 0 and istype(C, a5) and a6 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4, a5._r, a5._g, a5._b, a5._a, -1)
if r < 0 then raise_refusal('Gui.update_circle') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
type(a4) == 'number' and (istype(C, a5) or a5 == nil) and (a6 == nil or type(a6) == 'number')) then
raise_argument_error(32, a1, a2, a3, a4, a5, a6) end
if a4 < 0 then below_zero('Gui.update_circle', 4, 'radius', a4) end
a5 = a5 or WHITE
if a6 and a6 < 0 then below_zero('Gui.update_circle', 6, 'outline', a6) end
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4, a5._r, a5._g, a5._b,
a5._a, a6 or -1)
if r < 0 then raise_refusal('Gui.update_circle') end return
end end
do local functions = core.module('Gui')
local native = cast(types[33], addresses[33])
functions.ellipse = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(33, a1, a2, a3, a4, a5) refuse_extra('Gui.ellipse', 5, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and a3._x >= 0 and a3._y >= 0 and
istype(C, a4) and a5 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4._r, a4._g, a4._b, a4._a, -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.ellipse')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and (istype(C, a4) or a4 == nil) and (a5 == nil or type(a5) == 'number')) then
raise_argument_error(33, a1, a2, a3, a4, a5) end
if min(a3._x, a3._y) < 0 then below_zero('Gui.ellipse', 3, 'radii', min(a3._x, a3._y)) end
a4 = a4 or WHITE
if a5 and a5 < 0 then below_zero('Gui.ellipse', 5, 'outline', a5) end
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4._r, a4._g,
a4._b, a4._a, a5 or -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.ellipse')
end end
do local functions = core.module('Gui')
local native = cast(types[34], addresses[34])
functions.update_ellipse = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(34, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.update_ellipse', 6, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and a4._x >=
0 and a4._y >= 0 and istype(C, a5) and a6 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5._r, a5._g, a5._b, a5._a, -1)
if r < 0 then raise_refusal('Gui.update_ellipse') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(C, a5) or a5 == nil) and (a6 == nil or type(a6) ==
'number')) then raise_argument_error(34, a1, a2, a3, a4, a5, a6) end
if min(a4._x, a4._y) < 0 then below_zero('Gui.update_ellipse', 4, 'radii', min(a4._x, a4._y)) end
a5 = a5 or WHITE
if a6 and a6 < 0 then below_zero('Gui.update_ellipse', 6, 'outline', a6) end
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5._r,
a5._g, a5._b, a5._a, a6 or -1)
if r < 0 then raise_refusal('Gui.update_ellipse') end return
end end
do local functions = core.module('Gui')
local native = cast(types[35], addresses[35])
functions.gradient_ellipse = function(a1, a2, a3, a4, a5, a6, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(35, a1, a2, a3, a4, a5, a6) refuse_extra('Gui.gradient_ellipse', 6, ...) end
if type(a1) == 'number' and istype(V3, a2) and istype(V2, a3) and a3._x >= 0 and a3._y >= 0 and
istype(C, a4) and istype(C, a5) and (a6 == nil or type(a6) == 'number') then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3._x, a3._y, a4._r, a4._g, a4._b, a4._a, a5._r,
a5._g, a5._b, a5._a, a6 or 0, a6 and 1 or 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.gradient_ellipse')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and (istype(V2, a3) or
istype(V3, a3)) and (istype(C, a4) or a4 == nil) and (istype(C, a5) or a5 == nil) and (a6 == nil or
type(a6) == 'number')) then raise_argument_error(35, a1, a2, a3, a4, a5, a6) end
if min(a3._x, a3._y) < 0 then below_zero('Gui.gradient_ellipse', 3, 'radii', min(a3._x, a3._y)) end
a4 = a4 or WHITE
a5 = a5 or WHITE
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3._x, a3._y, a4._r, a4._g,
a4._b, a4._a, a5._r, a5._g, a5._b, a5._a, a6 or 0, a6 and 1 or 0)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.gradient_ellipse')
end end
do local functions = core.module('Gui')
local native = cast(types[36], addresses[36])
functions.update_gradient_ellipse = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(36, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.update_gradient_ellipse', 7,
...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and istype(V2, a4) and a4._x >=
0 and a4._y >= 0 and istype(C, a5) and istype(C, a6) and (a7 == nil or type(a7) == 'number') then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4._x, a4._y, a5._r, a5._g, a5._b, a5._a, a6._r,
a6._g, a6._b, a6._a, a7 or 0, a7 and 1 or 0)
if r < 0 then raise_refusal('Gui.update_gradient_ellipse') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
(istype(V2, a4) or istype(V3, a4)) and (istype(C, a5) or a5 == nil) and (istype(C, a6) or a6 == nil)
and (a7 == nil or type(a7) == 'number')) then raise_argument_error(36, a1, a2, a3, a4, a5, a6, a7)
end
if min(a4._x, a4._y) < 0 then below_zero('Gui.update_gradient_ellipse', 4, 'radii', min(a4._x,
a4._y)) end
a5 = a5 or WHITE
a6 = a6 or WHITE
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4._x, a4._y, a5._r,
a5._g, a5._b, a5._a, a6._r, a6._g, a6._b, a6._a, a7 or 0, a7 and 1 or 0)
if r < 0 then raise_refusal('Gui.update_gradient_ellipse') end return
end end
do local functions = core.module('Gui')
local native = cast(types[37], addresses[37])
functions.arc = function(a1, a2, a3, a4, a5, a6, a7, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(37, a1, a2, a3, a4, a5, a6, a7) refuse_extra('Gui.arc', 7, ...) end
if type(a1) == 'number' and istype(V3, a2) and type(a3) == 'number' and a3 >= 0 and type(a4) ==
'number' and type(a5) == 'number' and istype(C, a6) and a7 == nil then
local r = native(cx, a1, a2._x, a2._y, a2._z, a3, a4, a5, a6._r, a6._g, a6._b, a6._a, -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.arc')
end
if not (type(a1) == 'number' and (istype(V2, a2) or istype(V3, a2)) and type(a3) == 'number' and
type(a4) == 'number' and type(a5) == 'number' and (istype(C, a6) or a6 == nil) and (a7 == nil or
type(a7) == 'number')) then raise_argument_error(37, a1, a2, a3, a4, a5, a6, a7) end
if a3 < 0 then below_zero('Gui.arc', 3, 'radius', a3) end
a6 = a6 or WHITE
if a7 and a7 < 0 then below_zero('Gui.arc', 7, 'thickness', a7) end
local r = native(cx, a1, a2._x, a2._y, istype(V3, a2) and a2._z or 0, a3, a4, a5, a6._r, a6._g,
a6._b, a6._a, a7 or -1)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.arc')
end end
do local functions = core.module('Gui')
local native = cast(types[38], addresses[38])
functions.update_arc = function(a1, a2, a3, a4, a5, a6, a7, a8, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(38, a1, a2, a3, a4, a5, a6, a7, a8) refuse_extra('Gui.update_arc', 8, ...) end
if type(a1) == 'number' and type(a2) == 'number' and istype(V3, a3) and type(a4) == 'number' and a4
>= 0 and type(a5) == 'number' and type(a6) == 'number' and istype(C, a7) and a8 == nil then
local r = native(cx, a1, a2, a3._x, a3._y, a3._z, a4, a5, a6, a7._r, a7._g, a7._b, a7._a, -1)
if r < 0 then raise_refusal('Gui.update_arc') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and (istype(V2, a3) or istype(V3, a3)) and
type(a4) == 'number' and type(a5) == 'number' and type(a6) == 'number' and (istype(C, a7) or a7 ==
nil) and (a8 == nil or type(a8) == 'number')) then raise_argument_error(38, a1, a2, a3, a4, a5, a6,
a7, a8) end
if a4 < 0 then below_zero('Gui.update_arc', 4, 'radius', a4) end
a7 = a7 or WHITE
if a8 and a8 < 0 then below_zero('Gui.update_arc', 8, 'thickness', a8) end
local r = native(cx, a1, a2, a3._x, a3._y, istype(V3, a3) and a3._z or 0, a4, a5, a6, a7._r, a7._g,
a7._b, a7._a, a8 or -1)
if r < 0 then raise_refusal('Gui.update_arc') end return
end end
do local functions = core.module('Gui')
local native = cast(types[39], addresses[39])
functions.text = function(a1, a2, a3, a4, a5, a6, a7, a8, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(39, a1, a2, a3, a4, a5, a6, a7, a8) refuse_extra('Gui.text', 8, ...) end
local font_a3 = fonts[a3]
if type(a1) == 'number' and type(a2) == 'string' and font_a3 and type(a4) == 'number' and a5 == nil
and istype(V3, a6) and istype(C, a7) and a8 == nil then
local r = native(cx, a1, a2, #a2, font_a3, a4, 0, a6._x, a6._y, a6._z, a7._r, a7._g, a7._b, a7._a,
nil)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.text')
end
if (istype(V3, a3) or istype(V2, a3)) and (a4 == nil or type(a4) == 'table') then
a3, a4, a5, a6, a7, a8 = text_by_name('Gui.text', 4, a3, a4, a5) end
if not (type(a1) == 'number' and type(a2) == 'string' and (a3 == nil or type(a3) == 'string') and
type(a4) == 'number' and (a5 == nil or type(a5) == 'string' or type(a5) == 'number') and (istype(V2,
a6) or istype(V3, a6)) and (istype(C, a7) or a7 == nil) and (a8 == nil or type(a8) == 'table')) then
raise_argument_error(39, a1, a2, a3, a4, a5, a6, a7, a8) end
font_a3 = font_a3 or font_of('Gui.text', 3, 'font', a3)
local source_a5 = a5 == nil and 0 or source_of('Gui.text', 5, 'material', a5)
a7 = a7 or WHITE
local style_a8 = style_of('Gui.text', 8, 'options', a8)
local r = native(cx, a1, a2, #a2, font_a3, a4, source_a5, a6._x, a6._y, istype(V3, a6) and a6._z or
0, a7._r, a7._g, a7._b, a7._a, style_a8)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.text')
end end
do local functions = core.module('Gui')
local native = cast(types[40], addresses[40])
functions.update_text = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(40, a1, a2, a3, a4, a5, a6, a7, a8, a9) refuse_extra('Gui.update_text', 9, ...)
end
local font_a4 = fonts[a4]
if type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'string' and font_a4 and type(a5)
== 'number' and a6 == nil and istype(V3, a7) and istype(C, a8) and a9 == nil then
local r = native(cx, a1, a2, a3, #a3, font_a4, a5, 0, a7._x, a7._y, a7._z, a8._r, a8._g, a8._b,
a8._a, nil)
if r < 0 then raise_refusal('Gui.update_text') end return
end
if (istype(V3, a4) or istype(V2, a4)) and (a5 == nil or type(a5) == 'table') then
a4, a5, a6, a7, a8, a9 = text_by_name('Gui.update_text', 5, a4, a5, a6) end
if not (type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'string' and (a4 == nil or
type(a4) == 'string') and type(a5) == 'number' and (a6 == nil or type(a6) == 'string' or type(a6) ==
'number') and (istype(V2, a7) or istype(V3, a7)) and (istype(C, a8) or a8 == nil) and (a9 == nil or
type(a9) == 'table')) then raise_argument_error(40, a1, a2, a3, a4, a5, a6, a7, a8, a9) end
font_a4 = font_a4 or font_of('Gui.update_text', 4, 'font', a4)
local source_a6 = a6 == nil and 0 or source_of('Gui.update_text', 6, 'material', a6)
a8 = a8 or WHITE
local style_a9 = style_of('Gui.update_text', 9, 'options', a9)
local r = native(cx, a1, a2, a3, #a3, font_a4, a5, source_a6, a7._x, a7._y, istype(V3, a7) and a7._z
or 0, a8._r, a8._g, a8._b, a8._a, style_a9)
if r < 0 then raise_refusal('Gui.update_text') end return
end end
do local functions = core.module('Gui')
local native = cast(types[41], addresses[41])
functions.text_3d = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(41, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) refuse_extra('Gui.text_3d', 10,
...) end
local font_a3 = fonts[a3]
if type(a1) == 'number' and type(a2) == 'string' and font_a3 and type(a4) == 'number' and a5 == nil
and istype(M, a6) and istype(V3, a7) and type(a8) == 'number' and istype(C, a9) and a10 == nil then
local r = native(cx, a1, a2, #a2, font_a3, a4, 0, a6, a7._x, a7._y, a7._z, a8, a9._r, a9._g, a9._b,
a9._a, nil)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.text_3d')
end
if not (type(a1) == 'number' and type(a2) == 'string' and (a3 == nil or type(a3) == 'string') and
type(a4) == 'number' and (a5 == nil or type(a5) == 'string' or type(a5) == 'number') and istype(M,
a6) and (istype(V2, a7) or istype(V3, a7)) and type(a8) == 'number' and (istype(C, a9) or a9 == nil)
and (a10 == nil or type(a10) == 'table')) then raise_argument_error(41, a1, a2, a3, a4, a5, a6, a7,
a8, a9, a10) end
font_a3 = font_a3 or font_of('Gui.text_3d', 3, 'font', a3)
local source_a5 = a5 == nil and 0 or source_of('Gui.text_3d', 5, 'material', a5)
a9 = a9 or WHITE
local style_a10 = style_of('Gui.text_3d', 10, 'options', a10)
local r = native(cx, a1, a2, #a2, font_a3, a4, source_a5, a6, a7._x, a7._y, istype(V3, a7) and a7._z
or 0, a8, a9._r, a9._g, a9._b, a9._a, style_a10)
if r == 0 then return end if r > 0 then return r end raise_refusal('Gui.text_3d')
end end
do local functions = core.module('Gui')
local native = cast(types[42], addresses[42])
functions.update_text_3d = function(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(42, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
refuse_extra('Gui.update_text_3d', 11, ...) end
local font_a4 = fonts[a4]
if type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'string' and font_a4 and type(a5)
== 'number' and a6 == nil and istype(M, a7) and istype(V3, a8) and type(a9) == 'number' and
istype(C, a10) and a11 == nil then
local r = native(cx, a1, a2, a3, #a3, font_a4, a5, 0, a7, a8._x, a8._y, a8._z, a9, a10._r, a10._g,
a10._b, a10._a, nil)
if r < 0 then raise_refusal('Gui.update_text_3d') end return
end
if not (type(a1) == 'number' and type(a2) == 'number' and type(a3) == 'string' and (a4 == nil or
type(a4) == 'string') and type(a5) == 'number' and (a6 == nil or type(a6) == 'string' or type(a6) ==
'number') and istype(M, a7) and (istype(V2, a8) or istype(V3, a8)) and type(a9) == 'number' and
(istype(C, a10) or a10 == nil) and (a11 == nil or type(a11) == 'table')) then
raise_argument_error(42, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) end
font_a4 = font_a4 or font_of('Gui.update_text_3d', 4, 'font', a4)
local source_a6 = a6 == nil and 0 or source_of('Gui.update_text_3d', 6, 'material', a6)
a10 = a10 or WHITE
local style_a11 = style_of('Gui.update_text_3d', 11, 'options', a11)
local r = native(cx, a1, a2, a3, #a3, font_a4, a5, source_a6, a7, a8._x, a8._y, istype(V3, a8) and
a8._z or 0, a9, a10._r, a10._g, a10._b, a10._a, style_a11)
if r < 0 then raise_refusal('Gui.update_text_3d') end return
end end
do local functions = core.module('Gui')
local native = cast(types[43], addresses[43])
functions.text_extents = function(a1, a2, a3, a4, a5, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(43, a1, a2, a3, a4, a5) refuse_extra('Gui.text_extents', 5, ...) end
local font_a3 = fonts[a3]
if type(a1) == 'number' and type(a2) == 'string' and font_a3 and type(a4) == 'number' and a5 == nil
then
local r = native(cx, a1, a2, #a2, font_a3, a4, nil)
if r < 0 then raise_refusal('Gui.text_extents') end
return V3(scratch[0], scratch[1], 0), V3(scratch[2], scratch[3], 0), V3(scratch[4], scratch[5], 0)
end
if type(a3) == 'table' and a4 == nil then local _
a3, a4, _, _, _, a5 = text_by_name('Gui.text_extents', 3, nil, a3) end
if not (type(a1) == 'number' and type(a2) == 'string' and (a3 == nil or type(a3) == 'string') and
type(a4) == 'number' and (a5 == nil or type(a5) == 'table')) then raise_argument_error(43, a1, a2,
a3, a4, a5) end
font_a3 = font_a3 or font_of('Gui.text_extents', 3, 'font', a3)
local style_a5 = style_of('Gui.text_extents', 5, 'options', a5)
local r = native(cx, a1, a2, #a2, font_a3, a4, style_a5)
if r < 0 then raise_refusal('Gui.text_extents') end
return V3(scratch[0], scratch[1], 0), V3(scratch[2], scratch[3], 0), V3(scratch[4], scratch[5], 0)
end end
do local functions = core.module('Gui')
local native = cast(types[44], addresses[44])
functions.has_all_glyphs = function(a1, a2, a3, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(44, a1, a2, a3) refuse_extra('Gui.has_all_glyphs', 3, ...) end
local font_a3 = fonts[a3]
if type(a1) == 'number' and type(a2) == 'string' and font_a3 then
local r = native(cx, a1, a2, #a2, font_a3)
if r < 0 then raise_refusal('Gui.has_all_glyphs') end
return r ~= 0
end
if not (type(a1) == 'number' and type(a2) == 'string' and (a3 == nil or type(a3) == 'string')) then
raise_argument_error(44, a1, a2, a3) end
font_a3 = font_a3 or font_of('Gui.has_all_glyphs', 3, 'font', a3)
local r = native(cx, a1, a2, #a2, font_a3)
if r < 0 then raise_refusal('Gui.has_all_glyphs') end
return r ~= 0
end end
do local functions = core.module('Gui')
local native = cast(types[45], addresses[45])
functions.texture_size = function(a1, a2, ...)
if num_arguments('#', ...) > 0 then
raise_argument_error(45, a1, a2) refuse_extra('Gui.texture_size', 2, ...) end
local source_a2 = sources[a2]
if type(a1) == 'number' and source_a2 then
local r = native(cx, a1, source_a2)
if r < 0 then raise_refusal('Gui.texture_size') end
return scratch[0], scratch[1]
end
if not (type(a1) == 'number' and (type(a2) == 'string' or type(a2) == 'number')) then
raise_argument_error(45, a1, a2) end
source_a2 = source_a2 or source_of('Gui.texture_size', 2, 'material', a2)
local r = native(cx, a1, source_a2)
if r < 0 then raise_refusal('Gui.texture_size') end
return scratch[0], scratch[1]
end end
