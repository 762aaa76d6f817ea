//! Tests of the broker of a game in a window: it opens links, shares nothing with the game's
//! process, and ends with that process in any case.

use super::display::{Display, GameProcess};
use super::{scratch, write};
use crate::game_folder::write_program;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns the process id of a process's broker.
fn broker_of(process: u32) -> Option<u32> {
    fs::read_dir("/proc").expect("it is there").flatten().find_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name comes the state, whichever it is at the moment.
        let (_, rest) = line.split_once("(engine-broker) ")?;
        (rest.split(' ').nth(1)? == process.to_string()).then_some(number)
    })
}

#[track_caller]
fn wait_for<T>(condition: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{condition}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Creates a program that replaces the desktop's own and writes its arguments to a file.
fn browser(folder: &Path) -> PathBuf {
    let programs = folder.join("programs");
    fs::create_dir(&programs).expect("it can be made");
    let opened = folder.join("opened.txt");
    let text = format!("#!/bin/sh\necho \"$@\" >> '{}'\n", opened.display());
    write_program(&programs.join("xdg-open"), text);
    opened
}

#[test]
fn broker_opens_links_and_ends_with_the_game() {
    let Some(display) = Display::start() else { return };
    let folder = scratch("broker");
    let opened = browser(&folder);
    let main = r#"
local asked
function update()
  if not asked and Window.is_open() then
    asked = true
    print("opened", Application.open_url_in_browser("https://example.org/a?b=$(touch%20c)"))
    print("again", Application.open_url_in_browser("https://example.org/b"))
  end
end
"#;
    write(&folder, main);
    let paths = std::env::var("PATH").expect("there is one");
    let path = format!("{}:{paths}", folder.join("programs").display());
    let set = [("PATH", path.as_str())];
    let arguments = ["--renderer", "null"];
    let mut game = GameProcess::run_with(&display, &folder.join("game"), &folder, &arguments, &set);
    assert_eq!(game.wait_for_line("opened"), "opened\ttrue");
    assert_eq!(
        game.wait_for_line("again"),
        "again\tnil\tan address was opened less than a second ago"
    );
    let output = wait_for("nothing was opened", || {
        fs::read_to_string(&opened).ok().filter(|text| text.ends_with('\n'))
    });
    assert_eq!(output, "https://example.org/a?b=$(touch%20c)\n");
    let broker = wait_for("it has no broker", || broker_of(game.process.id()));
    // All threads of the game are confined, including those of the window's libraries.
    let tasks = fs::read_dir(format!("/proc/{}/task", game.process.id())).expect("it runs");
    let status = |task: fs::DirEntry| fs::read_to_string(task.path().join("status")).ok();
    let statuses: Vec<String> = tasks.flatten().filter_map(status).collect();
    let is_confined = |status: &String| status.contains("\nSeccomp:\t2\n");
    assert!(statuses.len() > 1 && statuses.iter().all(is_confined), "{statuses:?}");
    let nothing = std::ptr::null::<u8>();
    // SAFETY: queries the version, as defined in linux/landlock.h: no record, of no bytes, and a
    // flag.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0usize, 1) };
    let log = folder.join("saves/game/logs/game.log");
    let log = wait_for("no log", || {
        fs::read_to_string(&log).ok().filter(|text| text.contains("no programs are started\n"))
    });
    if version > 0 {
        // The complete line, without exceptions after it.
        let files = log.split("confinement: files are limited (Landlock ").nth(1);
        let found =
            files.and_then(|rest| rest.lines().next()?.strip_suffix(')')?.parse::<u32>().ok());
        assert!(found.is_some_and(|found| found > 0), "{log}");
    }
    // The broker's files: /dev/null three times, and the connection. Only root may look.
    let folder_of_files = format!("/proc/{broker}/fd");
    if let Ok(files) = fs::read_dir(&folder_of_files) {
        let of = |number: &str| {
            let link = fs::read_link(Path::new(&folder_of_files).join(number));
            link.expect("it is open").to_string_lossy().into_owned()
        };
        let files = files.count();
        assert_eq!([of("0"), of("1"), of("2")], ["/dev/null"; 3]);
        assert!(of("3").starts_with("socket:") && files == 4, "{} and {files} files", of("3"));
    }
    // If it is asked to end as by a desktop, it waits for the game, which may have files to write.
    let asked = std::process::Command::new("kill").arg(broker.to_string()).status();
    assert!(asked.expect("every system has it").success());
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(broker_of(game.process.id()), Some(broker));
    // A killed game ends its broker, too.
    game.process.kill().expect("it is ours");
    let has_ended = || (!Path::new(&format!("/proc/{broker}")).exists()).then_some(());
    wait_for("the broker stayed", has_ended);
}
