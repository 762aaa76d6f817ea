//! Runs the manual's code. Every Lua block in README.md and docs/ is a suite that passes, or a game
//! that plays a few frames headless without an error and can be saved again while it is played. The
//! files that blocks use are in tests/manual/. Blocks of other languages, without a language, or
//! marked `lua fragment` are ignored. The examples of generated pages run in tests/reference.rs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the Lua blocks of a page, each with its first line number.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let (mut blocks, mut inside) = (Vec::new(), None);
    for (i, line) in page.lines().enumerate() {
        match &mut inside {
            None if line.trim() == "```lua" => inside = Some((i + 2, String::new())),
            Some((start, text)) if line.trim() == "```" => {
                blocks.push((*start, std::mem::take(text)));
                inside = None;
            }
            Some((_, text)) => *text += &format!("{line}\n"),
            None => {}
        }
    }
    blocks
}

/// Returns true if a block is a suite.
fn is_suite(text: &str) -> bool {
    ["describe(", "it("].iter().any(|word| text.lines().any(|line| line.starts_with(word)))
}

/// Returns true if a block is a complete game, which its reader saves while it is played.
fn is_game(text: &str) -> bool {
    ["init", "update", "render"]
        .map(|name| format!("function {name}("))
        .iter()
        .any(|word| text.lines().any(|line| line.starts_with(word)))
}

/// Copies the files that the manual's examples use.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a scratch folder can be made");
    for entry in std::fs::read_dir(from).expect("it is there") {
        let path = entry.expect("it can be read").path();
        let target = to.join(path.file_name().expect("it has a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => {
                std::fs::copy(&path, &target).expect("a file can be copied");
            }
        }
    }
}

/// Plays a block in its own folder. Returns a message if it fails.
fn play(folder: &Path, text: &str) -> Result<(), String> {
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manual"), folder);
    play_in(folder, text)
}

/// Plays a block in a folder with existing files.
fn play_in(folder: &Path, text: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder.join("tests")).expect("a scratch folder can be made");
    let (file, arguments): (_, &[&str]) = match is_suite(text) {
        true => ("tests/page_test.lua", &["test", "."]),
        false => ("main.lua", &["run", ".", "--headless", "--frames", "3"]),
    };
    std::fs::write(folder.join(file), text).expect("a scratch file can be written");
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(arguments)
        .env("ENGINE_QUIET", "1")
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .current_dir(folder)
        .output()
        .expect("the engine starts");
    let output = [&run.stdout[..], &run.stderr[..]].map(String::from_utf8_lossy).concat();
    match run.status.code() {
        Some(0) => Ok(()),
        _ => Err(output),
    }
}

/// Saves a game of the manual again while it is played. Returns a message if the reload was
/// refused.
fn reload_game(folder: &Path, text: &str) -> Result<(), String> {
    std::fs::create_dir_all(folder).expect("a scratch folder can be made");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manual"), folder);
    std::fs::write(folder.join("main.lua"), text).expect("a scratch file can be written");
    play_in(folder, &format!("local GAME = [==[\n{text}]==]\n{RELOAD_SUITE}"))
}

/// A suite that saves a game with an added comment.
const RELOAD_SUITE: &str = r#"
it("can be saved while it is played", function()
  test.boot()
  test.frames(2)
  assert(test.reload("main.lua", GAME .. "-- saved again\n"))
  test.frames(2)
end)
"#;

/// Pages with blocks that belong together and run in a separate test.
const TESTED_ELSEWHERE: [(&str, &str); 1] = [("tasks.md", "tests/workers.rs")];

#[test]
fn every_lua_block_in_the_manual_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages: Vec<PathBuf> = std::fs::read_dir(root.join("docs"))
        .expect("there is a manual")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.push(root.join("README.md"));
    pages.sort();
    let scratch = std::env::temp_dir().join(format!("engine-manual-{}", std::process::id()));
    let (mut count, mut games, mut wrong) = (0, 0, Vec::new());
    for page in pages {
        let name = page.file_name().expect("it is a file").to_string_lossy().into_owned();
        if TESTED_ELSEWHERE.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let text = std::fs::read_to_string(&page).expect("it can be read");
        for (line, block) in blocks(&text) {
            count += 1;
            let folder = scratch.join(format!("{name}-{line}"));
            let mut played = play(&folder, &block);
            if played.is_ok() && is_game(&block) {
                games += 1;
                played = reload_game(&folder.join("again"), &block);
            }
            if let Err(message) = played {
                wrong.push(format!("{name}:{line}:\n{message}"));
            }
        }
    }
    std::fs::remove_dir_all(&scratch).expect("the scratch folder can be removed");
    assert!(wrong.is_empty(), "{} of {count} blocks fail:\n\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 40 && games > 25, "only {count} blocks and {games} games were found");
}

/// A suite that saves the steps of the first game one after the other, and plays each for a while.
const STEPS: &str = r#"
it("goes on from step to step", function()
  test.boot()
  for number, step in ipairs(STEPS) do
    if number > 2 then step = step .. "function state() return #rocks, score end" end
    assert(test.reload("main.lua", step))
    test.input({ press = "left" })
    test.seconds(5)
    test.input({ { release = "left" }, { press = "space" } })
    test.frames(2)
    test.input({ release = "space" })
    test.seconds(5)
    if number == 3 then
      local rocks, score = state()
      assert.is_true(rocks > 2 and score > 5, rocks .. " rocks, score " .. score)
    end
  end
end)
"#;

#[test]
fn first_game_steps_reload_in_sequence() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/first_game.md");
    let text = std::fs::read_to_string(page).expect("the page is there");
    let steps: Vec<String> = blocks(&text).into_iter().take(4).map(|(_, block)| block).collect();
    let texts: String = steps.iter().map(|step| format!("[==[\n{step}]==],\n")).collect();
    let scratch = std::env::temp_dir().join(format!("engine-steps-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("a scratch folder can be made");
    std::fs::write(scratch.join("main.lua"), &steps[0]).expect("a scratch file can be written");
    let played = play_in(&scratch, &format!("local STEPS = {{\n{texts}}}\n{STEPS}"));
    std::fs::remove_dir_all(&scratch).expect("the scratch folder can be removed");
    assert_eq!(played, Ok(()));
}

/// A step of a section that builds a game.
enum Step {
    File(String, String),
    Command(String),
    Output(String),
}

/// Returns the files, the commands and the outputs of a section whose steps build a game. A block
/// begins with a comment that names its file, or is the output of the command above it.
fn steps_of(page: &str, title: &str) -> Vec<Step> {
    let start = page.find(&format!("\n## {title}\n")).expect("the section is there") + 4;
    let section = &page[start..];
    let section = &section[..section.find("\n## ").unwrap_or(section.len())];
    let (mut steps, mut block) = (Vec::new(), None::<String>);
    for line in section.lines() {
        match &mut block {
            None if line.starts_with("```") => block = Some(String::new()),
            None => {
                let command = line.strip_prefix("    engine ");
                steps.extend(command.map(|command| Step::Command(command.to_string())));
            }
            Some(text) if line == "```" => {
                let first = text.lines().next().unwrap_or_default();
                let path = first.strip_prefix("// ").or_else(|| first.strip_prefix("-- "));
                steps.push(match path {
                    Some(path) => Step::File(path.to_string(), text.clone()),
                    None => Step::Output(text.clone()),
                });
                block = None;
            }
            Some(text) => *text += &format!("{line}\n"),
        }
    }
    steps
}

/// Runs a command of a page in a folder. Returns its output.
fn run_step(folder: &Path, command: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_engine"))
        .args(command.split(' '))
        .env("ENGINE_SAVE_DIR", folder.join("saves"))
        .current_dir(folder)
        .output()
        .expect("the engine starts");
    let printed = [&run.stdout[..], &run.stderr[..]].map(String::from_utf8_lossy).concat();
    assert_eq!(run.status.code(), Some(0), "engine {command}:\n{printed}");
    assert!(!printed.contains("warning: units"), "engine {command}:\n{printed}");
    printed
}

#[test]
fn steps_of_the_first_graph_build_a_game() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/flow.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let folder = std::env::temp_dir().join(format!("engine-first-graph-{}", std::process::id()));
    let (mut files, mut outputs, mut printed) = (0, 0, String::new());
    for step in steps_of(&page, "A first example") {
        match step {
            Step::File(path, text) => {
                files += 1;
                let path = folder.join(path);
                std::fs::create_dir_all(path.parent().expect("it has one")).expect("it is new");
                std::fs::write(path, text).expect("a scratch file can be written");
            }
            Step::Command(command) => printed = run_step(&folder, &command),
            Step::Output(expected) => {
                outputs += 1;
                let is_shown = |line: &&str| expected.lines().any(|one| line.ends_with(one));
                let found: Vec<&str> = printed.lines().filter(is_shown).collect();
                let expected: Vec<&str> = expected.lines().collect();
                assert_eq!(found.len(), expected.len(), "{printed}");
                let pairs = found.iter().zip(&expected);
                pairs.for_each(|(found, line)| assert!(found.ends_with(line), "{printed}"));
            }
        }
    }
    std::fs::remove_dir_all(&folder).expect("the scratch folder can be removed");
    assert_eq!((files, outputs), (3, 1));
}

#[test]
fn refused_reload_of_a_manual_game_is_reported() {
    let scratch = std::env::temp_dir().join(format!("engine-saved-{}", std::process::id()));
    let game = "local world = Application.new_world()\nfunction update() end\n";
    assert!(is_game(game) && is_game("function render() end\n") && !is_game("wait(1)\n"));
    let outcomes = [game, "function update() end\n"].map(|text| reload_game(&scratch, text));
    std::fs::remove_dir_all(&scratch).expect("the scratch folder can be removed");
    assert!(
        outcomes[0].as_ref().is_err_and(|message| message.contains("not while reloading")),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[1], Ok(()));
}

#[test]
fn lua_blocks_are_found_with_line_numbers() {
    let page = "words\n```lua\na = 1\n```\n```\nnot this\n```\n  ```lua\n  b = 2\n  ```\n";
    assert_eq!(blocks(page), [(3, "a = 1\n".to_string()), (9, "  b = 2\n".to_string())]);
    assert!(is_suite("describe(\"x\", function() end)\n") && !is_suite("wait(1)\n"));
}
