//! Tests of the mistakes that newcomers make, and of the names of other engines: what the report
//! says, and which warnings appear without an error.

use crate::bad_input::{Game, check_error, check_in_order};

/// Checks that code in `init` fails with this message. `unit`, `gui` and `world` are locals.
#[track_caller]
fn check_code(name: &str, code: &str, message: &str) {
    let main = format!(
        "local items = {{ list = {{ hp = 3 }} }}\nfunction init()\n  local world, gui = \
         Application.main_world(), Application.main_gui()\n  local unit = World.spawn_unit(world, \
         \"core/units/cube\")\n  {code}\nend"
    );
    check_error(name, "", &main, &[&format!("Error: {message}\n")]);
}

#[test]
fn names_of_other_engines_are_answered() {
    let rows = [
        (
            "Keyboard.isDown('space')",
            "Keyboard has no function 'isDown', did you mean Keyboard.held?",
        ),
        ("Mouse.getPosition()", "Mouse has no function 'getPosition', did you mean Mouse.axis?"),
        ("Input.GetKey('space')", "Input has no function 'GetKey', did you mean Keyboard.held?"),
        ("Color.new(1, 2, 3)", "Color has no function 'new': write Color(…)"),
        ("math.clamp(1, 2, 3)", "math has no function 'clamp', did you mean Math.clamp?"),
        ("table.lenght({})", "table has no function 'lenght'"),
        ("string.fromat('x')", "string has no function 'fromat', did you mean 'format'?"),
        (
            "Application.set_fullscreen(true)",
            "Application has no function 'set_fullscreen', did you mean Window.set_fullscreen?",
        ),
        ("os.exit()", "games do not have Lua's 'os.exit': use Application.quit"),
        (
            "os.remove('x')",
            "games do not have Lua's 'os.remove': a game changes only its saves: use \
                            Save.delete",
        ),
        (
            "PhysicsWorld.apply_wind(1)",
            "PhysicsWorld has no function 'apply_wind' (Stingray: no vector fields: call \
             Actor.add_velocity for the actors that PhysicsWorld.overlap finds; engine docs \
             coming_from_stingray)",
        ),
    ];
    for (i, (code, hint)) in rows.iter().enumerate() {
        let name = code.split(['.', '(']).nth(1).unwrap();
        let message = format!("attempt to call field '{name}' (a nil value): {hint}");
        check_code(&format!("other_engine_{i}"), code, &message);
    }
    let layer = ": require \"stingray\" adds it";
    let globals = [
        ("Network.update(1)", "", "not available yet: there is no networking"),
        ("GwNavWorld.create()", "", "Agent for bots, and NavigationMesh for queries: navigation"),
        ("WwiseWorld.stop_all(1)", layer, ".sound files with parameters and switches (sound)"),
        ("Imgui.begin_window('x')", layer, "DebugUi.* (debug windows)"),
    ];
    for (i, (code, layer, answer)) in globals.iter().enumerate() {
        let name = code.split('.').next().unwrap();
        let message = format!(
            "attempt to index global '{name}' (a nil value): there is no global '{name}'{layer} \
             (Stingray: {answer}; engine docs coming_from_stingray)"
        );
        check_code(&format!("other_global_{i}"), code, &message);
    }
}

#[test]
fn missing_fields_and_variables_are_named() {
    let rows = [
        (
            "items.list.h = items.list.hq + 1",
            "attempt to perform arithmetic on field 'hq' (a nil value): items.list has no field \
             'hq', did you mean 'hp'?",
        ),
        (
            "items.first.hp = 3",
            "attempt to index field 'first' (a nil value): items has no field 'first', it has list",
        ),
        (
            "local x = Math.pi * 2",
            "attempt to perform arithmetic on field 'pi' (a nil value): Math has no 'pi', did you \
             mean math.pi?",
        ),
        (
            "local speed = 3 local x = sped + 1",
            "attempt to perform arithmetic on global 'sped' (a nil value): there is no global \
             'sped', did you mean 'speed'?",
        ),
        (
            "local s = 'a' local x = s + 1",
            "attempt to perform arithmetic on local 's' (a string value): texts are joined with \
             `..`, and tonumber(text) is the number in a text",
        ),
        (
            "self.position = 1",
            "attempt to index global 'self' (a nil value): the function is defined with a colon, \
             and is called with one: object:name(…)",
        ),
        (
            "local hero = {} function hero:move() self.x = 1 end hero.move()",
            "attempt to index local 'self' (a nil value): the function is defined with a colon, \
             and is called with one: object:name(…)",
        ),
        (
            "items.unit = unit print(items.unit.x)",
            "attempt to index field 'unit' (a number value): items.unit is a unit, and engine \
             objects are numbers without fields: write Unit.world_position(items.unit, …)",
        ),
        (
            "unit.x = 3",
            "attempt to index local 'unit' (a number value): unit is a unit, and engine objects are \
             numbers without fields: write Unit.set_local_position(unit, …)",
        ),
    ];
    for (i, (code, message)) in rows.iter().enumerate() {
        check_code(&format!("missing_field_{i}"), code, message);
    }
}

#[test]
fn wrong_arguments_show_how_the_value_is_written() {
    let rows = [
        (
            "Gui.rect(gui, 10, 20, 30, 40)",
            "Gui.rect: argument #2 'position' must be Vector3 or Vector2, got number 10 (write \
             Vector3(x, y, z))",
        ),
        (
            "Gui.rect(gui, Vector3(0, 0, 0), Vector2(1, 1), { 255, 0, 0 })",
            "Gui.rect: argument #4 'color' must be Color or nil, got table (write Color(r, g, b), \
             with parts from 0 to 255)",
        ),
        (
            "Gui.rect(gui, Vector3(0, 0, 0), Vector2(1, 1), 'red')",
            "Gui.rect: argument #4 'color' must be Color or nil, got string \"red\" (write \
             Color.red(), or Color.from_hex(\"#ff8000\"))",
        ),
        (
            "World.spawn_unit('units/rat')",
            "World.spawn_unit: argument #1 'world' must be World, got string \"units/rat\" \
             (Application.main_world() is the main world)",
        ),
        (
            "Unit.world_position(unit, 'head')",
            "Unit.world_position: argument #2 'node' must be integer or nil, got string \"head\" \
             (Unit.node(unit, name) is the index of a node)",
        ),
        (
            "Vector3.length(unit)",
            "Vector3.length: argument #1 'v' must be Vector3, got unit core/units/cube#0 (write \
             Vector3(x, y, z))",
        ),
        (
            "Unit.set_material(unit, 'skin', 'x')",
            "Unit.set_material: argument #2 'slot': no mesh of unit \"core/units/cube\" has a \
             material 'skin': its materials have no names, use Mesh.set_material",
        ),
        (
            "Gui.bitmap(gui, 'skin', Vector3(0, 0, 0))",
            "Gui.bitmap: argument #2 'material': there is no texture 'skin' (its file would end in \
             .texture, .png, .jpg, .jpeg, .tga, .bmp, .qoi, .webp, .hdr, .ktx2, .dds, .cube or \
             .ies, and its name has no ending), and no material of that name",
        ),
        (
            "Localizer('menu')",
            "Localizer: there is no strings 'menu' (its file would end in .strings, and its name \
             has no ending)",
        ),
        (
            "PhysicsWorld.linear_capsule_sweep(World.physics_world(world), Vector3(0, 0, 0), \
             Vector3(0, 9, 0), Vector3(1, 1, 1))",
            "PhysicsWorld.linear_capsule_sweep: a capsule's height must be more than twice its \
             radius, got the height 1 and the radius 1",
        ),
    ];
    for (i, (code, message)) in rows.iter().enumerate() {
        check_code(&format!("wrong_argument_{i}"), code, message);
    }
}

#[test]
fn syntax_errors_of_scripts_have_hints() {
    let rows = [
        ("functon init()\nend", "'=' expected near 'init': did you mean `function` by 'functon'?"),
        (
            "local fucntion f()\nend",
            "'<eof>' expected near 'end': did you mean `function` by 'fucntion' in line 1?",
        ),
        (
            "function init()\n  if x then\n    y()\nend",
            "'end' expected (to close 'function' at line 1) near '<eof>': the `if` in line 2 seems \
             to have no `end`",
        ),
        ("if x = 1 then end", "'then' expected near '=': two values are compared with =="),
    ];
    for (i, (main, message)) in rows.iter().enumerate() {
        let expected = format!("When loading: main\nError: {message}\n");
        check_error(&format!("syntax_hint_{i}"), "", main, &[&expected]);
    }
}

/// Checks that a game runs and logs exactly these warnings.
#[track_caller]
fn check_warns(name: &str, main: &str, warnings: &[&str]) {
    let result = Game::new(name, main).play(&[]);
    let logged: Vec<&str> =
        result.err.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
    let logged: Vec<&str> = logged.into_iter().filter(|line| !line.contains(": warned ")).collect();
    assert_eq!(logged, warnings, "{name}: {}", result.err);
    assert_eq!(result.code, Some(0), "{name}: {}", result.err);
}

#[test]
fn colours_from_0_to_1_are_warned_about_once() {
    check_warns(
        "small_colours",
        "function update()
  local orange = Color(1, 0.5, 0)
  local glass = Color(0.5, 255, 128, 0)
  local last = Color(255, 128, 0, 0.5)
  local t = 0.4
  local faded, black = Color(t, t, t), Color(0, 0, 0)
  local hidden = Color(0, 255, 255, 255)
end",
        &[
            "main.lua:2: Color(1, 0.5, 0) is nearly black: parts of colours go from 0 to 255, write \
             Color(255, 128, 0)",
            "main.lua:3: Color(0.5, 255, 128, 0) is nearly invisible: the first of four parts is \
             the alpha, from 0 to 255",
            "main.lua:4: Color(255, 128, 0, 0.5): of four parts the first is the alpha, from 0 to \
             255: write Color.rgba(255, 128, 0, 128)",
        ],
    );
}

#[test]
fn numbers_of_keys_as_conditions_are_warned_about() {
    check_warns(
        "conditions",
        "function update()
  if Keyboard.button('space') then end
  if Keyboard.button('space') > 0 and Keyboard.held('space') then end
end",
        &["main.lua:2: Keyboard.button returns a number, and 0 is true in Lua: write \
           Keyboard.held(…)"],
    );
}

#[test]
fn callbacks_of_other_engines_are_warned_about() {
    let never = |name: &str, here: &str| {
        format!(
            "the global function '{name}' is never called by the engine: did you mean '{here}'?"
        )
    };
    check_warns(
        "godot",
        "function _ready() end\nfunction _process(dt) end\nfunction _draw() end",
        &[&never("_draw", "render"), &never("_process", "update"), &never("_ready", "init")],
    );
    check_warns(
        "unity",
        "function Start() end function Update() end",
        &[&never("Start", "init"), &never("Update", "update")],
    );
    check_warns(
        "love",
        "love = {}\nfunction love.update(dt) end\nfunction love.draw() end",
        &[&never("love.draw", "render"), &never("love.update", "update")],
    );
    // The game calls these itself, or has the engine's callback.
    check_warns("own_setup", "function setup() end\nfunction init() setup() end", &[]);
    check_warns("own_main", "function main() end\nmain()", &[]);
    check_warns(
        "local_update",
        "local x = 0\nlocal function update(dt) x = x + dt end",
        &["main.lua:2: the local function 'update' is never called by the engine, which calls \
           global functions: leave out `local`"],
    );
}

#[test]
fn warnings_of_games_name_the_calling_line() {
    check_warns(
        "warn_level",
        "local function walk() Script.deprecated('use Hero.walk') end
local function fuel() Script.warn('low fuel', 2) end
function update()
  walk()
  fuel()
  Script.warn('here')
end",
        &[
            "main.lua:4: 'walk' is deprecated: use Hero.walk",
            "main.lua:5: low fuel",
            "main.lua:6: here",
        ],
    );
}

#[test]
fn component_named_like_a_node_is_warned_about() {
    let spawn = "function init() World.spawn_unit(Application.main_world(), 'a') end";
    let unit = "nodes = { lid = {} }\ncomponents = { lid = { component = \"light\" } }";
    let result = Game::new("node_name", spawn).with("a.unit", unit).play(&[]);
    let message = "warning: unit 'a': the component 'lid' is attached to the root, and there is a \
                   node 'lid': write node = \"lid\" if it belongs there, or node = \"root\"";
    check_in_order(&result.err, &[message]);
    let unit =
        "nodes = { lid = {} }\ncomponents = { lid = { component = \"light\", node = \"lid\" } }";
    let result = Game::new("node_given", spawn).with("a.unit", unit).play(&[]);
    assert_eq!((result.err.as_str(), result.code), ("", Some(0)));
}

#[test]
fn manual_links_without_a_function_are_warned_about() {
    check_warns(
        "manual_link",
        "function init()
  local points = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }
  local mesh = NavigationMesh.create_from_triangles(points, { 1, 2, 3, 1, 3, 4 })
  NavigationMesh.add_link(mesh, Vector3(5, 5, 0), Vector3(15, 15, 0),
    { name = 'hatch', cost = 1, manual = true })
  NavigationMesh.update(mesh, 0.1)
  local agent = Agent.create(mesh, Vector3(4, 4, 0))
  Agent.set_destination(agent, Vector3(16, 16, 0))
  for _ = 1, 200 do
    NavigationMesh.update(mesh, 0.1)
    NavigationMesh.handle_links(mesh, { htach = function() end })
  end
end",
        &["main.lua:11: NavigationMesh.handle_links: no function is for the manual link 'hatch': \
           its agents wait until Agent.finish_link is called, did you mean 'htach'?"],
    );
}

#[test]
fn windows_that_are_left_open_are_ended() {
    check_warns(
        "open_window",
        "function update()
  pcall(function()
    DebugUi.begin_window('Stats')
    error('no stats')
  end)
end",
        &["main.lua:3: the window 'Stats' was begun and not ended in this frame: call \
           DebugUi.end_window() in every case, and after an error that you catch"],
    );
}

#[test]
fn text_for_a_position_of_a_camera_has_no_hint_of_stingray() {
    let call = |value: &str| {
        let main = format!(
            "function init() Camera.set_local_position(Application.main_camera(), {value}) end"
        );
        Game::new("camera_text", &main).play(&[]).err
    };
    let start = "Error: Camera.set_local_position: argument #2 'position' must be Vector3, got ";
    let err = call("'x'");
    check_in_order(&err, &[start, "string \"x\"\n"]);
    check_in_order(&call("5"), &[start, "(Stingray: a camera knows its unit"]);
}

#[test]
fn components_of_units_are_checked_by_name() {
    let spawn = "function init() World.spawn_unit(Application.main_world(), 'a') end";
    let rows = [
        (
            "components = { body = { component = \"actor\" } }",
            "unit \"a\" has the component 'actor', which does not exist, did you mean 'physics'?",
        ),
        (
            "components = { skin = { component = \"mesh\", model = \"core/models/cube\", material = \
             \"fur\" } }",
            "component 'skin': there is no material 'fur'",
        ),
    ];
    for (i, (unit, message)) in rows.iter().enumerate() {
        let game = Game::new(&format!("unit_{i}"), spawn).with("a.unit", unit);
        check_in_order(&game.play(&[]).err, &[&format!("Error: World.spawn_unit: {message}")]);
    }
}
