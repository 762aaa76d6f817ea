//! Build script: adds the linker rules for programs that contain the VM.

#[path = "../script/link_wrap.rs"]
mod link_wrap;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    link_wrap::add_linker_rules();
}
