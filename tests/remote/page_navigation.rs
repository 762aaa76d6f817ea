//! Tests of the messages about navigation, and of the page's view of it: the meshes, the agents of
//! one of them on a map and in a table.

use super::browser::Browser;
use super::{GameProcess, ask, ask_refused, check_running, eval, list, number, text};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;

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
    let wrong = of(vec![("state", json::text("moveing"))]);
    let message = ask_refused(&mut client, "navigation", wrong);
    assert!(message.contains("'moveing' is no state of agents: stuck, idle"), "{message}");
    let message = ask_refused(&mut client, "navigation", vec![("mesh", SjsonTree::Number(12.0))]);
    assert!(message.contains("12 is not a handle of a mesh"), "{message}");
    eval(&mut client, "NavigationMesh.destroy(mesh); mesh = nil");
    for kind in ["navigation", "navigation_lines"] {
        assert_eq!(ask_refused(&mut client, kind, of(vec![])), "the mesh is gone");
    }
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
