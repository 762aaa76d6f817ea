//! The Lua module `ResourcePackage`: loading and unloading sets of resources. Acquiring and
//! releasing a package is in `Application`.

use crate::api_row::{ModuleRows, func, module};
use engine_foundation::Error;
use engine_resource::package::PackageId;
use engine_runtime::Engine;

pub static PACKAGE: ModuleRows = module(
    "ResourcePackage",
    "A set of resources, listed in a `.package` file, whose data is loaded in the background and \
     unloaded together. `Application.resource_package` returns one. A resource in no loaded \
     package is read when it is first used.",
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
            "Starts to read and check the data of a package's resources, and of those that they \
             refer to, on a separate thread. The data is available at the beginning of a later \
             frame; in deterministic runs, of the next one.",
        ),
        func(
            "has_loaded",
            has_loaded,
            &[("package", "a package that is loaded, or being loaded")],
            "Returns true if all of the package's data is loaded. It stays false if the data could \
             not be loaded, which is logged: `load` tries again.",
        )
        .pure(),
        func(
            "flush",
            flush,
            &[("package", "a package that is loaded, or being loaded")],
            "Waits until all of the package's data is loaded.",
        ),
        func(
            "unload",
            unload,
            &[("package", "a package that is loaded, or being loaded")],
            "Unloads the package's data, except for resources that are also in another loaded \
             package.",
        )
        .when_full(),
    ],
);

fn load(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.assets.packages.load(package, &mut engine.assets.store)
}

fn has_loaded(engine: &mut Engine, package: PackageId) -> Result<bool, Error> {
    engine.assets.packages.has_loaded(package)
}

fn flush(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.assets.packages.flush(package, &mut engine.assets.store)
}

fn unload(engine: &mut Engine, package: PackageId) -> Result<(), Error> {
    engine.assets.packages.unload(package, &mut engine.assets.store)
}
