//! Runs the files of the prelude. In debug builds, it checks after each file that the file replaced
//! nothing that native code or another file declared (lua/boot/exports.lua). Knows no single file.

use super::prelude::{EXPORTS, PreludeFile};
use super::value::ScriptValue;
use super::vm::Vm;
use super::{CallOutcome, ErrorReport};

/// Runs `files` in order, each with the table `core` and `options` as arguments.
///
/// # Errors
/// Returns the error of a file, or the report of a replaced function. No file runs after it.
pub fn run(
    vm: &mut Vm,
    files: impl Iterator<Item = PreludeFile>,
    options: &ScriptValue,
) -> Result<(), Box<ErrorReport>> {
    let checks = cfg!(debug_assertions);
    if checks {
        vm.run_prelude(EXPORTS, options)?;
    }
    for file in files {
        vm.run_prelude(file, options)?;
        if checks {
            check(vm, &[ScriptValue::Text(file.name.into())])?;
        }
    }
    if checks {
        check(vm, &[])?;
    }
    Ok(())
}

fn check(vm: &mut Vm, arguments: &[ScriptValue]) -> CallOutcome {
    vm.call_core("check_exports", arguments, f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use crate::api;
    use crate::prelude::{FILES, LAST, LIBRARY_FILES, PreludeFile, TEST_FILES};
    use std::collections::{BTreeMap, BTreeSet};

    /// Tables that files of the prelude share, besides the modules of the API.
    const SHARED: [&str; 2] = ["core", "kit"];

    /// Files outside of the folder of their module, and why.
    const EXCEPTIONS: [(&str, &str, &str); 2] = [
        ("World", "gui/gui", "creates Guis, with the checks of Gui"),
        ("Application", "debug/commands", "runs commands, which are declared there"),
    ];

    /// Modules that have a folder of their own.
    const HOMES: [(&str, &str); 2] = [("Unit", "world/unit"), ("PhysicsWorld", "world/physics")];

    /// A name that a file declares at its top level.
    #[derive(Clone, PartialEq, Debug)]
    struct Declaration<'a> {
        table: &'a str,
        name: &'a str,
        file: &'a str,
    }

    fn is_name(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// Returns the declarations of a file: `function X.y(` and `X.y, X.z =` at the beginning of a
    /// line, where X is a shared table or a module. Local tables are not declarations.
    fn declarations(file: &PreludeFile) -> Vec<Declaration<'static>> {
        let is_module = |table| file.text.contains(&format!("core.module(\"{table}\")"));
        let mut found = Vec::new();
        for line in file.text.lines().filter(|line| !line.starts_with(' ')) {
            let paths = match line.strip_prefix("function ") {
                Some(rest) => rest.split_once('(').map(|(path, _)| path),
                None => line.split_once(" = ").map(|(paths, _)| paths),
            };
            for path in paths.unwrap_or("").split(", ") {
                let Some((table, name)) = path.split_once('.') else { continue };
                let shared = SHARED.contains(&table) || is_module(table);
                if is_name(table) && is_name(name) && shared {
                    found.push(Declaration { table, name, file: file.name });
                }
            }
        }
        found
    }

    fn all_files() -> impl Iterator<Item = &'static PreludeFile> {
        FILES.iter().chain(TEST_FILES).chain(LIBRARY_FILES)
    }

    /// Returns what is wrong with the files' declarations: names that are declared twice, or that a
    /// native function has.
    fn faults<'a>(files: impl Iterator<Item = &'a PreludeFile>) -> Vec<String> {
        let mut owners: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        let public = api::MODULES.iter().map(|module| (module.name, module.funcs));
        let core = api::CORE_MODULES.iter().map(|module| ("core", module.funcs));
        for (table, rows) in public.chain(core) {
            owners.extend(rows.iter().map(|row| ((table, row.name), "native code")));
        }
        let mut found = Vec::new();
        for Declaration { table, name, file } in files.flat_map(declarations) {
            if let Some(owner) = owners.insert((table, name), file) {
                found.push(format!("{table}.{name}: {owner} and {file}"));
            }
        }
        found
    }

    fn planted(name: &'static str, text: &'static str) -> PreludeFile {
        PreludeFile { name, text, bytecode: &[] }
    }

    #[test]
    fn every_name_is_declared_once() {
        assert_eq!(faults(all_files().chain([&LAST])), Vec::<String>::new());
        assert!(all_files().flat_map(declarations).count() > 500, "few were found");
    }

    #[test]
    fn names_that_are_declared_twice_are_found() {
        let check = |texts: [&'static str; 2], expected: &[&str]| {
            let files = [planted("a", texts[0]), planted("b", texts[1])];
            assert_eq!(faults(files.iter()), expected, "{texts:?}");
        };
        check(["function core.a()", "function core.b()"], &[]);
        check(["function core.a()", "function core.a()"], &["core.a: a and b"]);
        check(["core.a, core.b = 1, 2\ncore.b = 3", ""], &["core.b: a and a"]);
        check(["function core.read_script()", ""], &["core.read_script: native code and a"]);
        let world = "local World = core.module(\"World\")\nfunction World.time(world)";
        check(["", world], &["World.time: native code and b"]);
        check(["local Done = {}\nfunction Done.a()", "local Done = {}\nfunction Done.a()"], &[]);
    }

    /// Returns the declarations of modules outside of the module's home, a folder.
    fn strangers<'a>(files: impl Iterator<Item = &'a PreludeFile>) -> Vec<String> {
        let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for Declaration { table, file, .. } in files.flat_map(declarations) {
            let away = EXCEPTIONS.iter().any(|(module, at, _)| *module == table && *at == file);
            if SHARED.contains(&table) || away {
                continue;
            }
            let (folder, _) = file.rsplit_once('/').unwrap_or(("", file));
            folders.entry(table).or_default().insert(file.split('/').next().unwrap_or(""));
            let home = HOMES.iter().find(|(module, _)| *module == table);
            if home.is_some_and(|(_, home)| *home != folder) {
                found.insert(format!("{table}: {file} is not in its folder"));
            }
        }
        for (module, folders) in folders {
            if folders.len() > 1 {
                found.insert(format!("{module}: it is spread over {folders:?}"));
            }
        }
        found.into_iter().collect()
    }

    #[test]
    fn every_module_is_declared_in_one_file() {
        assert_eq!(strangers(all_files()), Vec::<String>::new());
        let text = "local Unit, Json = core.module(\"Unit\"), core.module(\"Json\")
function Unit.a()
function Json.a()";
        let files = [planted("gui/a", text), planted("text/b", text)];
        let expected = [
            "Json: it is spread over {\"gui\", \"text\"}",
            "Unit: gui/a is not in its folder",
            "Unit: it is spread over {\"gui\", \"text\"}",
            "Unit: text/b is not in its folder",
        ];
        assert_eq!(strangers(files.iter()), expected);
    }

    #[test]
    fn files_listed_as_exceptions_exist() {
        for (module, at, _) in EXCEPTIONS {
            let declared = all_files().flat_map(declarations);
            let mut of_file = declared.filter(|one| one.table == module && one.file == at);
            assert!(of_file.next().is_some(), "{at} declares nothing of {module}");
        }
    }
}
