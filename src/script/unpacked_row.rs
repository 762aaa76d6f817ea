//! Rows whose arguments Lua unpacks into numbers: `unpacked` declares a Rust function as one row,
//! from which its binding, its argument checks and their messages, the form that compiled Lua calls
//! through FFI, and its documentation come. Vectors are passed as their fields, so compiled Lua
//! never creates them. A row whose parameters do not fit its function, or whose argument's Lua form
//! passes a wrong number of values, does not compile. The Lua code is generated in
//! unpacked_chunk.rs.
//!
//! Such a row has no form for Lua's C interface: the interpreter uses FFI, too.

use super::api_row::{FastEntry, FunctionRow, NodeFlag, ParamRow, RowCalls, function_item};
use super::context::ScriptContext;
use super::types::ApiType;
use engine_foundation::memory::limit;
use engine_runtime::Engine;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A number or an address that Lua passes through FFI.
pub trait Scalar: Copy {
    const C_TYPE: &'static str;
}

macro_rules! scalars {
    ($($t:ty => $c:literal,)*) => {
        $(impl Scalar for $t {
            const C_TYPE: &'static str = $c;
        })*
    };
}

scalars! {
    f64 => "double",
    f32 => "float",
    u32 => "uint32_t",
    *const c_char => "const char *",
    *const c_void => "const void *",
}

/// Lua code that checks an argument and unpacks it into values. In all texts, `$` is the argument's
/// variable, and `@` is the name of the function, the index and the name of the argument.
#[derive(Clone, Copy)]
pub struct LuaForm {
    /// Types in the message for an argument that is not legal: `Vector3 or Vector2`.
    pub expected: &'static str,
    /// A condition that holds for all values of these types.
    pub legal: &'static str,
    /// A statement that runs before everything else, or nothing: `local font_$ = fonts[$]`.
    pub lookup: &'static str,
    /// The condition of the fast form, which implies `legal`; nothing if there is no fast form.
    pub usual: &'static str,
    /// The values that the fast form passes.
    pub usual_values: &'static [&'static str],
    /// A statement for legal values outside of the fast form, or nothing. It raises for values that
    /// are invalid in spite of their type.
    pub convert: &'static str,
    /// The values that are passed after `convert`.
    pub values: &'static [&'static str],
}

impl LuaForm {
    /// Returns the form of an argument whose legal values are all unpacked in the same way.
    pub const fn plain(
        expected: &'static str,
        legal: &'static str,
        values: &'static [&'static str],
    ) -> LuaForm {
        LuaForm {
            expected,
            legal,
            lookup: "",
            usual: legal,
            usual_values: values,
            convert: "",
            values,
        }
    }

    /// Sets the condition of the fast form.
    pub const fn usual(self, usual: &'static str) -> LuaForm {
        LuaForm { usual, ..self }
    }

    /// Sets the values of the fast form.
    pub const fn usual_values(self, usual_values: &'static [&'static str]) -> LuaForm {
        LuaForm { usual_values, ..self }
    }

    /// Sets the statement that runs before everything else.
    pub const fn lookup(self, lookup: &'static str) -> LuaForm {
        LuaForm { lookup, ..self }
    }

    /// Sets the statement for legal values outside of the fast form.
    pub const fn convert(self, convert: &'static str) -> LuaForm {
        LuaForm { convert, ..self }
    }
}

/// A Rust type that a function of an unpacked row can take as an argument.
pub trait UnpackedArgument: Sized {
    /// The type in the documentation.
    const TYPE: ApiType;
    const LUA: LuaForm;
    /// The scalars of this argument, before those of the arguments after it.
    type Scalars<Rest>;

    /// Builds the argument, and returns it with the rest of the scalars. Returns `None` if the
    /// value is invalid; the engine then holds the message. The scalars are passed by reference:
    /// copies of them would be read in larger pieces than they were written, which stalls the
    /// processor.
    ///
    /// # Safety
    /// Pointers are those that Lua passed; they are valid during the call. The engine is not
    /// borrowed.
    unsafe fn pack<'a, Rest>(
        scalars: &'a Self::Scalars<Rest>,
        cx: &mut ScriptContext,
    ) -> Option<(Self, &'a Rest)>;
}

/// A result of an unpacked row's function. Lua receives it as one number.
pub trait UnpackedReturn {
    const TYPES: &'static [ApiType];
    /// Statements that return the result `r`, or raise the engine's message if `r` is below 0. `@`
    /// is the name of the function.
    const LUA: &'static str;
    /// Returns the number, which is below 0 if the call was refused.
    fn into_number(self, cx: &mut ScriptContext) -> f64;
}

/// The number that a refused call returns.
pub const REFUSED: f64 = -1.0;

/// The parts of an unpacked row from which its Lua code is generated.
pub struct UnpackedForm {
    pub address: FastEntry,
    /// C types of the scalars.
    pub c_types: &'static [&'static str],
    pub arguments: &'static [LuaForm],
    pub result: &'static str,
    /// A statement after the fast form, or nothing. It replaces arguments in another form by those
    /// of the row, whose variables are `a1`, `a2`, …
    pub named_form: &'static str,
}

impl FunctionRow {
    /// Adds a statement that replaces arguments in another form: see [`UnpackedForm::named_form`].
    pub const fn named_form(mut self, statement: &'static str) -> FunctionRow {
        match &mut self.unpacked {
            Some(form) => form.named_form = statement,
            None => panic!("only unpacked rows have another form"),
        }
        self
    }
}

/// A Rust function that an unpacked row can declare: `fn(&mut Engine, A, B, …) -> R`.
pub trait UnpackedCallable<M>: Copy + 'static {
    const TYPES: &'static [ApiType];
    const RETURNS: &'static [ApiType];
    const ARGUMENTS: &'static [LuaForm];
    const RESULT: &'static str;
    type Scalars;

    /// Calls the function. Returns `None` if an argument is invalid.
    ///
    /// # Safety
    /// As for [`UnpackedArgument::pack`].
    unsafe fn call(cx: &mut ScriptContext, scalars: &Self::Scalars) -> Option<f64>;
}

/// The call of a function with its scalars.
pub struct ScalarCall<F, M>(PhantomData<(F, M)>);

/// A receiver of scalars, which are a nested pair: `(A, (B, ()))`.
pub trait ScalarReceiver {
    type Scalars;
    /// Serves a call from Lua.
    ///
    /// # Safety
    /// `cx` is the context that the prelude received at boot. The scalars are as
    /// [`UnpackedArgument::pack`] expects them.
    unsafe fn receive(cx: *mut ScriptContext, scalars: Self::Scalars) -> f64;
}

impl<M, F: UnpackedCallable<M>> ScalarReceiver for ScalarCall<F, M> {
    type Scalars = F::Scalars;

    #[inline(always)]
    unsafe fn receive(cx: *mut ScriptContext, scalars: F::Scalars) -> f64 {
        // SAFETY: the context lives as long as the VM, and is not borrowed while Lua runs.
        let cx = unsafe { &mut *cx };
        if cx.restricted && is_refused(cx) {
            return REFUSED;
        }
        // SAFETY: as the caller promised.
        match catch_unwind(AssertUnwindSafe(|| unsafe { F::call(cx, &scalars) })) {
            Ok(result) => result.unwrap_or(REFUSED),
            Err(_) => {
                cx.panic = Some(engine_foundation::panic::take_panic());
                REFUSED
            }
        }
    }
}

/// Returns true if the call is refused while a file is reloaded or memory is full. The prelude
/// writes the message for the former.
#[cold]
fn is_refused(cx: &mut ScriptContext) -> bool {
    if !cx.reloading && cx.is_full() {
        // SAFETY: the engine lives as long as the VM, and is not borrowed while Lua runs.
        let engine = unsafe { &mut *cx.engine };
        let _ = engine.drawing.guis.refuse::<()>(limit::over_message());
        return true;
    }
    cx.reloading
}

/// The C function of a receiver, for scalars of this type.
pub trait ScalarEntry<Scalars> {
    const ADDRESS: *const c_void;
    const C_TYPES: &'static [&'static str];
}

/// Writes the types or values `A, B` as the nested pair `(A, (B, ()))`.
macro_rules! nested {
    () => { () };
    ($first:ident $($rest:ident)*) => { ($first, nested!($($rest)*)) };
}

macro_rules! scalar_entry {
    ($($t:ident $v:ident),*) => {
        impl<H, $($t: Scalar),*> ScalarEntry<nested!($($t)*)> for H
        where
            H: ScalarReceiver<Scalars = nested!($($t)*)>,
        {
            const C_TYPES: &'static [&'static str] = &[$($t::C_TYPE),*];
            const ADDRESS: *const c_void = {
                unsafe extern "C-unwind" fn entry<H, $($t: Scalar),*>(
                    cx: *mut ScriptContext,
                    $($v: $t),*
                ) -> f64
                where
                    H: ScalarReceiver<Scalars = nested!($($t)*)>,
                {
                    // SAFETY: Lua passes the context that it received at boot.
                    unsafe { H::receive(cx, nested!($($v)*)) }
                }
                entry::<H, $($t),*> as *const c_void
            };
        }
    };
}

/// Implements the entries for a list of scalars and for all its beginnings.
macro_rules! scalar_entries {
    ($($done:ident $used:ident),*;) => { scalar_entry!($($done $used),*); };
    ($($done:ident $used:ident),*; $next:ident $name:ident $(, $more:ident $other:ident)*) => {
        scalar_entry!($($done $used),*);
        scalar_entries!($($done $used,)* $next $name; $($more $other),*);
    };
}

scalar_entries!(A a; B b, C c, D d, E e, F f, G g, I i, J j, K k, L l, N n, O o, P p, Q q, R r,
    S s, T t, U u, V v, W w, X x, Y y, Z z);

/// Writes the scalars of several arguments: those of the first, before those of the others.
macro_rules! scalars_of {
    () => { () };
    ($first:ident $($rest:ident)*) => { $first::Scalars<scalars_of!($($rest)*)> };
}

/// Declares a variable for each argument, built from the scalars.
macro_rules! pack {
    ($scalars:ident, $cx:ident;) => { let () = *$scalars; };
    ($scalars:ident, $cx:ident; $t:ident $v:ident $(, $more:ident $other:ident)*) => {
        // SAFETY: the caller of the entry function passed scalars of the row's own types, and the
        // context of the running VM.
        let ($v, $scalars) = unsafe { $t::pack::<scalars_of!($($more)*)>($scalars, $cx) }?;
        pack!($scalars, $cx; $($more $other),*);
    };
}

macro_rules! arity {
    ($($t:ident $v:ident),*) => {
        impl<F, R, $($t),*> UnpackedCallable<fn($($t),*) -> R> for F
        where
            F: Fn(&mut Engine, $($t),*) -> R + Copy + 'static,
            R: UnpackedReturn + 'static,
            $($t: UnpackedArgument + 'static),*
        {
            const TYPES: &'static [ApiType] = &[$($t::TYPE),*];
            const RETURNS: &'static [ApiType] = R::TYPES;
            const ARGUMENTS: &'static [LuaForm] = &[$($t::LUA),*];
            const RESULT: &'static str = R::LUA;
            type Scalars = scalars_of!($($t)*);

            #[inline(always)]
            unsafe fn call(cx: &mut ScriptContext, scalars: &Self::Scalars) -> Option<f64> {
                // SAFETY: as the caller promised.
                pack!(scalars, cx; $($t $v),*);
                // SAFETY: the engine lives as long as the VM, and is not borrowed.
                let engine = unsafe { &mut *cx.engine };
                Some(function_item::<F>()(engine, $($v),*).into_number(cx))
            }
        }
    };
}

arity!(A a, B b);
arity!(A a, B b, C c);
arity!(A a, B b, C c, D d);
arity!(A a, B b, C c, D d, E e);
arity!(A a, B b, C c, D d, E e, G g);
arity!(A a, B b, C c, D d, E e, G g, H h);
arity!(A a, B b, C c, D d, E e, G g, H h, I i);
arity!(A a, B b, C c, D d, E e, G g, H h, I i, J j);
arity!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k);
arity!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l);
arity!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, N n);
arity!(A a, B b, C c, D d, E e, G g, H h, I i, J j, K k, L l, N n, O o);

/// Declares a function whose arguments Lua unpacks into numbers.
pub const fn unpacked<M, F: UnpackedCallable<M>>(
    name: &'static str,
    _function: F,
    params: &'static [ParamRow],
    doc: &'static str,
) -> FunctionRow
where
    ScalarCall<F, M>: ScalarEntry<F::Scalars>,
{
    assert!(params.len() == F::TYPES.len(), "name every argument of the function, once");
    assert!(!doc.is_empty(), "say what the function does");
    let c_types = <ScalarCall<F, M> as ScalarEntry<F::Scalars>>::C_TYPES;
    let (mut i, mut values) = (0, 0);
    while i < F::ARGUMENTS.len() {
        let form = &F::ARGUMENTS[i];
        values += form.values.len();
        let both = form.usual.is_empty() || form.usual_values.len() == form.values.len();
        assert!(both, "both forms of an argument must pass as many values");
        i += 1;
    }
    assert!(values == c_types.len(), "an argument's form must pass a value for each scalar");
    FunctionRow {
        name,
        doc,
        params,
        types: F::TYPES,
        returns: F::RETURNS,
        return_docs: &[],
        boxed: false,
        pure: false,
        when_full: false,
        // What is drawn in each frame belongs to scripts.
        node: NodeFlag::Hidden,
        calls: RowCalls::NONE,
        fast: None,
        unpacked: Some(UnpackedForm {
            address: FastEntry(<ScalarCall<F, M> as ScalarEntry<F::Scalars>>::ADDRESS),
            c_types,
            arguments: F::ARGUMENTS,
            result: F::RESULT,
            named_form: "",
        }),
        public_name: None,
    }
}
