//! The rows of the reload table: a module `m` is loaded and `before` runs, its file is edited, and
//! `after` must hold.

/// As many locals as Lua allows.
macro_rules! many_locals {
    () => {
        "local a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
         a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, \
         a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, \
         a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, \
         a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, \
         a83, a84, a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, \
         a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111, \
         a112, a113, a114, a115, a116, a117, a118, a119, a120, a121, a122, a123, a124, \
         a125, a126, a127, a128, a129, a130, a131, a132, a133, a134, a135, a136, a137, \
         a138, a139, a140, a141, a142, a143, a144, a145, a146, a147, a148, a149, a150, \
         a151, a152, a153, a154, a155, a156, a157, a158, a159, a160, a161, a162, a163, \
         a164, a165, a166, a167, a168, a169, a170, a171, a172, a173, a174, a175, a176, \
         a177, a178, a179, a180, a181, a182, a183, a184, a185, a186, a187, a188, a189, \
         a190, a191, a192, a193, a194, a195, a196, a197, a198, a199, a200 = 0, 0 "
    };
}

/// One line of the table.
pub struct Row {
    /// The text of the line.
    pub name: &'static str,
    pub old: &'static str,
    pub before: &'static str,
    pub new: &'static str,
    pub after: &'static str,
    /// Source of `other.lua`, which is not edited.
    pub other: &'static str,
}

const fn row(
    name: &'static str,
    old: &'static str,
    before: &'static str,
    new: &'static str,
    after: &'static str,
) -> Row {
    Row { name, old, before, new, after, other: "return {}" }
}

const fn with_other(other: &'static str, row: Row) -> Row {
    Row { other, ..row }
}

pub const KEEPS: &[Row] = &[
    row(
        "A module keeps its table, so references in other files stay valid.",
        "local M = {} function M.f() return 1 end return M",
        "t = m",
        "local M = {} function M.f() return 2 end return M",
        "assert(require 'm' == t and t.f() == 2)",
    ),
    row(
        "A top-level local keeps the value that the game assigned.",
        "local M, hits = {}, 0 function M.hit() hits = hits + 1 return hits end return M",
        "m.hit() m.hit()",
        "local M, hits = {}, 0 function M.hit() hits = hits + 10 return hits end return M",
        "assert(m.hit() == 12)",
    ),
    row(
        "A local that a function uses for the first time after an edit has its current value \
         there.",
        "local M, hits = {}, 0 function M.hit() hits = hits + 1 end function M.show() end return M",
        "m.hit() m.hit()",
        "local M, hits = {}, 0 function M.hit() hits = hits + 1 end \
         function M.show() return hits end return M",
        "assert(m.show() == 2)",
    ),
    row(
        "Functions that share a local still share it, whether they are new or old.",
        "local M, n = {}, 0 function M.add() n = n + 1 end function M.get() return n end return M",
        "m.add() old_get = m.get",
        "local M, n = {}, 0 function M.add() n = n + 5 end function M.get() return n end \
         function M.twice() return 2 * n end return M",
        "m.add() assert(m.get() == 6 and m.twice() == 12 and old_get() == 6)",
    ),
    row(
        "A global keeps the value that the game assigned.",
        "score = 0 function win() score = score + 1 end",
        "win() win()",
        "score = 0 function win() score = score + 100 end",
        "assert(score == 2) win() assert(score == 102)",
    ),
    row(
        "A field keeps the value that the game assigned.",
        "local M = { speed = 1, nested = { deep = 1 } } return M",
        "m.speed = 7 m.nested.deep = 8 nested = m.nested",
        "local M = { speed = 2, nested = { deep = 2 } } return M",
        "assert(m.speed == 7 and m.nested == nested and nested.deep == 8)",
    ),
    row(
        "A value that the game removed stays removed.",
        "return { a = 1, f = function() end }",
        "m.a = nil m.f = nil",
        "return { a = 1, f = function() return 2 end, b = 3 }",
        "assert(m.a == nil and m.f == nil and m.b == 3)",
    ),
    row(
        "A local that `init` or another function set keeps its value.",
        "local player local M = {} function M.init() player = { hp = 3 } end \
         function M.hp() return player.hp end return M",
        "m.init()",
        "local player local M = {} function M.init() player = { hp = 9 } end \
         function M.hp() return player.hp * 10 end return M",
        "assert(m.hp() == 30)",
    ),
    row(
        "A state table at the top level keeps its identity and its content.",
        "local state = {} local M = {} function M.put(k, v) state[k] = v end \
         function M.state() return state end return M",
        "m.put('a', 1) m.put(1, 'x') s = m.state()",
        "local state = {} local M = {} function M.put(k, v) state[k] = v end \
         function M.state() return state end function M.get(k) return state[k] end return M",
        "assert(m.state() == s and m.get('a') == 1 and m.get(1) == 'x')",
    ),
    row(
        "A function that the game added to the module's table at run time stays.",
        "local M = {} function M.f() end return M",
        "m.extra = function() return 'mine' end",
        "local M = {} return M",
        "assert(m.f == nil and m.extra() == 'mine')",
    ),
    row(
        "A function that the game replaced at run time keeps the replacement.",
        "local M = {} function M.f() return 1 end return M",
        "m.f = function() return 'mine' end",
        "local M = {} function M.f() return 2 end return M",
        "assert(m.f() == 'mine')",
    ),
    row(
        "Objects keep their class (a table with `__index`), wherever the class is stored.",
        "local Enemy = {} Enemy.__index = Enemy function Enemy.new() return setmetatable({ hp = \
         1 }, \
         Enemy) end function Enemy:name() return 'old' end return Enemy",
        "e = m.new() e.hp = 5 mt = getmetatable(e)",
        "local Enemy = {} Enemy.__index = Enemy function Enemy.new() return setmetatable({ hp = \
         2 }, \
         Enemy) end function Enemy:name() return 'new' .. self.hp end return Enemy",
        "assert(e:name() == 'new5' and getmetatable(e) == mt and getmetatable(m.new()) == mt)",
    ),
    row(
        "Objects of `class` keep their class, and `is_a` holds between old and new ones.",
        "Enemy = class(Enemy) function Enemy:init() self.hp = 1 end \
         function Enemy:name() return 'old' end",
        "e = Enemy() class_before = Enemy",
        "Enemy = class(Enemy) function Enemy:init() self.hp = 2 end \
         function Enemy:name() return 'new' .. self.hp end",
        "assert(e:name() == 'new1' and Enemy == class_before and Enemy():name() == 'new2') \
         assert(class.is_a(e, Enemy) and class.is_a(Enemy.new(), class_before))",
    ),
    row(
        "A class that is stored only in a local is kept through its objects.",
        "local Box = {} Box.__index = Box function Box:v() return 1 end \
         return function() return setmetatable({}, Box) end",
        "b = m()",
        "local Box = {} Box.__index = Box function Box:v() return 2 end \
         return function() return setmetatable({}, Box) end",
        "assert(b:v() == 2 and getmetatable(b) == getmetatable(require('m')()))",
    ),
    row(
        "A closure created at the top level keeps its upvalues and takes the new body.",
        "local function counter() local n = 0 return function() n = n + 1 return n end end \
         local M = { count = counter() } return M",
        "m.count() m.count() held = m.count",
        "local function counter() local n = 0 return function() n = n + 1 return n * 100 end end \
         local M = { count = counter() } return M",
        "assert(m.count() == 300 and held() == 400)",
    ),
    row(
        "Locals of a `do` block at the top level keep their values.",
        "local M = {} do local n = 0 function M.hit() n = n + 1 return n end end return M",
        "m.hit()",
        "local M = {} do local n = 0 function M.hit() n = n + 1 return -n end end return M",
        "assert(m.hit() == -2)",
    ),
    row(
        "Locals with the same name are distinguished by the functions that use them.",
        "local M = {} local n = 1 function M.a() n = n + 1 return n end \
         local n = 10 function M.b() n = n + 1 return n end return M",
        "m.a() m.b()",
        "local M = {} local n = 1 function M.a() n = n + 1 return 'a' .. n end \
         local n = 10 function M.b() n = n + 1 return 'b' .. n end return M",
        "assert(m.a() == 'a3' and m.b() == 'b12')",
    ),
    with_other(
        "return { counted = function(f) local n = 0 return function() n = n + 1 return n, f() \
         end end }",
        row(
            "An object that another file's function created at the top level keeps its state and \
             calls the new code.",
            "local other = require 'other' local M = { f = other.counted(function() return 'old' \
             end) } \
         return M",
            "m.f() m.f() held = m.f",
            "local other = require 'other' local M = { f = other.counted(function() return 'new' \
             end) } \
         return M",
            "local n, word = held() assert(held == m.f and n == 3 and word == 'new')",
        ),
    ),
    row(
        "A running coroutine of the top level continues from its position.",
        "local M = {} local function count() for i = 1, 9 do coroutine.yield(i) end end \
         local co, wrapped = coroutine.create(count), coroutine.wrap(count) M.wrapped = wrapped \
         local fresh = coroutine.wrap(function() return 'old' end) M.text = 1 \
         M.of = { [co] = { n = 0 } } \
         function M.next() local _, i = coroutine.resume(co) return i, wrapped() end \
         function M.fresh() return fresh() end return M",
        "m.next() m.next() held = m.wrapped select(2, next(m.of)).n = 5",
        "local M = {} local function count() for i = 1, 9 do coroutine.yield(i) end end \
         local co, wrapped = coroutine.create(count), coroutine.wrap(count) M.wrapped = wrapped \
         local fresh = coroutine.wrap(function() return 'new' end) M.text = 2 \
         M.of = { [co] = { n = 0 } } M.list = { co, wrapped } \
         function M.next() local _, i = coroutine.resume(M.list[1]) return i, M.list[2]() end \
         function M.fresh() return fresh() end return M",
        "local i, k = m.next() assert(i == 3 and k == 3 and m.wrapped == held and m.text == 2) \
         assert(held() == 4 and m.list[2] == held and select(2, next(m.of)).n == 5) \
         assert(next(m.of) == m.list[1] and next(m.of, m.list[1]) == nil) \
         if not was_fresh then was_fresh = m.fresh() assert(was_fresh == 'new') end",
    ),
    row(
        "A `Float32Array` of the top level stays the same array and keeps its content.",
        "local M = {} local a = Float32Array({ 1, 2, 3 }) M.a, M.b = a, Float32Array(2) \
         function M.first() return a[1] end return M",
        "a, b = m.a, m.b a[1] = 10 b:push(7)",
        "local M = {} local a = Float32Array({ 5, 6, 3, 4 }) M.a, M.b = a, Float32Array(1) \
         M.list = { a } function M.first() return -a[1] end return M",
        "assert(m.a == a and m.b == b and m.list[1] == a and m.first() == -10) \
         assert(a[1] == 10 and a[2] == 6 and a[3] == 3 and a[4] == 4 and #a == 4) \
         assert(#b == 3 and b[3] == 7)",
    ),
    row(
        "An `Image` or `SoundBuffer` of the top level keeps its content if its size stays.",
        "local M = { image = Image.new(2, 2), sound = SoundBuffer.new(1, 8000, 9) } \
         local small = Image.new(1, 1) function M.small() return small end return M",
        "image, sound, small = m.image, m.sound, m.small() \
         Image.set_pixel(image, 1, 1, Color(1, 2, 3)) SoundBuffer.set_sample(sound, 9, 0.5)",
        "local M = { image = Image.new(2, 2), sound = SoundBuffer.new(1, 8000, 9) } \
         local small = Image.new(3, 1) M.list = { M.image } \
         function M.small() return small end return M",
        "assert(m.image == image and m.sound == sound and m.list[1] == image) \
         assert(Image.pixel(image, 1, 1) == Color(1, 2, 3)) \
         assert(SoundBuffer.sample(sound, 9) == 0.5) \
         assert(m.small() ~= small and Image.size(m.small()) == 3)",
    ),
    row(
        "A constant vector or colour with unchanged numbers stays the same value.",
        "local M = { at = Vector3(1, 2, 3) } return M",
        "at = m.at m.at = Vector3(9, 9, 9)",
        "local M = { at = Vector3(1, 2, 3) } return M",
        "assert(m.at == Vector3(9, 9, 9))",
    ),
    with_other(
        "return { name = 'other' }",
        row(
            "Tables of other files and of the engine are unchanged if a file only refers to them.",
            "local other = require 'other' local lib = {} local M = { lib = lib } return M",
            "other = require 'other'",
            "local other = require 'other' local lib = other local M = { lib = lib } return M",
            "assert(m.lib == other and other.name == 'other' and require 'other' == other)",
        ),
    ),
    row(
        "The main world, Gui and camera stay the same objects if they are read at the top level.",
        "local M = { gui = Application.main_gui() } return M",
        "gui, world = m.gui, Application.main_world()",
        "local M = { gui = Application.main_gui(), world = Application.main_world(),
             camera = Application.main_camera() } return M",
        "assert(m.gui == gui and m.world == world and m.camera == Application.main_camera())",
    ),
];

pub const CHANGES: &[Row] = &[
    row(
        "Functions of a module take their new bodies.",
        "return { f = function() return 1 end }",
        "",
        "return { f = function() return 2 end }",
        "assert(m.f() == 2)",
    ),
    row(
        "Local functions take their new bodies, in every function that calls them.",
        "local function help() return 1 end local M = {} function M.f() return help() end return M",
        "f = m.f",
        "local function help() return 2 end local M = {} function M.f() return help() end return M",
        "assert(m.f() == 2 and f() == 2)",
    ),
    row(
        "Recursive and mutually recursive functions call their new versions.",
        "local even local function odd(n) return n ~= 0 and even(n - 1) end \
         function even(n) return n == 0 or odd(n - 1) end return { even = even, odd = odd }",
        "",
        "local even local function odd(n) return n == 0 and 'no' or even(n - 1) end \
         function even(n) return n == 0 and 'yes' or odd(n - 1) end return { even = even, odd = \
         odd }",
        "assert(m.even(10) == 'yes' and m.odd(10) == 'no')",
    ),
    row(
        "Functions can change their parameters and results, including variable ones.",
        "return { f = function(a) return a end }",
        "",
        "return { f = function(...) return select('#', ...), ... end }",
        "local n, a, b = m.f(nil, 2) assert(n == 2 and a == nil and b == 2)",
    ),
    row(
        "Global functions take their new bodies, also if the file returns nothing.",
        "function go() return 1 end local function quiet() end",
        "held = go",
        "function go() return 2 end",
        "assert(go() == 2 and held() == 2 and require 'm' == true)",
    ),
    row(
        "A function that is stored as a callback, in a registry or as a key is replaced there.",
        "local M = {} function M.f() return 1 end return M",
        "list = { { fn = m.f } } keys = { [m.f] = 'k' } up = (function(f) return function() \
         return f() \
         end end)(m.f) weak = setmetatable({ m.f }, { __mode = 'v' })",
        "local M = {} function M.f() return 2 end return M",
        "assert(list[1].fn() == 2 and up() == 2 and weak[1]() == 2) \
         local k, v = next(keys) assert(k == m.f and v == 'k' and next(keys, k) == nil)",
    ),
    with_other(
        "local f = require('m').f return { call = function() return f() end }",
        row(
            "A function that another file keeps in a local is replaced there.",
            "local M = {} function M.f() return 1 end return M",
            "o = require 'other'",
            "local M = {} function M.f() return 2 end return M",
            "assert(o.call() == 2)",
        ),
    ),
    row(
        "A timer calls the new function.",
        "local M = { n = 0 } function M.tick() M.n = M.n + 1 end return M",
        "Timer.after(0, m.tick)",
        "local M = { n = 0 } function M.tick() M.n = M.n + 50 end return M",
        "assert(m.n == 50)",
    ),
    row(
        "Metamethods and metatables are updated.",
        "local mt = { __add = function() return 1 end } return { new = function() return \
         setmetatable({}, mt) end }",
        "v = m.new()",
        "local mt = { __add = function() return 2 end, __len = 1, __call = function() return 3 \
         end } \
         return { new = function() return setmetatable({}, mt) end }",
        "assert(v + v == 2 and v() == 3 and getmetatable(v) == getmetatable(m.new()))",
    ),
    row(
        "A constant that the game did not change takes its new value: a local.",
        "local speed = 5 return { f = function() return speed end }",
        "",
        "local speed = 6 return { f = function() return speed end }",
        "assert(m.f() == 6)",
    ),
    row(
        "A constant that the game did not change takes its new value: a global.",
        "gravity = 10 name = 'a'",
        "",
        "gravity = 20 name = 'a'",
        "assert(gravity == 20 and name == 'a')",
    ),
    row(
        "A constant that the game did not change takes its new value: a field, at any depth.",
        "return { a = 1, b = { c = { d = 'x', e = 1 } } }",
        "c = m.b.c c.e = 5",
        "return { a = 2, b = { c = { d = 'y', e = 2 } } }",
        "assert(m.a == 2 and m.b.c == c and c.d == 'y' and c.e == 5)",
    ),
    row(
        "A constant that the game did not change takes its new value: a vector or colour.",
        "local at = Vector3(1, 2, 3) return { at = at, f = function() return at end }",
        "",
        "local at = Vector3(1, 2, 4) return { at = at, f = function() return at end }",
        "assert(m.at == Vector3(1, 2, 4) and m.f() == m.at)",
    ),
    row(
        "An entry whose key is a table, for example a class, is matched by that key.",
        "Orc, Elf, Man = class(Orc), class(Elf), class(Man) local M = { names = { [Orc] = 'orc', \
         [Elf] = 'elf', [Man] = 'man', [string] = 1 } } M.cry = { [Orc] = function() return 'old' \
         end } return M",
        "held = m.cry[Orc] m.names[Elf] = 'Legolas'",
        "Orc, Elf, Man = class(Orc), class(Elf), class(Man) local M = { names = { [Orc] = 'Orc', \
         [Elf] = 'Elf', [string] = 2, [Vector3] = 3 } } M.cry = { [Orc] = function() return 'new' \
         end } return M",
        "assert(held() == 'new' and m.cry[Orc] == held and m.names[Orc] == 'Orc') \
         assert(m.names[Elf] == 'Legolas' and m.names[Man] == nil and m.names[string] == 2) \
         assert(m.names[Vector3] == 3)",
    ),
    row(
        "Items of a list are added, changed and removed by their index.",
        "return { list = { 1, 2, 3, { x = 1 } } }",
        "list = m.list list[2] = 'mine'",
        "return { list = { 10, 20 } }",
        "assert(m.list == list and #list == 2 and list[1] == 10 and list[2] == 'mine')",
    ),
    row(
        "Functions, fields and tables that are new in the file are added.",
        "local M = {} return M",
        "",
        "local M = { list = { 1 } } M.self = M function M.f() return M end return M",
        "assert(m.f() == m and m.list[1] == 1 and m.self == m)",
    ),
    row(
        "Functions and constants that were deleted from the file are removed.",
        "local M = { a = 1 } function M.f() end function g() end return M",
        "",
        "local M = {} return M",
        "assert(m.f == nil and m.a == nil and rawget(_G, 'g') == nil)",
    ),
    row(
        "A local that is new in the file has its initial value.",
        "local M = {} function M.f() return 1 end return M",
        "",
        "local M, fresh = {}, { 4 } function M.f() fresh[1] = fresh[1] + 1 return fresh[1] end \
         return M",
        "assert(m.f() == 5 and m.f() == 6)",
    ),
    row(
        "A table can become another type of value, and the reverse, if the game did not replace \
         it.",
        "local M = { a = 1, b = {}, c = {} } return M",
        "m.c = 'mine'",
        "local M = { a = { 1 }, b = function() return 2 end, c = 3 } return M",
        "assert(m.a[1] == 1 and m.b() == 2 and m.c == 'mine')",
    ),
    row(
        "If a file returns a function, the function takes its new body wherever it is stored.",
        "local n = 0 return function() n = n + 1 return n end",
        "m() f = { m }",
        "local n = 0 return function() n = n + 1 return 'n' .. n end",
        "assert(f[1]() == 'n2' and m == f[1] and require 'm' == m)",
    ),
    with_other(
        "return { name = 'other' }",
        row(
            "A file that returns another file's table does not change that table.",
            "return require 'other'",
            "m.mine = 1",
            "local M = require 'other' function M.extra() return M.name end return M",
            "assert(m.extra() == 'other' and m.mine == 1 and require 'other' == m)",
        ),
    ),
    row(
        "If the result of a file gets another type, `require` returns the new result from then on.",
        "return { a = 1 }",
        "",
        "return function() return 'called' end",
        "assert(type(m) == 'table' and require('m')() == 'called')",
    ),
    row(
        "Compiled loops use the new code.",
        "local M = { n = 0 } local function add(x) return x + 1 end \
         function M.spin() for _ = 1, 5000 do M.n = add(M.n) end end return M",
        "for _ = 1, 20 do m.spin() end assert(m.n == 100000)",
        "local M = { n = 0 } local function add(x) return x - 1 end \
         function M.spin() for _ = 1, 5000 do M.n = add(M.n) end end return M",
        "for _ = 1, 20 do m.spin() end assert(m.n == 0)",
    ),
    row(
        "A file that is required for the first time is loaded.",
        "return { f = function() end }",
        "",
        "local extra = require 'step1' local other = require 'other' \
         return { f = function() return other end }",
        "assert(m.f() == require 'other')",
    ),
    with_other(
        "return { name = 'other', f = function() return 'theirs' end }",
        row(
            "Functions that a file stores in another file's table are replaced, added and removed.",
            "local other = require 'other' function other.a() return 1 end function other.b() end",
            "o = require 'other' o.mine = 5 held = o.a",
            "local other = require 'other' function other.a() return 2 end \
             function other.c() return 3 end",
            "assert(o.a() == 2 and held() == 2 and o.b == nil and o.c() == 3 and o.mine == 5) \
             assert(o.f() == 'theirs')",
        ),
    ),
    row(
        "Functions that a file adds to the engine's tables are replaced.",
        "function Vector3.mine() return 1 end string.mine = function() return 1 end",
        "",
        "function Vector3.mine() return 2 end string.mine = function() return 2 end",
        "assert(Vector3.mine() == 2 and string.mine() == 2 and ('x'):mine() == 2)",
    ),
    row(
        "A class of `class` can get another base class.",
        "A = class(A) function A:who() return 'a' end B = class(B) function B:who() return 'b' end \
         C = class(C, A)",
        "c = C()",
        "A = class(A) function A:who() return 'a' end B = class(B) function B:who() return 'b2' \
         end \
         C = class(C, B)",
        "assert(c:who() == 'b2' and class.is_a(c, B) and not class.is_a(c, A) and C.super == B)",
    ),
    row(
        "A new metamethod of a base class is inherited by its subclasses.",
        "A = class(A) B = class(B, A)",
        "b = B()",
        "A = class(A) B = class(B, A) function A:__tostring() return 'shown' end",
        "assert(tostring(b) == 'shown')",
    ),
    row(
        "The idiom `X = X or {}` works, but is not necessary.",
        "Game = Game or {} Game.n = Game.n or 0 function Game.f() return 1 end",
        "Game.n = 3 g = Game",
        "Game = Game or {} Game.n = Game.n or 0 function Game.f() return 2 end",
        "assert(Game == g and Game.n == 3 and Game.f() == 2)",
    ),
    row(
        "A coroutine that was not started yet starts with the new function.",
        "local M = {} function M.run(word) return word .. 1 end return M",
        "co = coroutine.create(m.run)",
        "local M = {} function M.run(word) return word .. 2 end return M",
        "local ok, word = coroutine.resume(co, 'x') assert(word == 'x2')",
    ),
    row(
        "A suspended coroutine finishes its old body, which calls the new functions.",
        "local M = {} function M.f() return 1 end function M.run() local held = M.f \
         coroutine.yield() return 'old', M.f(), held() end return M",
        "co = coroutine.create(m.run) coroutine.resume(co)",
        "local M = {} function M.f() return 2 end function M.run() return 'new' end return M",
        "local _, body, f, held = coroutine.resume(co) assert(body == 'old' and f == 2 and held \
         == 2) \
         local _, body = coroutine.resume(coroutine.create(m.run)) assert(body == 'new')",
    ),
    row(
        "A game's own strict mode on `_G` does not prevent a reload.",
        "setmetatable(_G, { __index = function(_, k) error('no ' .. k) end }) x = 1",
        "assert(not pcall(function() return nothing end))",
        "setmetatable(_G, { __index = function(_, k) error('no ' .. k) end }) x = 2 _G.y = 3",
        "assert(x == 2 and y == 3 and not pcall(function() return nothing end))",
    ),
    with_other(
        "Foo = { n = 1 } return Foo",
        row(
            "A file sees all globals in `_G`, and can keep `_G`, `require` and `load` in its \
             tables.",
            "local M, known = { require = require, load = load }, {} \
             for name in pairs(_G) do known[name] = true end \
             function M.knows(name) return known[name] end \
             require 'other' function _G.Foo.f() return 'old' end return M",
            "late = 1 assert(Foo.f() == 'old')",
            "local M = { require = require, load = load, all = _G, loadstring = loadstring } \
             local known = {} for name in pairs(_G) do known[name] = true end \
             function M.knows(name) return known[name] end _G.made = 3 M.made = made \
             require 'other' function _G.Foo.f() return 'new' end return M",
            "assert(m.require == require and m.load == load and m.loadstring == loadstring) \
             assert(m.all == _G and made == 3 and m.made == 3 and Foo.f() == 'new') \
             for _, name in pairs({ 'print', '_G', 'require', 'late' }) do \
             assert(m.knows(name)) end",
        ),
    ),
    row(
        "Text that a file loads with `load` or `loadstring` sees the file's globals.",
        "loadstring('made = 1')() function read() return load('return made')() end",
        "",
        "loadstring('made = 2')() function read() return load('return made + 1')() end",
        "assert(read() == 3 and made == 2)",
    ),
    row(
        "A file with 200 locals, or with functions of 60 upvalues, is reloaded like any other.",
        MANY_LOCALS_OLD,
        "m()",
        MANY_LOCALS_NEW,
        "assert(require('m')() == 102)",
    ),
];

const MANY_LOCALS_OLD: &str =
    concat!(many_locals!(), "return function() a1 = a1 + 1 return a1 end");
const MANY_LOCALS_NEW: &str =
    concat!(many_locals!(), "return function() a1 = a1 + 1 return a1 + 100 end");
