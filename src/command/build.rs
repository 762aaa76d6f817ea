//! Build script: adds the linker rule for programs that contain the VM.

#[path = "../script/link_wrap.rs"]
mod link_wrap;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    link_wrap::replace_string_function();
}
