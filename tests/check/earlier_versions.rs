//! A check looks at the files as they are now, and not at data that was compiled before.

use crate::game_folder::GameFolder;

#[test]
fn errors_of_earlier_versions_are_not_reported() {
    let folder = GameFolder::new("check", "earlier");
    folder.write("main.lua", "");
    folder.write("a.unit", "components = { sprite = { texture = \"shp\" } }");
    let check = || {
        let (code, out, errors) = folder.engine(&["check", "."]);
        (code, out + &errors)
    };
    assert!(check().1.contains("there is no texture 'shp'"));
    folder.write("a.unit", "components = {");
    let (code, output) = check();
    assert!(code == 1 && output.contains("a.unit:1"), "{output}");
    assert!(!output.contains("shp"), "the version with it is no more: {output}");
    assert!(output.contains("0 units, 0 models and 0 levels checked\n"), "{output}");
}
