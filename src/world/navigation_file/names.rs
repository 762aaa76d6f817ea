//! Names in the block `navigation` of a level: those of its units, volumes and splines.

use super::NavigationError;
use engine_foundation::sjson::SjsonValue;
use engine_foundation::suggest;

/// Checks that the block `navigation` of a level names only units, volumes and splines of it. A
/// file can be that of several levels, and says what it did in each of them.
pub(super) fn check(level: SjsonValue<'_>) -> Result<(), NavigationError<'_>> {
    let names = [
        ("platforms", "unit", "units"),
        ("volumes", "volume", "volumes"),
        ("blockers", "volume", "volumes"),
        ("links", "spline", "splines"),
    ];
    for (key, field, of) in names {
        let block = level.get("navigation").and_then(|navigation| navigation.get(key));
        for entry in block.and_then(|block| block.entries()).into_iter().flatten() {
            let Some(value) = entry.value.get(field) else { continue };
            let Some(name) = value.as_str() else { continue };
            let known = || level.get(of).and_then(|of| of.entries()).into_iter().flatten();
            if known().all(|known| known.key != name) {
                let hint = suggest::hint(name, known().map(|known| known.key));
                let message = format!(
                    "'{field}' of '{}' names '{name}', which is not in '{of}' of this level{hint}",
                    entry.key
                );
                return Err((value, message));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine_foundation::sjson;

    #[test]
    fn a_block_names_objects_of_its_level() {
        let level = "units = { lift = {} }\nvolumes = { pond = {} }\nsplines = { way = {} }\n";
        let check_with = |navigation: &str| {
            let document = sjson::parse(&format!("{level}navigation = {{\n{navigation} }}"));
            let document = document.unwrap();
            check(document.root()).map_err(|(value, message)| (value.line(), message))
        };
        let known =
            "platforms = { a = { unit = \"lift\" } } volumes = { b = { volume = \"pond\" } }
                     blockers = { c = { shape = \"box\" } } links = { d = { spline = \"way\" } }";
        assert_eq!(check_with(known), Ok(()));
        for (entry, message) in [
            (
                "platforms = { a = {\nunit = \"lfit\" } }",
                "'unit' of 'a' names 'lfit', which is not in 'units' of this level, did you mean \
                 'lift'?",
            ),
            (
                "volumes = { b = {\nvolume = \"pnd\" } }",
                "'volume' of 'b' names 'pnd', which is not in 'volumes' of this level, did you \
                 mean 'pond'?",
            ),
            (
                "blockers = { c = {\nvolume = \"x\" } }",
                "'volume' of 'c' names 'x', which is not in 'volumes' of this level",
            ),
            (
                "links = { d = {\nspline = \"lift\" } }",
                "'spline' of 'd' names 'lift', which is not in 'splines' of this level",
            ),
        ] {
            assert_eq!(check_with(entry), Err((6, message.to_string())));
        }
    }
}
