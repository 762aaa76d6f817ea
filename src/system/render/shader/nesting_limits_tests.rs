//! Tests of the limits of shaders' texts: every form of nesting, at its limit and beyond it. A text
//! at the limit passes all stages of a shader, on a quarter of the available stack.

use super::super::{PRELUDE, check};
use super::*;

/// Returns a shader whose `paint` has these statements, with declarations before it.
fn shader((before, statements): (String, String)) -> String {
    format!(
        "{before}\nfn paint(in: Paint) -> vec4f {{ var x = in.uv.x; var v = in.base; \
         var b = x > 0.5; var i = i32(x); {statements} return v * x; }}\n"
    )
}

/// A form of nesting: declarations and statements of a depth.
type Form = (&'static str, fn(usize) -> (String, String));

fn lines(statements: String) -> (String, String) {
    (String::new(), statements)
}

/// Returns `n` times `open`, then `middle`, then `n` times `close`.
fn around(open: &str, middle: &str, close: &str, n: usize) -> String {
    format!("{}{middle}{}", open.repeat(n), close.repeat(n))
}

fn nested_arrays(n: usize) -> String {
    around("array<", "f32", ", 1>", n)
}

const EXPRESSIONS: [Form; 24] = [
    ("plus", |n| lines(format!("x = x{};", " + x".repeat(n)))),
    ("times", |n| lines(format!("x = x{};", " * x".repeat(n)))),
    ("mixed", |n| lines(format!("x = x{};", " + x * x - x / x".repeat(n)))),
    ("constants", |n| (format!("const A = 1{};", " + 1".repeat(n)), String::new())),
    ("members", |n| lines(format!("v = v{};", ".xyzw".repeat(n)))),
    ("brackets", |n| lines(format!("x = {};", around("(", "x", ")", n)))),
    ("right", |n| lines(format!("x = {};", around("x + (", "x", ")", n)))),
    ("minus", |n| lines(format!("x = {}x;", "- ".repeat(n)))),
    ("not", |n| lines(format!("b = {}b;", "!".repeat(n)))),
    ("and", |n| lines(format!("b = b{};", " && b".repeat(n)))),
    ("or", |n| lines(format!("b = {};", around("b || (", "b", ")", n)))),
    ("bits", |n| lines(format!("i = i{};", " | i".repeat(n)))),
    ("shifts", |n| lines(format!("i = i{};", " << 1u".repeat(n)))),
    ("calls", |n| lines(format!("x = {};", around("sin(", "x", ")", n)))),
    ("second arguments", |n| lines(format!("x = {};", around("max(x, ", "x", ")", n)))),
    ("calls of its own", |n| {
        let own = "fn own(x: f32) -> f32 { return x; }".to_string();
        (own, format!("x = {};", around("own(", "x", ")", n)))
    }),
    ("vectors", |n| lines(format!("x = {};", around("vec2f(", "x", ").x", n)))),
    ("casts", |n| lines(format!("x = {};", around("bitcast<f32>(", "x", ")", n)))),
    ("indices", |n| {
        let own = "var<private> a: array<i32, 4>;".to_string();
        (own, format!("i = {};", around("a[", "i", "]", n)))
    }),
    ("array types", |n| (format!("alias T = {};", nested_arrays(n)), String::new())),
    ("elements", |n| {
        let own = format!("var<private> a: {};", nested_arrays(n));
        (own, format!("x = a{};", "[i]".repeat(n)))
    }),
    ("pointers", |n| {
        (format!("fn own(p: {}) {{}}", around("ptr<function, ", "f32", ">", n)), String::new())
    }),
    ("choices", |n| lines(format!("x = {};", around("select(x, x, x < ", "x", ")", n)))),
    ("comparisons", |n| lines(format!("b = x{};", " < x".repeat(n)))),
];

const BLOCKS: [Form; 6] = [
    ("blocks", |n| lines(around("{", "x = 1.0;", "}", n))),
    ("ifs", |n| lines(around("if b {", "x = 1.0;", "}", n))),
    ("elses", |n| lines(format!("if b {{ x = 1.0; }} {}", "else if b { x = 2.0; }".repeat(n)))),
    ("loops", |n| lines(around("loop { if b { break; } ", "x = 1.0;", "}", n))),
    ("fors", |n| lines(around("for (var j = 0; j < 4; j++) {", "x = 1.0;", "}", n))),
    ("switches", |n| lines(around("switch i { default: {", "x = 1.0;", "} }", n))),
];

#[test]
fn nesting_beyond_the_limit_is_refused_before_parsing() {
    for (forms, message) in [
        (&EXPRESSIONS[..], "the expression is more than 200 levels deep (NESTING_MAX)"),
        (&BLOCKS[..], "more than 100 blocks are inside each other, or follow each other"),
    ] {
        for form in forms {
            for n in [201, 1000, 2000] {
                let text = shader((form.1)(n));
                let error = check("a.wgsl", &text).unwrap_err().message;
                assert!(
                    error.starts_with("a.wgsl:2:") || error.starts_with("a.wgsl:1:"),
                    "{error}"
                );
                assert!(error.contains(message), "{} {n}: {error}", form.0);
            }
        }
    }
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let error = check("a.wgsl", text).unwrap_err().message;
    assert!(error.starts_with(message), "{error}");
}

#[test]
fn limit_errors_have_a_location_and_a_remedy() {
    refused(
        &shader(lines(format!("x = x{};", " + x".repeat(5000)))),
        "a.wgsl:2:901: the expression is more than 200 levels deep (NESTING_MAX): put parts of it \
         into variables with `let`",
    );
    refused(
        &shader(lines(format!("v = v{};", ".xy".repeat(10_000)))),
        "a.wgsl:2:701: the expression is more than 200 levels deep (NESTING_MAX)",
    );
    refused(
        &shader(lines(format!("v = v{};", ".xy".repeat(50_000)))),
        "a.wgsl:2:701: the expression is more than 200 levels deep (NESTING_MAX)",
    );
    refused(
        &shader((BLOCKS[0].1)(120)),
        "a.wgsl:2:198: more than 100 blocks are inside each other, or follow each other with \
         `else` (BLOCKS_MAX): use `switch`, or functions",
    );
    refused(
        &shader(lines("x = 1.0;".repeat(20_000))),
        "a.wgsl: the shader has more than 65536 names, numbers and signs (TOKENS_MAX): make two of \
         it, or put tables into a texture",
    );
    refused(
        &format!("{}{}", shader(lines(String::new())), "/".repeat(1 << 20)),
        "a.wgsl: the shader is longer than 1 MiB (SOURCE_BYTES_MAX)",
    );
}

/// Returns `count` declarations, each built from its number.
fn declarations(count: usize, one: impl Fn(usize) -> String) -> (String, String) {
    ((1..=count).map(one).collect(), String::new())
}

#[test]
fn declarations_that_expand_too_much_are_refused() {
    let calls = |count| {
        let (all, _) = declarations(count, |n| {
            format!("fn f{n}(x: f32) -> f32 {{ return f{}(x) + f{}(x); }}\n", n - 1, n - 1)
        });
        (format!("fn f0(x: f32) -> f32 {{ return x; }}\n{all}"), format!("x = f{count}(x);"))
    };
    assert!(check("a.wgsl", &shader(calls(8))).is_ok());
    let message = "is more than 262144 names, numbers and signs long when all that it calls and \
                 names is written out (EXPANDED_MAX): call less from it";
    for count in [20, 60, 200] {
        let error = check("a.wgsl", &shader(calls(count))).unwrap_err().message;
        assert!(error.starts_with("a.wgsl:") && error.contains(message), "{error}");
    }
    let structs = |count| {
        let (all, _) =
            declarations(count, |n| format!("struct S{n} {{ a: S{}, b: S{} }}\n", n - 1, n - 1));
        (format!("struct S0 {{ a: f32 }}\n{all}"), format!("var s = S{count}();"))
    };
    let error = check("a.wgsl", &shader(structs(28))).unwrap_err().message;
    assert!(error.contains(message), "{error}");
    // Each names the next: in any order.
    let chain = |count: usize| {
        let all = (1..=count).rev().map(|n| format!("const c{n} = c{};\n", n - 1));
        (format!("{}const c0 = 1;\n", all.collect::<String>()), String::new())
    };
    assert!(check("a.wgsl", &shader(chain(200))).is_ok());
    refused(
        &shader(chain(3000)),
        "a.wgsl:302:7: 'c2699' is one of more than 300 declarations of which each names the next \
         (CHAIN_MAX)",
    );
    // A cycle is rejected by the parser.
    let error = check("a.wgsl", &shader(("const a = b; const b = a;".into(), String::new())));
    assert!(error.unwrap_err().message.contains("cycl"));
}

#[test]
fn large_values_are_refused() {
    let large = |size: &str| {
        format!("takes {size} bytes, and 65536 is the most (VALUE_BYTES_MAX): use a texture")
    };
    for (before, statements, message) in [
        ("var<private> a: array<f32, 20000>;", "x = a[i];", large("80000")),
        ("", "var a: array<f32, 65536>; x = a[i];", large("262144")),
        ("const A = array<f32, 0x10000>();", "x = A[i];", large("262144")),
        ("", "x = array<vec4f, 10000>()[i].x;", large("160000")),
        ("const N: u32 = 65536u; var<private> a: array<f32, N>;", "", large("262144")),
        (
            "struct S { a: array<array<f32, 300>, 1000> }",
            "var s: S; x = s.a[1][2];",
            large("1200000"),
        ),
    ] {
        let error = check("a.wgsl", &shader((before.into(), statements.into())));
        let error = error.unwrap_err().message;
        assert!(error.starts_with("a.wgsl:") && error.contains(&message), "{before}: {error}");
    }
    let many = declarations(40, |n| format!("var<private> a{n}: array<f32, 16000>;\n"));
    let error = check("a.wgsl", &shader(many)).unwrap_err().message;
    let message = "with 'a17', variables and values take more than 1048576 bytes together \
                 (VALUES_BYTES_MAX): use fewer or smaller ones";
    assert!(error.contains(message), "{error}");
    let table = format!("const T = array<f32, 4000>({});", "1.0, ".repeat(4000));
    assert!(check("a.wgsl", &shader((table, "x = T[i];".into()))).is_ok());
}

#[test]
fn array_lengths_are_checked_before_parsing() {
    let message = "the length of an array must be a number of at most 65536, or made of numbers \
                   and constants with + - * / % (ARRAY_LENGTH_MAX): write the number, or \
                   use a texture";
    for before in [
        "const A = !array<bool, 2147483647>();",
        "const A = array<bool,2147483647>() == array<bool,2147483647>();",
        "const A = -array<f32, 536870911>();",
        "const A = -array/* , */</**/f32 // >\n, /* 4 */ 536870911>();",
        "alias A = array<f32, 0xffffffffu>; const B = -A();",
        "const B = -array<A, 4>(); alias A = array<f32, 65537>;",
        "var<private> a: array<f32, 4000000000>;",
        "var<private> a: array<f32, 1024 * 1024>;",
        "var<private> a: array<f32, (4>;",
        "var<private> a: array<f32, 4 - 5>;",
        "var<private> a: array<f32, 4 / 0>;",
        "var<private> a: array<f32, 4 << 2>;",
        "var<private> a: array<f32, f32(4)>;",
        "var<private> a: array<f32, 4, 5>;",
        "const N = 9007199254740993 * 9007199254740993; var<private> a: array<f32, N>;",
        "var<private> a: array<f32, -1>;",
        "const N = 1024 * 1024; var<private> a: array<f32, N>;",
        "const N = M; const M = N; var<private> a: array<f32, N>;",
        "const N = M * 2; const M = 40000; var<private> a: array<f32, N>;",
        // It is unknown which one is meant: the length could be 99,996.
        "const N = 4; fn f() { const N = 100000; } var<private> a: array<f32, 100000 - N>;",
        "const N = 4; fn f() { const N = 1e9; var a: array<f32, N>; }",
        "const N = 4; fn f() { const N: u32 = 1000000u; var a: array<f32, N>; }",
        "override N = 4; var<private> a: array<f32, N>;",
        "var<private> a: array<f32, unknown>;",
        "var<private> a: binding_array<f32, 1000000>;",
        "struct S { a: array<vec4<f32>, 99999>, b: f32 } const A = !S();",
        "const A = array<array<f32, 4>,1000000>>= 4;",
    ] {
        let error = check("a.wgsl", &shader((before.into(), String::new()))).unwrap_err().message;
        assert!(error.starts_with("a.wgsl:") && error.ends_with(message), "{before}: {error}");
    }
    refused("\nconst A = !array<bool, 2147483647>();\n", &format!("a.wgsl:2:24: {message}"));
    for before in [
        "const N = 4; var<private> a: array<f32, N>;",
        "var<private> a: array<f32, N>; const N: i32 = 0x4i;",
        "const N = 4; fn f() -> f32 { const N = 8; var a: array<f32, N>; return a[0]; }",
        "var<private> a: array<array<vec4<f32>, 4>, 4,>;",
        "const A = array(1, 2, 3); const B = array<vec2<f32>, 2>();",
        "const N = 4; var<private> a: array<f32, N * 2 + 1>;",
        "const N = M; const M = u32(4) * 2u; var<private> a: array<f32, (N + 1u) / 3>;",
        "var<private> a: array<array<f32, (4)>, 7 % 4 - 1>;",
    ] {
        let checked = check("a.wgsl", &shader((before.into(), String::new())));
        assert!(checked.is_ok(), "{before}: {checked:?}");
    }
}

#[test]
fn constants_that_expand_too_much_are_refused() {
    let message = "arrays and structs have more than 1048576 elements when each is written out \
                   where it is named (ELEMENTS_MAX): use smaller ones, or a texture";
    let zeros = "const Z = array<bool, 65536>();".to_string();
    let repeated = |first: &str, before: &str| {
        let lines = (1..40).map(|n| format!("{before} a{n} = array(a{}, a{});", n - 1, n - 1));
        format!("{before} a0 = {first}; {}", lines.collect::<String>())
    };
    let aliases = (1..4).map(|n| format!("alias A{n} = array<A{}, 60000>;", n - 1));
    let structs = (1..9).map(|n| format!("struct S{n} {{ a: array<S{}, 9> }}", n - 1));
    let many = "array(1, 2), ".repeat(2000);
    let hidden = (1..2000).rev().map(|n| format!("(const h{n} = h{};", n - 1));
    for text in [
        format!("{zeros} const A = array({}) == 1;", "Z, ".repeat(100)),
        format!("{zeros} fn f() {{ let a = array({}) == 1; }}", "Z, ".repeat(100)),
        format!("const A = array({}) == 1; {zeros}", "Z, ".repeat(100)),
        "const A = !array<array<f32, 65536>, 65536>();".to_string(),
        "alias A = array<f32, 60000>; const B = -array<A, 60000>();".to_string(),
        format!("alias A0 = f32; {} const B = !A3();", aliases.collect::<String>()),
        format!("struct S0 {{ a: f32 }} {} const B = S8();", structs.collect::<String>()),
        repeated("array(1, 2)", "const"),
        format!("fn f() {{ {} let b = -a39; }}", repeated("array(1, 2)", "const")),
        format!("fn f() {{ {} let b = -a39; }}", repeated("array(1, 2)", "let")),
        format!("fn f() {{ let a = array(1, 2); {} }}", "{ let a = array(a, a); ".repeat(90)),
        format!("const T = array({many}); fn f() {{ {} }}", "let a = T[1][0]; ".repeat(300)),
        format!(
            "const M = mat4x4f(); const T = array({}); {}",
            "M, ".repeat(9000),
            "const A = T[0]; ".repeat(9)
        ),
        format!("const h0 = 1; {}", hidden.collect::<String>()),
    ] {
        let error = super::check(&shader((text.clone(), String::new()))).unwrap_err().message;
        // Constants that double are long texts as well.
        let is_expected = error.ends_with(message) || error.contains("(EXPANDED_MAX)");
        assert!(is_expected, "{}: {error}", &text[..text.len().min(200)]);
    }
    // Values of functions that are named often do not add up, and tables may be read often.
    let steps =
        (1..40).map(|n| format!("let r{n} = R(r{}.o + r{}.d, r{}.d);", n - 1, n - 1, n - 1));
    let lets = (1..40).map(|n| format!("let x{n} = x{} + x{} * x{};", n - 1, n - 1, n - 1));
    let (steps, lets) = (steps.collect::<String>(), lets.collect::<String>());
    let before = "struct R { o: vec3f, d: vec3f } const T = array<f32, 256>();";
    let statements = format!(
        "let r0 = R(v.xyz, v.xyz); {steps} let x0 = x + T[i]; {lets} x = x39 + r39.o.x; {}",
        "x += T[i] + T[i + 1]; ".repeat(200)
    );
    let checked = check("a.wgsl", &shader((before.into(), statements)));
    assert!(checked.is_ok(), "{checked:?}");
}

#[test]
fn tokens_match_those_of_the_parser() {
    let tokens = |text: &'static str| {
        let mut lexer = WgslLexer::new(text);
        std::iter::from_fn(move || lexer.next()).map(|token| token.text).collect::<Vec<_>>()
    };
    assert_eq!(tokens("a+b // c\u{2028}d"), ["a", "+", "b", "d"]);
    assert_eq!(tokens("a/* /* b */ c */d/**/e/*/* */ f */g"), ["a", "d", "e", "g"]);
    assert_eq!(tokens("a /* never closed"), ["a"]);
    assert_eq!(tokens("1e+2+1.5f-0x1p-3+.5"), ["1e+2", "+", "1.5f", "-", "0x1p-3", "+", ".5"]);
    assert_eq!(tokens("0xe+0xe"), ["0xe", "+", "0xe"]);
    assert_eq!(tokens("1.x.y"), ["1.x", ".", "y"]);
    assert_eq!(tokens("a->b>>=c&&&d"), ["a", "->", "b", ">>", "=", "c", "&&", "&", "d"]);
    assert_eq!(tokens("größe@id(1)"), ["größe", "@", "id", "(", "1", ")"]);
    // Nothing is hidden in text that only resembles a comment or a number.
    for text in ["x = 1e+x+x", "x = //\r x + x", "vec2 < x > x"] {
        let statements = format!("{text}{};", " + x".repeat(250));
        let error = super::check(&shader(lines(statements))).unwrap_err();
        assert!(error.message.contains("NESTING_MAX"), "{text}");
    }
}

#[test]
fn long_flat_sources_are_accepted() {
    let table = "vec4<f32>(1.0, -2.0, f32(3 < 4), 1.0 / 3.0), ".repeat(800);
    let sums = "x = x + v.x * v.y - v.z; if b { x = 1.0; } else { x = 2.0; } ".repeat(800);
    let before = format!("const T = array<vec4<f32>, 800>({table});");
    assert_eq!(super::check(&format!("{}{PRELUDE}", shader((before, sums)))), Ok(()));
}

/// The shader writers of this system's graphics APIs, for shaders at their limits.
#[cfg(target_os = "linux")]
mod writers {
    use super::super::super::size_limits;
    use super::*;
    use engine_foundation::panic::run_with_stack;
    use wgpu::naga;

    /// Returns the whole text that a parser sees.
    fn whole(form: &Form, n: usize) -> String {
        format!("{}{PRELUDE}", shader((form.1)(n)))
    }

    /// Returns the most levels of a form that are allowed.
    fn deepest(form: &Form) -> usize {
        (1..=400)
            .rev()
            .find(|n| super::super::check(&shader((form.1)(*n))).is_ok())
            .expect("one level is allowed")
    }

    /// Runs all stages of a shader up to the graphics APIs of this system.
    fn process(text: &str) {
        use naga::back::{glsl, pipeline_constants::process_overrides, spv};
        use naga::valid::{Capabilities, ValidationFlags, Validator};
        let Ok(module) = naga::front::wgsl::parse_str(text) else { return };
        let _ = size_limits::check(&module);
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        let Ok(info) = validator.validate(&module) else { return };
        let (module, info) =
            process_overrides(&module, &info, None, &Default::default()).expect("all have values");
        let (shader_stage, entry_point) =
            (naga::ShaderStage::Fragment, "engine_fragment".to_string());
        let point = spv::PipelineOptions { shader_stage, entry_point: entry_point.clone() };
        let _ = spv::write_vec(&module, &info, &spv::Options::default(), Some(&point));
        let version = glsl::Version::Embedded { version: 310, is_webgl: false };
        let options = glsl::Options { version, ..glsl::Options::default() };
        let point = glsl::PipelineOptions { shader_stage, entry_point, multiview: None };
        let mut out = String::new();
        let writer =
            glsl::Writer::new(&mut out, &module, &info, &options, &point, Default::default());
        let _ = writer.and_then(|mut writer| writer.write().map(|_| ()));
    }

    #[test]
    fn nesting_at_the_limit_uses_a_quarter_of_the_stack() {
        for form in EXPRESSIONS.iter().chain(&BLOCKS) {
            let n = deepest(form);
            assert!(n >= 49, "{}: only {n} levels are allowed", form.0);
            let text = whole(form, n);
            run_with_stack("test", STACK_BYTES / 4, || process(&text)).unwrap();
        }
    }

    #[test]
    fn combined_limits_use_a_quarter_of_the_stack() {
        let (before, inner) = (EXPRESSIONS[0].1)(NESTING_MAX as usize - 1);
        let both = around("for (var j = 0; j < 4; j++) {", &inner, "}", 98);
        let text = format!("{}{PRELUDE}", shader((before, both)));
        assert_eq!(super::super::check(&text), Ok(()));
        run_with_stack("test", STACK_BYTES / 4, || process(&text)).unwrap();
    }
}
