//! Tests of recordings while remote tools inspect the run: inspection changes nothing, and
//! simulated device events are recorded.

use super::{TOWER, UNITS, WAIT_MAX, ask, create_game, engine, list, number};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::RemoteClient;
use engine::system::remote::endpoint_file::EndpointFile;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn inspected_run_replays_identically() {
    let main = format!(
        "{UNITS}\nlocal update_world = update\nfunction update(dt)\n  update_world(dt)\n  \
         if Unit.alive(tower) then\n    Unit.set_local_position(tower, 1, \
         Vector3(math.random(), Keyboard.button('a'), 0))\n  end\n  \
         Application.hash(math.random())\nend\n"
    );
    let folder = create_game("record", &[("main.lua", &main), ("tower.unit", TOWER)]);
    let arguments = ["run", "game", "--headless", "--realtime", "--tools", "--record", "run.rec"];
    let mut process = engine(&folder, &arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let end = Instant::now() + WAIT_MAX;
    let session = loop {
        match EndpointFile::read(&folder.join("game")) {
            Ok(session) => break session,
            Err(error) => assert!(Instant::now() < end, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let mut client = RemoteClient::connect(&session).expect("the game lets tools in");
    for stream in ["log", "time_step"] {
        ask(&mut client, "subscribe", vec![("stream", json::text(stream))]);
    }
    for turn in 0..10 {
        let units = ask(&mut client, "units", vec![]);
        for world in list(&units, "worlds") {
            for unit in list(world, "units") {
                let handle = SjsonTree::Number(number(unit, "unit"));
                ask(&mut client, "unit", vec![("unit", handle)]);
            }
        }
        ask(&mut client, "resources", vec![]);
        ask(&mut client, "complete", vec![("text", json::text("Unit.l"))]);
        ask(&mut client, "eval", vec![("text", json::text("Unit.num_nodes(tower)"))]);
        let value = ("value", SjsonTree::Number(f64::from(turn % 2)));
        let key = [("device", json::text("keyboard")), ("button", json::text("a")), value];
        ask(&mut client, "input", key.into());
        if turn == 5 {
            ask(&mut client, "pause", vec![]);
            ask(&mut client, "step", vec![]);
            ask(&mut client, "resume", vec![]);
        }
    }
    ask(&mut client, "quit", vec![]);
    assert!(process.wait().expect("it ends").success());
    let replay = engine(&folder, &["run", "game", "--replay", "run.rec"]).output();
    let replay = replay.expect("the engine starts");
    let output = String::from_utf8_lossy(&replay.stderr);
    assert!(replay.status.success(), "{output}");
    assert!(!output.contains("tools:"), "a replay is looked into by nobody: {output}");
    std::fs::remove_dir_all(&folder).expect("a scratch folder can be removed");
}
