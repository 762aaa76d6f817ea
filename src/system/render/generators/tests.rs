//! Tests of generators that need no adapter.

use super::resolve::SOURCE;

#[test]
fn the_shader_of_copies_is_valid_for_any_number_of_samples() {
    for source in [SOURCE.to_string(), SOURCE.replace("_multisampled_2d", "_2d")] {
        let module = wgpu::naga::front::wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
        let flags = wgpu::naga::valid::ValidationFlags::all();
        let able = wgpu::naga::valid::Capabilities::empty();
        let valid = wgpu::naga::valid::Validator::new(flags, able).validate(&module);
        assert!(valid.is_ok(), "{valid:?}");
    }
}
