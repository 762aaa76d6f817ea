//! How an engine function is declared: one row holds the Rust function and its words. Types, arity,
//! argument checks, documentation and the fast form all come from that row; a row whose words do
//! not fit its function does not compile. The types themselves are in arg.rs and ret.rs.

use super::arg::{Arg, Plain, mismatch};
use super::cx::Cx;
use super::ret::{FastRet, Ret};
use super::types::{Shape, Type};
use crate::engine::Engine;
use mlua::ffi::lua_State;
use std::ffi::{c_int, c_void};

/// Name and words of one argument.
pub type Param = (&'static str, &'static str);

/// Reads the arguments, calls the function, pushes the results: their number, or `cx::FAILED` with
/// the words in the context. (A `Result` would go through memory, at 5 ns a call.)
pub type Entry = unsafe fn(*mut lua_State, &mut Cx, &'static Func) -> c_int;

/// One engine function, as scripts see it.
pub struct Func {
    /// Its name in the module.
    pub name: &'static str,
    /// One sentence, or a few.
    pub doc: &'static str,
    /// Name and words of every argument.
    pub params: &'static [Param],
    /// What the Rust function takes.
    pub types: &'static [Type],
    /// What it returns.
    pub returns: &'static [Type],
    /// Whether a value of any size crosses, for which room has to be made on Lua's stack. Numbers
    /// and the like fit in the 20 places that every call has.
    pub boxed: bool,
    /// Whether it leaves the engine as it is, so that a file may call it at its top level while it
    /// is reloaded. The generator of random numbers does not count: a reload gives it back as it
    /// was.
    pub pure: bool,
    /// Whether it can be called while the engine holds more than its memory limit and the reserve
    /// beyond it: it releases memory, or keeps none. So can every pure function.
    pub when_full: bool,
    /// The checked call through Lua's C interface.
    pub call: Entry,
    /// The form that compiled Lua calls through FFI, where the function is hot.
    pub fast: Option<Fast>,
    /// The public name in words of errors, `Module.function`, where it is not its own.
    pub told: Option<&'static str>,
}

/// The address that compiled Lua calls, with one `(value, extra)` pair for each argument.
#[derive(Clone, Copy)]
pub struct Fast(pub *const c_void);

// SAFETY: the address of a function, never written through.
unsafe impl Sync for Fast {}
// SAFETY: as above.
unsafe impl Send for Fast {}

/// A Lua module: a global table of functions.
pub struct Module {
    pub name: &'static str,
    /// One sentence, or a few.
    pub doc: &'static str,
    /// A few lines of Lua that run as they stand, using this module.
    pub example: &'static str,
    pub funcs: &'static [Func],
}

impl Func {
    /// For a function of the prelude's alone: the public one that it serves, for words of errors.
    pub const fn told_as(self, public: &'static str) -> Func {
        Func { told: Some(public), ..self }
    }

    /// Marks a function that releases memory, keeps none, or is part of every frame: it can be
    /// called when memory is full.
    pub const fn when_full(self) -> Func {
        Func { when_full: true, ..self }
    }

    /// Marks a function that only reads, or asks for what is there without being made.
    pub const fn pure(self) -> Func {
        Func { pure: true, ..self }
    }
}

/// Declares a module.
pub const fn module(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    funcs: &'static [Func],
) -> Module {
    assert!(!doc.is_empty(), "say what the module is for");
    assert!(!example.is_empty(), "show the module at work");
    Module { name, doc, example, funcs }
}

/// Declares more functions of a module that another file declares with its words.
pub const fn more(name: &'static str, funcs: &'static [Func]) -> Module {
    Module { name, doc: "", example: "", funcs }
}

/// Declares a function.
pub const fn func<M, F: Callable<M>>(
    name: &'static str,
    _function: F,
    params: &'static [Param],
    doc: &'static str,
) -> Func {
    assert!(params.len() == F::TYPES.len(), "name every argument of the function, once");
    assert!(!doc.is_empty(), "say what the function does");
    let (types, returns) = (F::TYPES, F::RETURNS);
    let boxed = any_boxed(types) || any_boxed(returns);
    let (pure, when_full, call, fast, told) = (false, false, F::ENTRY, None, None);
    Func { name, doc, params, types, returns, boxed, pure, when_full, call, fast, told }
}

const fn any_boxed(types: &[Type]) -> bool {
    let mut i = 0;
    while i < types.len() {
        if matches!(types[i].shape, Shape::Boxed | Shape::Packed) {
            return true;
        }
        i += 1;
    }
    false
}

/// Declares a function that games call thousands of times a frame: it gets a fast form as well. It
/// must not have changed anything when it returns an error, for the checked form then runs again.
pub const fn hot<M, F: FastCallable<M>>(
    name: &'static str,
    function: F,
    params: &'static [Param],
    doc: &'static str,
) -> Func {
    Func { fast: Some(Fast(F::FAST)), ..func(name, function, params, doc) }
}

/// A Rust function that can stand in a row: `fn(&mut Engine, A, B, …) -> R`.
pub trait Callable<M>: Copy + 'static {
    const TYPES: &'static [Type];
    const RETURNS: &'static [Type];
    const ENTRY: Entry;
}

/// A function whose arguments and result compiled Lua can pass unboxed.
pub trait FastCallable<M>: Callable<M> {
    const FAST: *const c_void;
}

/// Function items have no size; this makes the value again from its type.
#[inline(always)]
fn revive<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "engine functions must not capture") };
    // SAFETY: a value without size has no bytes that could be wrong.
    unsafe { std::mem::zeroed() }
}

#[inline(always)]
unsafe fn read<T: Arg>(l: *mut lua_State, i: c_int, cx: &Cx, f: &Func) -> Result<T, String> {
    // SAFETY: the state is the one that called, and `i` an argument's position.
    unsafe { T::take(l, i, cx).map_err(|wrong| mismatch(l, i, cx, f, &T::TYPE, wrong)) }
}

macro_rules! arity {
    ($($t:ident $v:ident $x:ident $i:literal),*) => {
        impl<F, R, $($t),*> Callable<fn($($t),*) -> R> for F
        where
            F: Fn(&mut Engine, $($t),*) -> R + Copy + 'static,
            R: Ret + 'static,
            $($t: Arg + 'static),*
        {
            const TYPES: &'static [Type] = &[$($t::TYPE),*];
            const RETURNS: &'static [Type] = R::TYPES;
            const ENTRY: Entry = {
                #[allow(unused_variables)]
                unsafe fn entry<F, R: Ret, $($t: Arg),*>(
                    l: *mut lua_State,
                    cx: &mut Cx,
                    f: &'static Func,
                ) -> c_int
                where
                    F: Fn(&mut Engine, $($t),*) -> R + Copy,
                {
                    // SAFETY: the dispatcher hands over the state that called and the living
                    // engine, of which no other reference exists while a script's call is served.
                    unsafe {
                        $(let $v = match read::<$t>(l, $i, cx, f) {
                            Ok(value) => value,
                            Err(words) => return cx.failed(words),
                        };)*
                        let result = revive::<F>()(&mut *cx.engine, $($v),*);
                        match result.push(l, cx) {
                            Ok(count) => count,
                            Err(words) => cx.failed(words),
                        }
                    }
                }
                entry::<F, R, $($t),*>
            };
        }

        impl<F, R, $($t),*> FastCallable<fn($($t),*) -> R> for F
        where
            F: Fn(&mut Engine, $($t),*) -> R + Copy + 'static,
            R: FastRet + 'static,
            $($t: Plain + 'static),*
        {
            const FAST: *const c_void = {
                unsafe extern "C-unwind" fn fast<F, R: FastRet, $($t: Plain),*>(
                    cx: *mut Cx,
                    $($v: $t::C, $x: u32),*
                ) -> R::C
                where
                    F: Fn(&mut Engine, $($t),*) -> R + Copy,
                {
                    // SAFETY: compiled Lua passes the context it was given at boot; the engine
                    // lives as long as the VM, and is not borrowed while Lua runs.
                    let cx = unsafe { &mut *cx };
                    cx.guarded(|cx| {
                        // SAFETY: the pointers are alive for the time of the call.
                        $(let $v = unsafe { $t::from_c($v, $x, cx) }?;)*
                        // SAFETY: as above: the engine lives, and is not borrowed.
                        let engine = unsafe { &mut *cx.engine };
                        revive::<F>()(engine, $($v),*).into_c(cx)
                    })
                }
                fast::<F, R, $($t),*> as *const c_void
            };
        }
    };
}

arity!();
arity!(A a ax 1);
arity!(A a ax 1, B b bx 2);
arity!(A a ax 1, B b bx 2, C c xc 3);
arity!(A a ax 1, B b bx 2, C c xc 3, D d dx 4);
arity!(A a ax 1, B b bx 2, C c xc 3, D d dx 4, E e ex 5);
arity!(A a ax 1, B b bx 2, C c xc 3, D d dx 4, E e ex 5, G g gx 6);
arity!(A a ax 1, B b bx 2, C c xc 3, D d dx 4, E e ex 5, G g gx 6, H h hx 7);
arity!(A a ax 1, B b bx 2, C c xc 3, D d dx 4, E e ex 5, G g gx 6, H h hx 7, I i ix 8);
