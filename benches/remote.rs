//! Benchmarks of remote tools: CPU time of a game's frames without a client, and with a client that
//! follows every stream.
//!
//!     cargo bench -- remote
//!
//! The number of frames a second that the page shows depends on the browser and is in
//! docs/tools.md.

use crate::run::Run;
use crate::table::{Group, median, named, row};
use engine::foundation::json;
use engine::foundation::sjson::SjsonTree;
use engine::system::remote::client::{ClientMessage, RemoteClient};
use engine::system::remote::endpoint_file::EndpointFile;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Duration of each of the two measurements in a round, in seconds.
const SECONDS: f64 = 4.0;
/// Number of rounds.
const ROUNDS: usize = 3;
/// Maximum wait for a reply.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Duration of a display's frame.
const FRAME_MILLISECONDS: f64 = 1000.0 / 60.0;

/// Game with 500 moving units, 200 rectangles and two log lines in each frame.
const MAIN: &str = "local units, t, world = {}, 0\n\
    function init()\n  world = Application.main_world()\n  for i = 1, 500 do\n    \
    units[i] = World.spawn_unit(world, 'core/units/empty')\n  end\nend\n\
    function update(dt)\n  t = t + dt\n  for i = 1, #units do\n    \
    Unit.set_local_position(units[i], 1, Vector3(math.cos(t + i), math.sin(t + i), i))\n  end\n  \
    print('frame', t) print('units', #units)\n  World.update(world, dt)\nend\n\
    function render()\n  local gui = Application.main_gui()\n  for i = 1, 200 do\n    \
    Gui.rect(gui, Vector3(i * 3, 200 + math.sin(t + i) * 100, i), Vector2(9, 9), \
    Color(255, i, 90, 120))\n  end\n  Application.render_world(world)\nend\n";

/// A game in its own process, with a folder that is removed on drop.
struct GameProcess {
    process: Child,
    folder: PathBuf,
}

impl GameProcess {
    fn start() -> (GameProcess, EndpointFile) {
        let folder =
            std::env::temp_dir().join(format!("engine-bench-tools-{}", std::process::id()));
        // A leftover of an earlier process with the same id.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written to");
        std::fs::write(folder.join("main.lua"), MAIN).expect("it can be written");
        let process = Command::new(env!("CARGO_BIN_EXE_engine"))
            .arg("run")
            .arg(&folder)
            .args(["--headless", "--realtime", "--tools", "--renderer", "auto"])
            .env("ENGINE_SAVE_DIR", folder.join("saves"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine starts");
        let playing = GameProcess { process, folder };
        let end = Instant::now() + WAIT_MAX;
        loop {
            if let Ok(session) = EndpointFile::read(&playing.folder) {
                return (playing, session);
            }
            assert!(Instant::now() < end, "the game does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for GameProcess {
    fn drop(&mut self) {
        // No data of the process is needed any more.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn ask(
    client: &mut RemoteClient,
    kind: &str,
    fields: Vec<(&str, SjsonTree)>,
) -> Result<SjsonTree, SjsonTree> {
    client.request(kind, fields, WAIT_MAX, |_| ())
}

/// Returns the mean of a counter over [`SECONDS`]: milliseconds of CPU time per frame.
fn mean(client: &mut RemoteClient) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    let begin = Instant::now() + Duration::from_secs(1);
    let end = begin + Duration::from_secs_f64(SECONDS);
    while Instant::now() < end {
        let ClientMessage::Message(message) = client.receive(WAIT_MAX) else {
            panic!("the game has ended");
        };
        let Some(SjsonTree::Array(columns)) = message.get("values") else { continue };
        let Some(SjsonTree::Array(values)) = columns.first() else { continue };
        if Instant::now() < begin {
            continue;
        }
        for value in values {
            if let SjsonTree::Number(value) = value {
                (sum, count) = (sum + value, count + 1);
            }
        }
    }
    assert!(count > 0, "no frame was counted");
    sum / f64::from(count)
}

/// Starts a client that follows all streams, on a thread that reads and discards them. Returns true
/// if images are among them.
fn follow_all(session: &EndpointFile) -> (std::thread::JoinHandle<()>, bool) {
    let mut client = RemoteClient::connect(session).expect("the game lets tools in");
    let every = |seconds: f64| ("every", SjsonTree::Number(seconds));
    let stream = |name: &str| ("stream", json::text(name));
    let counters = ask(&mut client, "counters", vec![]).expect("they are listed");
    let Some(SjsonTree::Array(all)) = counters.get("counters") else { panic!("no counters") };
    let names = all.iter().take(20).filter_map(|counter| counter.get("name").cloned());
    let names = ("names", SjsonTree::Array(names.collect()));
    let must = |answer: Result<SjsonTree, SjsonTree>| drop(answer.expect("it can be followed"));
    must(ask(&mut client, "subscribe", vec![stream("log")]));
    must(ask(&mut client, "subscribe", vec![stream("time_step"), every(1.0 / 30.0)]));
    must(ask(&mut client, "subscribe", vec![stream("counters"), every(1.0 / 30.0), names]));
    must(ask(&mut client, "subscribe", vec![stream("profile"), every(0.05)]));
    let pictures = vec![stream("picture"), every(0.05), ("width", SjsonTree::Number(640.0))];
    let pictures = ask(&mut client, "subscribe", pictures).is_ok();
    let until = Instant::now() + Duration::from_secs_f64(SECONDS + 1.5);
    let reading = std::thread::spawn(move || {
        while Instant::now() < until {
            client.receive(Duration::from_millis(100));
        }
    });
    (reading, pictures)
}

fn measure() -> Group {
    let (_playing, session) = GameProcess::start();
    let mut client = RemoteClient::connect(&session).expect("the game lets tools in");
    let names = ("names", json::texts(["frame/cpu_milliseconds"]));
    let fields = vec![("stream", json::text("counters")), names, ("every", SjsonTree::Number(0.5))];
    ask(&mut client, "subscribe", fields).expect("it can be followed");
    let (mut quiet, mut looked_at, mut with_pictures) = (Vec::new(), Vec::new(), false);
    for _ in 0..ROUNDS {
        quiet.push(mean(&mut client));
        let (reading, pictures) = follow_all(&session);
        looked_at.push(mean(&mut client));
        with_pictures = pictures;
        reading.join().expect("it only reads");
    }
    let (quiet, looked_at) = (median(quiet), median(looked_at));
    let share = (looked_at - quiet) / FRAME_MILLISECONDS * 100.0;
    let pictures = if with_pictures { "20 pictures" } else { "no pictures (nothing to draw on)" };
    Group {
        name: "tools",
        title: "the cost of tools per frame",
        workload: "A game of 500 moving units and 200 rectangles, 60 frames a second, two lines of \
                   the log in each. A client follows the log, time steps and 20 counters 30 times \
                   a second, the profiler 20 times, and pictures 640 wide 20 times. CPU time of \
                   the game's thread in a frame, means of 4 seconds, medians of 3 rounds.",
        rows: vec![
            row("a frame without clients", quiet, "ms", None),
            named(format!("with every stream on, {pictures}"), looked_at, "ms", None),
            row("the difference, of a frame of 16.7 ms", share, "%", Some(3.0)),
        ],
    }
}

pub fn run(run: &mut Run) {
    run.part("client", measure);
}
