//! Declaration of engine functions: one row holds the Rust function and its documentation. Types,
//! arity, argument checks, documentation and the fast form are all derived from the row. A row
//! whose parameters do not fit its function does not compile. The types themselves are in
//! argument.rs and return_value.rs.

use super::argument::{Argument, UnboxedArgument, mismatch};
use super::context::ScriptContext;
use super::graph_values::{self, GraphEntry};
use super::return_value::{ReturnValue, UnboxedReturn};
use super::types::{ApiType, ValueShape};
use super::unpacked_row::UnpackedForm;
use engine_flow::{CallResult, FlowHeap, Slot};
use engine_runtime::Engine;
use mlua::ffi::lua_State;
use std::ffi::{c_int, c_void};

/// Name and description of one argument.
pub type ParamRow = (&'static str, &'static str);

/// Reads the arguments, calls the function and pushes the results. Returns the number of results,
/// or `cx::FAILED` with the message in the context. (A `Result` would go through memory, at 5 ns a
/// call.)
///
/// # Safety
/// The state is the one that calls, and the context is its own, with a living engine that nothing
/// borrows. The row's function has the arguments and results that the entry was made for:
/// `RowCalls` keeps both together.
pub type NativeEntry = unsafe fn(*mut lua_State, &mut ScriptContext, &'static FunctionRow) -> c_int;

/// One engine function, as scripts see it.
pub struct FunctionRow {
    /// Name of the function in its module.
    pub name: &'static str,
    /// Description in one sentence, or a few.
    pub doc: &'static str,
    /// Name and description of every argument.
    pub params: &'static [ParamRow],
    /// Argument types of the Rust function.
    pub types: &'static [ApiType],
    /// Result types of the Rust function.
    pub returns: &'static [ApiType],
    /// Descriptions of the results, if `doc` does not cover them.
    pub return_docs: &'static [&'static str],
    /// True if an argument or result can have any size, so that room must be made on Lua's stack.
    /// Numbers and similar values fit in the 20 slots that every call has.
    pub boxed: bool,
    /// True if the function does not change the engine, so that a file may call it at its top level
    /// during a reload. The random number generator does not count, because a reload restores its
    /// state.
    pub pure: bool,
    /// True if the function can be called while the engine holds more than its memory limit and the
    /// reserve beyond it, because it releases memory or keeps none. This also holds for every pure
    /// function.
    pub when_full: bool,
    /// Role of the function in graphs.
    pub node: NodeFlag,
    /// The Rust function, and its calls from Lua and from graphs.
    pub(super) calls: RowCalls,
    /// The form that compiled Lua calls through FFI, if the function is hot.
    pub fast: Option<FastEntry>,
    /// The parts of a row whose arguments Lua unpacks (unpacked_row.rs). Such a row is not
    /// registered, because it has no form for Lua's C interface.
    pub unpacked: Option<UnpackedForm>,
    /// The public name in error messages, `Module.function`, if it differs from the function's own
    /// name.
    pub public_name: Option<&'static str>,
}

/// Role of a function in graphs of visual scripting. A function whose arguments or results graphs
/// have no values of has no node, whatever its flag.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeFlag {
    /// A node that an event runs.
    Action,
    /// A node without events, which is evaluated when others need its results.
    Query,
    /// No node: the function belongs to scripts, to tools, or to each frame's drawing, or graphs
    /// have a node of their own for its purpose.
    Hidden,
}

impl NodeFlag {
    /// All flags.
    pub const ALL: [NodeFlag; 3] = [NodeFlag::Action, NodeFlag::Query, NodeFlag::Hidden];

    /// Returns the flag as it is written in the comments of the prelude.
    pub const fn name(self) -> &'static str {
        match self {
            NodeFlag::Action => "action",
            NodeFlag::Query => "query",
            NodeFlag::Hidden => "hidden",
        }
    }
}

/// The address that compiled Lua calls, with one `(value, extra)` pair for each argument.
#[derive(Clone, Copy)]
pub struct FastEntry(pub *const c_void);

// SAFETY: the address of a function, never written through.
unsafe impl Sync for FastEntry {}
// SAFETY: as above.
unsafe impl Send for FastEntry {}

/// A Rust function without its type. The calls of its row know the type.
#[derive(Clone, Copy)]
struct RustFunction(*const ());

// SAFETY: the address of a function, never written through.
unsafe impl Sync for RustFunction {}
// SAFETY: as above.
unsafe impl Send for RustFunction {}

/// The function of a row with its calls, which all functions with the same arguments and results
/// share. The calls are made for the type of the function: only `RowCalls::of` puts them together.
#[derive(Clone, Copy)]
pub(super) struct RowCalls {
    function: RustFunction,
    from_lua: NativeEntry,
    /// `None` if graphs have no values of a type of the row.
    from_graph: Option<GraphEntry>,
}

impl RowCalls {
    /// The calls of rows that have no form for Lua's C interface and for graphs.
    pub(super) const NONE: RowCalls = RowCalls {
        function: RustFunction(std::ptr::null()),
        from_lua: not_registered,
        from_graph: None,
    };

    const fn of<M, F: Callable<M>>() -> RowCalls {
        RowCalls { function: F::FUNCTION, from_lua: F::ENTRY, from_graph: F::GRAPH }
    }
}

/// The call from Lua of rows that have none.
unsafe fn not_registered(
    _: *mut lua_State,
    cx: &mut ScriptContext,
    row: &'static FunctionRow,
) -> c_int {
    cx.fail(format!("{} has no form for Lua's C interface", row.name))
}

/// A Lua module: a global table of functions.
pub struct ModuleRows {
    pub name: &'static str,
    /// Description in one sentence, or a few.
    pub doc: &'static str,
    /// A few lines of Lua that use this module and run without changes.
    pub example: &'static str,
    pub funcs: &'static [FunctionRow],
}

impl FunctionRow {
    /// Sets the public function that a prelude-only function implements, for error messages.
    pub const fn public_name(self, public: &'static str) -> FunctionRow {
        FunctionRow { public_name: Some(public), ..self }
    }

    /// Marks a function that releases memory, keeps none, or is part of every frame, so that it can
    /// be called when memory is full.
    pub const fn when_full(self) -> FunctionRow {
        FunctionRow { when_full: true, ..self }
    }

    /// Describes the results, one by one.
    pub const fn returns(self, return_docs: &'static [&'static str]) -> FunctionRow {
        assert!(return_docs.len() == self.returns.len(), "describe every result");
        FunctionRow { return_docs, ..self }
    }

    /// Calls the function through Lua's C interface, with checks of its arguments. Returns the
    /// number of results, or `cx::FAILED`.
    ///
    /// # Safety
    /// The state is the one that calls, and the context is its own, with a living engine that
    /// nothing borrows.
    #[inline(always)]
    pub(super) unsafe fn call_from_lua(
        &'static self,
        l: *mut lua_State,
        cx: &mut ScriptContext,
    ) -> c_int {
        // SAFETY: as the caller promised; the entry belongs to the function of this row.
        unsafe { (self.calls.from_lua)(l, cx, self) }
    }

    /// Returns true if nodes of graphs can call the function: graphs have values of all its types.
    pub const fn is_callable_from_graphs(&self) -> bool {
        self.calls.from_graph.is_some()
    }

    /// Calls the function with the inputs of a node, and writes the node's outputs. There must be
    /// an output for each result.
    ///
    /// # Errors
    /// Returns the message of the function, of a refused input, or for a function that graphs
    /// cannot call.
    pub fn call_from_graph(
        &'static self,
        engine: &mut Engine,
        inputs: &[Slot],
        outputs: &mut [Slot],
        heap: &mut FlowHeap,
    ) -> CallResult {
        match self.calls.from_graph {
            // SAFETY: the entry belongs to the function of this row.
            Some(entry) => unsafe { entry(engine, self, inputs, outputs, heap) },
            None => Err(format!("{} cannot be called from graphs", self.name).into()),
        }
    }

    /// Returns true if compiled Lua calls the function directly.
    pub const fn is_hot(&self) -> bool {
        self.fast.is_some() || self.unpacked.is_some()
    }

    /// Marks a function that only reads the engine's state and creates nothing. If it has results,
    /// it is a query in graphs.
    pub const fn pure(self) -> FunctionRow {
        let node = if self.returns.is_empty() { self.node } else { NodeFlag::Query };
        FunctionRow { pure: true, node, ..self }
    }

    /// Sets what the function is in graphs, where the flag of its kind of row is wrong.
    pub const fn node(self, node: NodeFlag) -> FunctionRow {
        FunctionRow { node, ..self }
    }
}

/// Declares a module.
pub const fn module(
    name: &'static str,
    doc: &'static str,
    example: &'static str,
    funcs: &'static [FunctionRow],
) -> ModuleRows {
    assert!(!doc.is_empty(), "say what the module is for");
    assert!(!example.is_empty(), "show the module at work");
    ModuleRows { name, doc, example, funcs }
}

/// Declares more functions of a module whose description is declared in another file.
pub const fn more(name: &'static str, funcs: &'static [FunctionRow]) -> ModuleRows {
    ModuleRows { name, doc: "", example: "", funcs }
}

/// Hides all functions of a table from graphs.
pub const fn hidden<const N: usize>(mut rows: [FunctionRow; N]) -> [FunctionRow; N] {
    let mut i = 0;
    while i < N {
        rows[i].node = NodeFlag::Hidden;
        i += 1;
    }
    rows
}

/// Declares a function. It is an action in graphs, unless its row says something else.
pub const fn func<M, F: Callable<M>>(
    name: &'static str,
    _function: F,
    params: &'static [ParamRow],
    doc: &'static str,
) -> FunctionRow {
    assert!(params.len() == F::TYPES.len(), "name every argument of the function, once");
    assert!(!doc.is_empty(), "say what the function does");
    let (types, returns) = (F::TYPES, F::RETURNS);
    let boxed = any_boxed(types) || any_boxed(returns);
    let (pure, when_full, fast, public_name) = (false, false, None, None);
    FunctionRow {
        name,
        doc,
        params,
        types,
        returns,
        return_docs: &[],
        boxed,
        pure,
        when_full,
        node: NodeFlag::Action,
        calls: RowCalls::of::<M, F>(),
        fast,
        unpacked: None,
        public_name,
    }
}

const fn any_boxed(types: &[ApiType]) -> bool {
    let mut i = 0;
    while i < types.len() {
        if matches!(types[i].shape, ValueShape::Boxed | ValueShape::Packed) {
            return true;
        }
        i += 1;
    }
    false
}

/// Declares a function that games call thousands of times a frame: it gets a fast form as well. The
/// function must not have changed anything when it returns an error, because the checked form then
/// runs it again.
pub const fn hot<M, F: FastCallable<M>>(
    name: &'static str,
    function: F,
    params: &'static [ParamRow],
    doc: &'static str,
) -> FunctionRow {
    FunctionRow { fast: Some(FastEntry(F::FAST)), ..func(name, function, params, doc) }
}

/// A Rust function that a row can declare: `fn(&mut Engine, A, B, …) -> R`.
///
/// # Safety
/// `FUNCTION` has the type to which `ENTRY` and `GRAPH` convert the function of their row.
pub unsafe trait Callable<M>: Copy + 'static {
    const TYPES: &'static [ApiType];
    const RETURNS: &'static [ApiType];
    #[expect(private_interfaces)]
    const FUNCTION: RustFunction;
    /// The call of `FUNCTION` from Lua. It is code for the types of arguments and results alone.
    const ENTRY: NativeEntry;
    /// The call of `FUNCTION` from graphs.
    const GRAPH: Option<GraphEntry>;
}

/// A function whose arguments and result compiled Lua can pass unboxed.
pub trait FastCallable<M>: Callable<M> {
    const FAST: *const c_void;
}

/// Creates a value of a function item type. Function items have no size, so the type is sufficient.
#[inline(always)]
pub(super) fn function_item<F: Copy>() -> F {
    const { assert!(size_of::<F>() == 0, "engine functions must not capture") };
    // SAFETY: a value without size has no bytes that could be wrong.
    unsafe { std::mem::zeroed() }
}

#[inline(always)]
unsafe fn read<T: Argument>(
    l: *mut lua_State,
    i: c_int,
    cx: &ScriptContext,
    f: &FunctionRow,
) -> Result<T, String> {
    // SAFETY: the state is the one that called, and `i` an argument's position.
    unsafe { T::take(l, i, cx).map_err(|wrong| mismatch(l, i, cx, f, &T::TYPE, wrong)) }
}

macro_rules! arity {
    ($($t:ident $v:ident $x:ident $i:literal),*) => {
        // SAFETY: `FUNCTION` is a `fn(&mut Engine, $($t),*) -> R`, and both entries convert to this
        // type.
        unsafe impl<F, R, $($t),*> Callable<fn($($t),*) -> R> for F
        where
            F: Fn(&mut Engine, $($t),*) -> R + Copy + 'static,
            R: ReturnValue + 'static,
            $($t: Argument + 'static),*
        {
            const TYPES: &'static [ApiType] = &[$($t::TYPE),*];
            const RETURNS: &'static [ApiType] = R::TYPES;
            #[expect(private_interfaces)]
            const FUNCTION: RustFunction = {
                #[allow(clippy::too_many_arguments, reason = "as many as the function of the row")]
                fn call<F, R, $($t),*>(engine: &mut Engine, $($v: $t),*) -> R
                where
                    F: Fn(&mut Engine, $($t),*) -> R + Copy,
                {
                    function_item::<F>()(engine, $($v),*)
                }
                RustFunction(call::<F, R, $($t),*> as *const ())
            };
            const ENTRY: NativeEntry = {
                #[allow(unused_variables)]
                unsafe fn entry<R: ReturnValue, $($t: Argument),*>(
                    l: *mut lua_State,
                    cx: &mut ScriptContext,
                    f: &'static FunctionRow,
                ) -> c_int {
                    let function: fn(&mut Engine, $($t),*) -> R =
                        // SAFETY: the row's function has this type, as the caller promised.
                        unsafe { std::mem::transmute(f.calls.function.0) };
                    // SAFETY: the dispatcher passes the calling state and the living engine, of
                    // which no other reference exists while a script's call is served.
                    unsafe {
                        $(let $v = match read::<$t>(l, $i, cx, f) {
                            Ok(value) => value,
                            Err(message) => return cx.fail(message),
                        };)*
                        let result = function(&mut *cx.engine, $($v),*);
                        match result.push(l, cx) {
                            Ok(count) => count,
                            Err(message) => cx.fail(message),
                        }
                    }
                }
                entry::<R, $($t),*>
            };
            const GRAPH: Option<GraphEntry> = {
                #[allow(unused_variables)]
                unsafe fn entry<R: ReturnValue, $($t: Argument),*>(
                    engine: &mut Engine,
                    row: &'static FunctionRow,
                    inputs: &[Slot],
                    outputs: &mut [Slot],
                    heap: &mut FlowHeap,
                ) -> CallResult {
                    let function: fn(&mut Engine, $($t),*) -> R =
                        // SAFETY: as in the entry from Lua.
                        unsafe { std::mem::transmute(row.calls.function.0) };
                    $(let $v = graph_values::read::<$t>($i, engine, row, inputs, heap)?;)*
                    graph_values::write(function(engine, $($v),*), outputs, heap)
                }
                match R::INTO_SLOTS.is_some() $(&& $t::OF_SLOT.is_some())* {
                    true => Some(entry::<R, $($t),*>),
                    false => None,
                }
            };
        }

        impl<F, R, $($t),*> FastCallable<fn($($t),*) -> R> for F
        where
            F: Fn(&mut Engine, $($t),*) -> R + Copy + 'static,
            R: UnboxedReturn + 'static,
            $($t: UnboxedArgument + 'static),*
        {
            const FAST: *const c_void = {
                unsafe extern "C-unwind" fn fast<F, R: UnboxedReturn, $($t: UnboxedArgument),*>(
                    cx: *mut ScriptContext,
                    $($v: $t::C, $x: u32),*
                ) -> R::C
                where
                    F: Fn(&mut Engine, $($t),*) -> R + Copy,
                {
                    // SAFETY: compiled Lua passes the context that it received at boot; the engine
                    // lives as long as the VM, and is not borrowed while Lua runs.
                    let cx = unsafe { &mut *cx };
                    cx.guarded(|cx| {
                        // SAFETY: the pointers are valid during the call.
                        $(let $v = unsafe { $t::from_c($v, $x, cx) }?;)*
                        // SAFETY: as above: the engine lives, and is not borrowed.
                        let engine = unsafe { &mut *cx.engine };
                        function_item::<F>()(engine, $($v),*).into_c(cx)
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
