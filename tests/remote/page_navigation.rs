//! Tests of the messages about navigation, and of the page's view of it: the meshes, the agents of
//! one of them on a map and in a table.

use super::browser::Browser;
use super::{GameProcess, ask, ask_refused, check_running, eval, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use std::collections::BTreeMap;

/// A game with two meshes, an empty grid, and ten agents on the second mesh, half of which walk.
const MAIN: &str = "local points, triangles = { 0, 0, 0, 20, 0, 0, 20, 20, 0, 0, 20, 0 }, \
    { 1, 2, 3, 1, 3, 4 }\nfunction init()\n  \
    other = NavigationMesh.create_from_triangles(points, triangles)\n  \
    mesh = NavigationMesh.create_from_triangles(points, triangles, { radius = 0.3 })\n  \
    grid = NavigationGrid.create(6, 4)\n  agents = {}\n  for i = 1, 10 do\n    \
    agents[i] = Agent.create(mesh, Vector3(2, i * 1.6, 0), { speed = 0.01 })\n    \
    if i > 5 then Agent.set_destination(agents[i], Vector3(18, i * 1.6, 0)) end\n  end\nend\n\
    function update(dt)\n  if mesh then NavigationMesh.update(mesh, dt) end\nend\n";

#[test]
fn meshes_and_agents_are_described() {
    let create_game = GameProcess::start_with("navigation", &[("main.lua", MAIN)], &[]);
    let mut client = create_game.connect();
    check_running(&mut client);
    let first = ask(&mut client, "navigation", vec![]);
    let meshes = list(&first, "meshes");
    assert_eq!((meshes.len(), number(&first, "count")), (2, 0.0));
    assert_eq!(number(&first, "mesh"), number(&meshes[0], "mesh"));
    assert_eq!((number(&meshes[1], "agents"), number(&meshes[1], "radius")), (10.0, 0.3));
    assert_eq!(number(&list(&first, "grids")[0], "columns"), 6.0);
    let counters = list(&first, "counters");
    assert!(counters.iter().any(|one| text(one, "name") == "navigation/agents"));
    let mesh = SjsonTree::Number(number(&meshes[1], "mesh"));
    let of = |more: Vec<(&'static str, SjsonTree)>| [vec![("mesh", mesh.clone())], more].concat();
    let all = ask(&mut client, "navigation", of(vec![]));
    assert_eq!((number(&all, "count"), list(&all, "states").len()), (10.0, 2));
    let moving = ask(&mut client, "navigation", of(vec![("state", json::text("moving"))]));
    assert_eq!(number(&moving, "count"), 5.0);
    let agent = &list(&moving, "agents")[0];
    assert_eq!(text(agent, "state"), "moving");
    assert!(number(agent, "remaining") > 10.0);
    let part = vec![("first", SjsonTree::Number(8.0)), ("max", SjsonTree::Number(5.0))];
    assert_eq!(list(&ask(&mut client, "navigation", of(part)), "agents").len(), 2);
    // Those who walk have paths: the corners of their ways, from above.
    let with_paths = of(vec![("state", json::text("moving")), ("paths", SjsonTree::Bool(true))]);
    let walking = ask(&mut client, "navigation", with_paths);
    assert_eq!((number(&walking, "paths_left_out"), number(&walking, "restarts")), (0.0, 0.0));
    assert_eq!(list(&walking, "agents").len(), 5);
    for agent in list(&walking, "agents") {
        let path = list(agent, "path");
        assert_eq!(path.len(), 2, "straight to its end");
        assert!(matches!(path[0], SjsonTree::Number(x) if (x - 18.0).abs() < 0.1), "{path:?}");
    }
    // A square has four walls.
    let lines = ask(&mut client, "navigation_lines", of(vec![]));
    let numbers = list(&lines, "lines");
    assert!(numbers.len() >= 20 && numbers.len().is_multiple_of(5));
    assert_eq!(number(&lines, "left_out"), 0.0);
    let few = ask(&mut client, "navigation_lines", of(vec![("max", SjsonTree::Number(1.0))]));
    assert_eq!(list(&few, "lines").len(), 5);
    assert_eq!(number(&few, "left_out"), (numbers.len() / 5 - 1) as f64);
    marks_are_described(&mut client, &mesh);
    let wrong = of(vec![("state", json::text("moveing"))]);
    let message = ask_refused(&mut client, "navigation", wrong);
    assert!(message.contains("'moveing' is no state of agents: stuck, idle"), "{message}");
    let message = ask_refused(&mut client, "navigation", vec![("mesh", SjsonTree::Number(12.0))]);
    assert!(message.contains("12 is not a handle of a mesh"), "{message}");
    eval(&mut client, "NavigationMesh.destroy(mesh); mesh = nil");
    for kind in ["navigation", "navigation_lines", "navigation_marks"] {
        assert_eq!(ask_refused(&mut client, kind, of(vec![])), "the mesh is gone");
    }
}

/// Checks the lines that change from frame to frame, those of areas, and those of grids.
fn marks_are_described(client: &mut RemoteClient, mesh: &SjsonTree) {
    let kinds = |lines: &SjsonTree| {
        let names = list(lines, "kinds").to_vec();
        let mut found = BTreeMap::<String, usize>::new();
        for line in list(lines, "lines").chunks(5) {
            let [SjsonTree::Number(kind), ..] = line else { panic!("{line:?}") };
            let SjsonTree::String(name) = &names[*kind as usize] else { panic!("{names:?}") };
            *found.entry(name.to_string()).or_default() += 1;
        }
        found
    };
    let of = |more: Vec<(&'static str, SjsonTree)>| [vec![("mesh", mesh.clone())], more].concat();
    let marks = ask(client, "navigation_marks", of(vec![]));
    assert!(list(&marks, "lines").is_empty());
    eval(
        client,
        "NavigationMesh.set_targets(mesh, 'exit', { 18, 18, 0 }) \
         NavigationMesh.find_path(mesh, Vector3(2, 2, 0), Vector3(18, 18, 0)) \
         NavigationMesh.add_box(mesh, 3, Vector3(10, 10, 0), Vector3(4, 4, 2)) \
         NavigationGrid.set_cost(grid, 2, 2, 0) NavigationGrid.set_cost(grid, 3, 2, 4) \
         NavigationGrid.set_targets(grid, 'goal', { 6, 4 })",
    );
    let marks = ask(client, "navigation_marks", of(vec![("field", json::text("exit"))]));
    let found = kinds(&marks);
    assert!(found["flow"] > 100 && found["end"] == 4, "{found:?}");
    let marks = ask(client, "navigation_marks", of(vec![("search", SjsonTree::Bool(true))]));
    assert!(kinds(&marks)["searched"] >= 3);
    let all = ask(client, "navigation", of(vec![]));
    let agent = vec![("agent", SjsonTree::Number(number(&list(&all, "agents")[0], "agent")))];
    let found = kinds(&ask(client, "navigation_marks", of(agent)));
    assert_eq!(found["speed"], 12, "{found:?}");
    let few = vec![("field", json::text("exit")), ("max", SjsonTree::Number(3.0))];
    let few = ask(client, "navigation_marks", of(few));
    assert!(list(&few, "lines").len() == 15 && number(&few, "left_out") > 100.0);
    // The tiles of the area are there some updates later.
    for _ in 0..200 {
        if kinds(&ask(client, "navigation_lines", of(vec![]))).contains_key("area2") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(kinds(&ask(client, "navigation_lines", of(vec![]))).contains_key("area2"));
    let grid = ("grid", SjsonTree::Number(number(&list(&all, "grids")[0], "grid")));
    let with_field = vec![grid.clone(), ("field", json::text("goal"))];
    let found = kinds(&ask(client, "navigation_grid", with_field));
    assert_eq!((found["blocked"], found["dear"], found["end"]), (4, 4, 4), "{found:?}");
    assert!(found["flow"] > 40);
    let wrong = of(vec![("field", json::text("exitt"))]);
    let message = ask_refused(client, "navigation_marks", wrong);
    assert!(message.contains("no flow field 'exitt': exit"), "{message}");
    let wrong = vec![grid, ("field", json::text("exit"))];
    assert!(ask_refused(client, "navigation_grid", wrong).contains("no flow field 'exit': goal"));
    let wrong = vec![("grid", mesh.clone())];
    assert!(ask_refused(client, "navigation_grid", wrong).contains("is not a handle of a grid"));
}

#[test]
fn page_shows_meshes_and_agents() {
    let Some(mut browser) = Browser::start("navigation-browser") else { return };
    let create_game = GameProcess::start_with("navigation-page", &[("main.lua", MAIN)], &[]);
    browser.resize(1280.0, 900.0, 1.0);
    browser.open(&create_game.session.address());
    browser.value("document.getElementById('tab-navigation').click()");
    let view = "document.querySelector('#view-navigation')";
    browser.wait_for(&format!("{view}.querySelectorAll('option').length > 10"));
    browser.wait_for(&format!("{view}.querySelector('.aside').innerText === 'no agents'"));
    let choose = |select: usize, choice: &str| {
        format!(
            "(() => {{ const it = {view}.querySelectorAll('select')[{select}]; \
             it.value = {choice}; it.dispatchEvent(new Event('change')) }})()"
        )
    };
    browser.value(&choose(0, "it.options[1].value"));
    browser.wait_for(&format!("{view}.querySelectorAll('tbody tr').length === 10"));
    let counts = format!("{view}.querySelector('.aside').innerText");
    browser.wait_for(&format!("{counts} === '5 idle, 5 moving'"));
    // The map has the lines and the agents.
    browser.wait_for(&format!(
        "(() => {{ const it = {view}.querySelector('canvas'); const pixels = \
         it.getContext('2d').getImageData(0, 0, it.width, it.height).data; \
         return pixels.filter((part, at) => at % 4 === 3 && part > 0).length > 500 }})()"
    ));
    // An agent of the table can be chosen, and the map can show the grid.
    let row = format!("{view}.querySelector('tbody tr')");
    browser.value(&format!("{row}.click()"));
    browser.wait_for(&format!("{row}.getAttribute('aria-selected') === 'true'"));
    browser.value(&format!("{row}.click()"));
    browser.wait_for(&format!("{row}.getAttribute('aria-selected') === 'false'"));
    eval(&mut create_game.connect(), "NavigationMesh.set_targets(mesh, 'exit', { 18, 18, 0 })");
    let names = format!("[...{view}.querySelectorAll('select')[2].options].map(it => it.text)");
    browser.wait_for(&format!("{names}.join() === 'agents,last search,field exit,grid of 6 by 4'"));
    for at in [1, 2, 3, 0] {
        browser.value(&choose(2, &format!("it.options[{at}].value")));
        browser.wait_for(&format!("{view}.querySelectorAll('tbody tr').length === 10"));
    }
    browser.value(&choose(1, "'moving'"));
    browser.wait_for(&format!("{view}.querySelectorAll('tbody tr').length === 5"));
    // Other handles are of other meshes after a restart: the map and the choice begin again.
    browser.value(&choose(1, "''"));
    let mut client = create_game.connect();
    ask(&mut client, "restart", vec![]);
    browser.wait_for(&format!("{counts} === 'no agents'"));
    browser.value(&choose(0, "it.options[1].value"));
    browser.wait_for(&format!("{counts} === '5 idle, 5 moving'"));
    // A table of 200 rows says what it leaves out.
    eval(
        &mut client,
        "for i = 1, 295 do agents[10 + i] = Agent.create(mesh, Vector3(10, 10, 0)) end",
    );
    let omitted = format!("{view}.querySelectorAll('.navigation-figures')[2].innerText");
    browser.wait_for(&format!("{omitted} === '105 agents are not in the table'"));
    eval(&mut client, "for i = 11, 305 do Agent.destroy(agents[i]) end");
    browser.wait_for(&format!("{view}.querySelectorAll('.navigation-figures')[2].hidden"));
    // The mesh ends: another one is shown.
    eval(&mut client, "NavigationMesh.destroy(mesh); mesh = nil");
    browser.wait_for(&format!("{view}.querySelectorAll('select')[0].options.length === 1"));
    browser.wait_for(&format!("{counts} === 'no agents'"));
    browser.resize(400.0, 800.0, 1.0);
    browser.value("document.getElementById('tab-navigation').click()");
    let fits = "document.scrollingElement.scrollWidth <= innerWidth";
    assert_eq!(browser.value(fits), "true");
    assert_eq!(browser.problems, Vec::<String>::new());
}
