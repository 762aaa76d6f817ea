//! Tests of the settings for editors in docs/debugging.md. The requests in JSON start a game, and
//! the tasks run. The settings in other languages are only searched for what they must say: the
//! editors themselves do not run here.

use super::*;
use std::fs;

/// Returns the blocks of the page with their languages.
fn blocks() -> Vec<(String, String)> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/debugging.md");
    let page = fs::read_to_string(page).expect("the page");
    let (mut found, mut open) = (Vec::new(), None);
    for line in page.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(language)) => open = Some((language.to_string(), String::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some((_, text)), None) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert_eq!(open, None, "a block is not closed");
    found
}

/// Returns the only block of a language with a text in it.
fn block(language: &str, contains: &str) -> String {
    let mut found: Vec<String> = blocks()
        .into_iter()
        .filter(|(of, text)| of == language && text.contains(contains))
        .map(|(_, text)| text)
        .collect();
    assert_eq!(found.len(), 1, "blocks of {language} with {contains}");
    found.remove(0)
}

/// Starts a game with the fields of a configuration, whose folder is the game's.
fn check_request(name: &str, configuration: &SjsonTree) {
    let mut editor = Editor::start(name, MAIN);
    assert_eq!(text(configuration, "type"), "engine");
    assert!(text(configuration, "folder").starts_with("${workspaceFolder}"), "{configuration:?}");
    let folder = json::text(editor.path("").to_string_lossy());
    let SjsonTree::Object(mut entries) = configuration.clone() else { panic!("an object") };
    for (key, value) in &mut entries {
        if key == "folder" {
            *value = folder.clone();
        }
    }
    entries.push(("headless".to_string(), SjsonTree::Bool(true)));
    let arguments = json::write(&SjsonTree::Object(entries));
    editor.ask(text(configuration, "request"), &arguments);
    editor.event("initialized");
    editor.set_breakpoints("main.lua", "{\"line\": 7}");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped().1, "main.lua:7");
    editor.end();
}

#[test]
fn configuration_for_jetbrains_starts_a_game() {
    let text = block("json", "\"request\"");
    check_request("jetbrains", &json::read(&text).expect("JSON"));
}

#[test]
fn new_games_have_a_launch_file_that_starts_them() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/game_template/.vscode/launch.json");
    let file = json::read(&fs::read_to_string(file).expect("a file")).expect("JSON");
    let configurations = items(&file, "configurations");
    let requests: Vec<&str> = configurations.iter().map(|it| text(it, "request")).collect();
    assert_eq!(requests, ["launch", "attach", "launch"]);
    check_request("launch-json", &configurations[0]);
    assert_eq!(text(&configurations[2], "suite"), "${relativeFile}");
}

#[test]
fn tasks_for_zed_are_commands_of_the_engine() {
    let tasks = json::read(&block("json", "ZED_WORKTREE_ROOT")).expect("JSON");
    let SjsonTree::Array(tasks) = &tasks else { panic!("a list") };
    let folder = GameFolder::new("dap", "zed");
    folder.write("game/main.lua", "function update() Application.quit() end");
    folder.write("game/a_test.lua", "it('walks', function() end)");
    let game = folder.join("game").to_string_lossy().into_owned();
    for task in tasks {
        assert_eq!(text(task, "command"), "engine");
        let mut arguments: Vec<String> = items(task, "args")
            .iter()
            .map(|it| match it {
                SjsonTree::String(text) => text.replace("$ZED_WORKTREE_ROOT", &game),
                other => panic!("{other:?}"),
            })
            .collect();
        if arguments[0] == "run" {
            arguments.push("--headless".to_string());
        }
        let (code, out, err) = folder.engine(&arguments);
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
    }
}

#[test]
fn settings_of_other_editors_name_program_and_request() {
    // Each names the program, its argument, the request and the folder.
    let neovim = block("lua fragment", "dap.adapters");
    let emacs = block("elisp", "dape-configs");
    let helix = block("toml", "language.debugger");
    let rows: [(&str, &[&str]); 3] = [
        (
            &neovim,
            &[
                "command = \"engine\", args = { \"dap\" }",
                "type = \"engine\", request = \"launch\"",
                "type = \"engine\", request = \"attach\"",
                "folder = \"${workspaceFolder}\"",
            ],
        ),
        (
            &emacs,
            &[
                "command \"engine\"",
                "command-args (\"dap\")",
                ":type \"engine\"",
                ":request \"launch\"",
                ":folder dape-cwd",
            ],
        ),
        (
            &helix,
            &[
                "command = \"engine\"\nargs = [\"dap\"]",
                "transport = \"stdio\"",
                "request = \"launch\"",
                "args = { folder = \"{0}\" }",
            ],
        ),
    ];
    for (text, wanted) in rows {
        for part in wanted {
            assert!(text.contains(part), "{part} is not in:\n{text}");
        }
        let pairs = [("(", ")"), ("{", "}"), ("[", "]")];
        for (open, close) in pairs {
            assert_eq!(text.matches(open).count(), text.matches(close).count(), "{open}: {text}");
        }
    }
    // The Lua is a script.
    let folder = GameFolder::new("dap", "neovim");
    folder.write("game/main.lua", "");
    folder.write("game/init_file.lua", neovim);
    let (code, out, err) = folder.engine(&["check", "game"]);
    assert_eq!(code, 0, "{out}{err}");
}

/// Returns the arguments of requests in the table of the page.
fn documented_arguments() -> Vec<String> {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/debugging.md");
    let page = fs::read_to_string(page).expect("the page");
    let table = page.split("| Argument | What it is |\n").nth(1).expect("the table");
    let rows = table.lines().skip(1).take_while(|line| line.starts_with("| `"));
    rows.map(|row| row.split('`').nth(1).expect("a name").to_string()).collect()
}

/// Returns the names before each occurrence of a text.
fn names_before(text: &str, mark: &str) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let parts: Vec<&str> = text.split(mark).collect();
    let name = |part: &&str| part.rsplit(|c| !is_name(c)).next().unwrap_or("").to_string();
    parts[..parts.len() - 1].iter().map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn settings_name_only_arguments_that_exist() {
    let known = documented_arguments();
    // What every configuration of an editor has.
    let common = ["type", "request", "name"];
    let neovim = block("lua fragment", "dap.adapters");
    let neovim = neovim.split("configurations.lua = ").nth(1).expect("its list");
    let emacs = block("elisp", "dape-configs");
    let emacs = emacs.split(|c: char| c.is_whitespace() || c == '(' || c == ')');
    let emacs = emacs.filter_map(|word| word.strip_prefix(':')).map(str::to_string).collect();
    let helix = block("toml", "language.debugger");
    let helix = helix.split("args = {").nth(1).expect("its arguments");
    let jetbrains = json::read(&block("json", "\"request\"")).expect("JSON");
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/game_template/.vscode/launch.json");
    let template = json::read(&fs::read_to_string(template).expect("a file")).expect("JSON");
    let keys = |tree: &SjsonTree| match tree {
        SjsonTree::Object(entries) => entries.iter().map(|(key, _)| key.clone()).collect(),
        _ => Vec::new(),
    };
    let template = items(&template, "configurations").iter().flat_map(keys).collect();
    let helix = names_before(helix.split('}').next().expect("a list"), " = ");
    let rows: [(&str, Vec<String>); 5] = [
        ("Neovim", names_before(neovim, " = ")),
        ("Emacs", emacs),
        ("Helix", helix),
        ("JetBrains", keys(&jetbrains)),
        ("the template", template),
    ];
    for (editor, names) in rows {
        assert!(names.iter().any(|name| name == "folder"), "{editor}: {names:?}");
        for name in names {
            let exists = common.contains(&name.as_str()) || known.contains(&name);
            assert!(exists, "{editor} has '{name}', which is not in {known:?}");
        }
    }
}

#[test]
fn the_adapter_takes_every_documented_argument() {
    let known = documented_arguments();
    let tests = ["suite", "test"];
    let main = "function update()\n  argument = (Application.argv())\n  done = true\nend\n";
    let mut editor = Editor::start("arguments", main);
    let folder = json::quoted(&editor.path("").to_string_lossy());
    editor.ask(
        "launch",
        &format!(
            "{{\"cwd\": {folder}, \"headless\": true, \"arguments\": [\"one\"], \
             \"engineArguments\": [\"--seed\", \"7\"], \"stopOnEntry\": true}}"
        ),
    );
    editor.event("initialized");
    editor.ask("configurationDone", "{}");
    assert_eq!(editor.stopped().0, "entry");
    editor.ask("continue", THREAD);
    editor.stop_at("done = true");
    assert_eq!(editor.evaluate("argument"), "\"one\"");
    editor.end();
    // The others are used by the tests of suites and of settings.
    let used = ["folder", "headless", "arguments", "engineArguments", "stopOnEntry"];
    let all: Vec<&str> = used.iter().chain(&tests).copied().collect();
    assert!(known.iter().all(|name| all.contains(&name.as_str())), "{known:?}");
    assert_eq!(known.len(), all.len());
}

/// Variables of the environment with the folders of clients, and the option for each.
const CLIENTS: [(&str, &str); 2] =
    [("ENGINE_TEST_DAP_NPM", "--npm"), ("ENGINE_TEST_NVIM_DAP", "--nvim-dap")];

#[test]
fn installed_clients_have_the_sessions_of_the_manual() {
    let mut check = std::process::Command::new("python3");
    check.arg("packaging/editors/check_clients.py").arg(env!("CARGO_BIN_EXE_engine"));
    let mut count = 0;
    for (variable, option) in CLIENTS {
        if let Some(folder) = std::env::var_os(variable) {
            check.arg(option).arg(folder);
            count += 1;
        } else {
            // They come from the network, so that no machine has them by itself, also one for all
            // tests.
            let message = format!("SKIPPED: {variable} names no client (CONTRIBUTING.md)");
            writeln!(std::io::stderr(), "{message}").expect("stderr can be written to");
        }
    }
    if count == 0 {
        return;
    }
    let output = check.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("it is installed");
    let sessions = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{sessions}{problems}");
    assert_eq!(sessions.matches("--- ").count(), count, "{sessions}");
}

#[test]
fn first_session_of_the_manual_happens_as_written() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/debugging.md");
    let page = fs::read_to_string(page).expect("the page");
    let session = page.split("## A first session\n").nth(1).expect("the section");
    let session = session.split("\n## ").next().expect("its text");
    let main = session.split("```lua\n").nth(1).and_then(|part| part.split("```").next());
    let main = main.expect("the script");
    let transcript = session.split("```text\n").nth(1).and_then(|part| part.split("```").next());
    let mut editor = Editor::start("manual", main);
    editor.launch("{\"line\": 5}");
    let mut lines = vec![format!("stopped: {}", editor.stopped().1)];
    for (scope, title) in [("Locals", "locals"), ("Upvalues", "upvalues")] {
        lines.push(format!("{title}: {}", editor.variables(scope).join(", ")));
    }
    lines.push("> score + points".to_string());
    lines.push(editor.evaluate("score + points"));
    lines.push("> score = 99".to_string());
    lines.push(editor.evaluate("score = 99"));
    editor.ask("next", THREAD);
    lines.push(format!("step over: {}", editor.stopped().1));
    lines.push("> score".to_string());
    lines.push(editor.evaluate("score"));
    editor.ask("stepOut", THREAD);
    lines.push(format!("step out: {}", editor.stopped().1));
    editor.set_breakpoints("main.lua", "{\"line\": 5, \"condition\": \"before > 98\"}");
    editor.ask("continue", THREAD);
    lines.push(format!("stopped: {}", editor.stopped().1));
    lines.push("> before".to_string());
    lines.push(editor.evaluate("before"));
    editor.end();
    assert_eq!(transcript.expect("the transcript"), lines.join("\n") + "\n");
}
