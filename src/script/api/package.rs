//! `ResourcePackage`: loading and unloading sets of resources. Taking hold of one and letting go of
//! it is `Application`'s.

use crate::engine::Engine;
use crate::foundation::Error;
use crate::resource::package::PackageId;
use crate::script::row::{Module, func, module};

pub static PACKAGE: Module = module(
    "ResourcePackage",
    "A set of resources, listed in a `.package` file, whose data is loaded in the background and \
     unloaded together. `Application.resource_package` takes hold of one. What is in no loaded \
     package is read when it is first asked for.",
    r#"if Application.can_get("package", "levels/yard") then
  local package = Application.resource_package("levels/yard")
  ResourcePackage.load(package)
  ResourcePackage.flush(package)
  assert(ResourcePackage.has_loaded(package))
  ResourcePackage.unload(package)
  Application.release_resource_package(package)
end"#,
    &[
        func(
            "load",
            load,
            &[("package", "a package that is not loaded")],
            "Begins to read and check the data of a package's resources, and of those that they \
             refer to, on a thread of its own. It is there at the beginning of a later frame; in \
             deterministic runs, of the next one.",
        ),
        func(
            "has_loaded",
            has_loaded,
            &[("package", "a package that is loaded, or being loaded")],
            "Whether all of the package's data is there. It never is where it could not be loaded, \
             which the log says: `load` tries again.",
        )
        .pure(),
        func(
            "flush",
            flush,
            &[("package", "a package that is loaded, or being loaded")],
            "Waits until all of the package's data is there.",
        ),
        func(
            "unload",
            unload,
            &[("package", "a package that is loaded, or being loaded")],
            "Forgets the package's data, but for what another loaded package has, too.",
        )
        .when_full(),
    ],
);

fn load(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.packages.load(package, &mut engine.store)
}

fn has_loaded(engine: &mut Engine, package: PackageId) -> Result<bool, Error> {
    engine.packages.has_loaded(package)
}

fn flush(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.packages.flush(package, &mut engine.store)
}

fn unload(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.packages.unload(package, &mut engine.store)
}
