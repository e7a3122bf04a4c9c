//! Node-API by hand: reading arguments, making answers, and the one macro every function is made by.
//!
//! What a hand-registered function costs is what it asks for: 5.6 ns for nothing at all, about 1 ns per
//! argument, nothing for the panic guard. Objects are made here only for cold calls; hot ones answer
//! one number, and `undefined` for a handle that is stale.

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

use napi_sys as sys;
pub(crate) use sys::{napi_callback, napi_callback_info, napi_env, napi_value};

use crate::environment::Environment;

/// One call from JavaScript.
pub(crate) struct Call<'a> {
    env: napi_env,
    pub(crate) environment: &'a Environment,
    arguments: &'a [napi_value],
}

/// What an argument is, for functions that take several kinds.
pub(crate) enum Argument {
    Undefined,
    Number(f64),
    /// A bigint of 64 bits without a sign.
    Whole(u64),
    Text(String),
    Other,
}

impl Call<'_> {
    fn argument(&self, place: usize) -> napi_value {
        // Node-API has filled the places of arguments that were not given with `undefined`.
        self.arguments.get(place).copied().unwrap_or(null_mut())
    }

    /// A number as 32 bits; 0, which is no handle, when it is no number.
    #[inline]
    pub(crate) fn u32(&self, place: usize) -> u32 {
        let mut value = 0;
        // SAFETY: env and value belong to this call; on failure `value` stays 0.
        unsafe { sys::napi_get_value_uint32(self.env, self.argument(place), &mut value) };
        value
    }

    /// A number; NaN when it is none.
    #[inline]
    pub(crate) fn f64(&self, place: usize) -> f64 {
        let mut value = f64::NAN;
        // SAFETY: env and value belong to this call; on failure `value` stays NaN.
        unsafe { sys::napi_get_value_double(self.env, self.argument(place), &mut value) };
        value
    }

    /// A bigint that 64 bits without a sign hold.
    pub(crate) fn u64(&self, place: usize) -> Option<u64> {
        whole(self.env, self.argument(place))
    }

    /// Text.
    pub(crate) fn text(&self, place: usize) -> Option<String> {
        text(self.env, self.argument(place))
    }

    pub(crate) fn any(&self, place: usize) -> Argument {
        any(self.env, self.argument(place))
    }

    /// An array's elements; none when it is no array.
    pub(crate) fn list(&self, place: usize) -> Vec<Argument> {
        let array = self.argument(place);
        let mut length = 0;
        // SAFETY: env and value belong to this call; on failure `length` stays 0.
        unsafe { sys::napi_get_array_length(self.env, array, &mut length) };
        (0..length)
            .map(|index| {
                let mut element = null_mut();
                // SAFETY: as above; on failure `element` stays null, which reads as "other".
                unsafe { sys::napi_get_element(self.env, array, index, &mut element) };
                any(self.env, element)
            })
            .collect()
    }

    /// An array buffer over memory that is never freed; `None` where the runtime does not allow it
    /// (V8 with a sandbox, as in Electron, or with compressed pointers).
    pub(crate) fn external_buffer(&self, (memory, bytes): (*mut c_void, usize)) -> Option<Made> {
        let mut buffer = null_mut();
        // SAFETY: env belongs to this call; the caller's memory lives for ever, so nothing finalizes it.
        let status =
            unsafe { sys::napi_create_external_arraybuffer(self.env, memory, bytes, None, null_mut(), &mut buffer) };
        (status == sys::Status::napi_ok).then_some(Made(buffer))
    }
}

fn any(env: napi_env, value: napi_value) -> Argument {
    let mut kind = -1;
    if !value.is_null() {
        // SAFETY: env and value belong to this call; on failure `kind` stays -1.
        unsafe { sys::napi_typeof(env, value, &mut kind) };
    }
    match kind {
        sys::ValueType::napi_undefined => Argument::Undefined,
        sys::ValueType::napi_number => {
            let mut number = f64::NAN;
            // SAFETY: as above.
            unsafe { sys::napi_get_value_double(env, value, &mut number) };
            Argument::Number(number)
        }
        sys::ValueType::napi_bigint => whole(env, value).map_or(Argument::Other, Argument::Whole),
        sys::ValueType::napi_string => text(env, value).map_or(Argument::Other, Argument::Text),
        _ => Argument::Other,
    }
}

fn whole(env: napi_env, value: napi_value) -> Option<u64> {
    let (mut number, mut lossless) = (0, false);
    // SAFETY: env and value belong to this call; on failure `lossless` stays false.
    unsafe { sys::napi_get_value_bigint_uint64(env, value, &mut number, &mut lossless) };
    lossless.then_some(number)
}

fn text(env: napi_env, value: napi_value) -> Option<String> {
    let mut length = 0;
    // SAFETY: env and value belong to this call; a null buffer asks for the length.
    let status = unsafe { sys::napi_get_value_string_utf8(env, value, null_mut(), 0, &mut length) };
    if status != sys::Status::napi_ok {
        return None;
    }
    let mut bytes = vec![0u8; length + 1];
    let buffer = bytes.as_mut_ptr().cast::<c_char>();
    // SAFETY: the buffer has room for the text and the zero behind it.
    let status = unsafe { sys::napi_get_value_string_utf8(env, value, buffer, bytes.len(), &mut length) };
    bytes.truncate(length);
    (status == sys::Status::napi_ok).then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A value of JavaScript's that was made already.
pub(crate) struct Made(napi_value);

/// What a function may answer.
pub(crate) trait Answer {
    /// The value; null stands for `undefined`.
    fn make(self, env: napi_env) -> napi_value;
}

impl Answer for () {
    fn make(self, _: napi_env) -> napi_value {
        null_mut()
    }
}

impl Answer for Made {
    fn make(self, _: napi_env) -> napi_value {
        self.0
    }
}

impl<T: Answer> Answer for Option<T> {
    #[inline]
    fn make(self, env: napi_env) -> napi_value {
        self.map_or(null_mut(), |value| value.make(env))
    }
}

/// Each is one call that fails only without memory; the answer is `undefined` then.
macro_rules! answer {
    ($($type:ty: |$env:ident, $self:ident, $out:ident| $make:expr;)+) => {$(
        impl Answer for $type {
            #[inline]
            fn make($self, $env: napi_env) -> napi_value {
                let mut made = null_mut();
                let $out: *mut napi_value = &mut made;
                // SAFETY: env belongs to this call, and `made` has room for one value.
                unsafe { $make };
                made
            }
        }
    )+};
}

answer! {
    f64: |env, self, out| sys::napi_create_double(env, self, out);
    u32: |env, self, out| sys::napi_create_uint32(env, self, out);
    bool: |env, self, out| sys::napi_get_boolean(env, self, out);
    u64: |env, self, out| sys::napi_create_bigint_uint64(env, self, out);
    &str: |env, self, out| sys::napi_create_string_utf8(env, self.as_ptr().cast(), self.len() as isize, out);
}

/// A limiter's answer: `true`, or a number that says why not.
pub(crate) enum Decision {
    Yes,
    No(f64),
}

impl Answer for Decision {
    #[inline]
    fn make(self, env: napi_env) -> napi_value {
        match self {
            Self::Yes => true.make(env),
            Self::No(code) => code.make(env),
        }
    }
}

/// A value of any kind, for cold answers.
pub(crate) enum Value {
    Undefined,
    Bool(bool),
    Number(f64),
    Whole(u64),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Undefined, Into::into)
    }
}

impl Answer for Value {
    fn make(self, env: napi_env) -> napi_value {
        match self {
            Self::Undefined => null_mut(),
            Self::Bool(yes) => yes.make(env),
            Self::Number(number) => number.make(env),
            Self::Whole(whole) => whole.make(env),
            Self::Text(text) => text.as_str().make(env),
            Self::List(values) => {
                let mut list = null_mut();
                // SAFETY: env belongs to this call, and `list` has room for one value.
                unsafe { sys::napi_create_array_with_length(env, values.len(), &mut list) };
                for (index, value) in values.into_iter().enumerate() {
                    let value = value.make(env);
                    if !value.is_null() {
                        // SAFETY: list and value were made in this call.
                        unsafe { sys::napi_set_element(env, list, index as u32, value) };
                    }
                }
                list
            }
            Self::Object(fields) => {
                let mut object = null_mut();
                // SAFETY: env belongs to this call, and `object` has room for one value.
                unsafe { sys::napi_create_object(env, &mut object) };
                for (name, value) in fields {
                    let value = value.make(env);
                    if !value.is_null() {
                        let name = name.make(env);
                        // SAFETY: object, name and value were made in this call.
                        unsafe { sys::napi_set_property(env, object, name, value) };
                    }
                }
                object
            }
        }
    }
}

/// Runs the body of a function that takes `N` arguments at most. A panic becomes a thrown error: one
/// that left an `extern "C"` function would end the process.
///
/// # Safety
/// To be called with what Node-API passes to a function that [`export`] registered.
#[inline]
pub(crate) unsafe fn enter<const N: usize, A: Answer>(
    env: napi_env,
    info: napi_callback_info,
    body: impl FnOnce(&Call<'_>) -> Option<A>,
) -> napi_value {
    let mut arguments = [null_mut(); N];
    let (mut count, mut data) = (N, null_mut());
    // SAFETY: env and info are this call's; there is room for N arguments.
    unsafe { sys::napi_get_cb_info(env, info, &mut count, arguments.as_mut_ptr(), null_mut(), &mut data) };
    // SAFETY: `export` registered the function with the environment as its data, and the environment
    // lives until no more JavaScript runs in it.
    let environment = unsafe { &*data.cast::<Environment>() };
    let call = Call { env, environment, arguments: &arguments };
    match catch_unwind(AssertUnwindSafe(|| body(&call))) {
        Ok(answer) => answer.make(env),
        Err(_) => {
            // SAFETY: env is this call's; both texts end with a zero.
            unsafe { sys::napi_throw_error(env, null_mut(), c"seawall: internal error".as_ptr()) };
            null_mut()
        }
    }
}

/// Makes functions and their table: `"nameInJs" name [arguments] |call| body;`, where the answer is an
/// `Option`, or `"nameInJs" name [arguments] on SLAB |call, slot| body;`, where the first argument is a
/// handle that is checked, and a stale one answered `undefined`.
macro_rules! functions {
    ($table:ident: $($js:literal $name:ident [$count:literal] $(on $slab:path)? => |$($arg:ident),+| $body:expr;)+) => {
        $(
            unsafe extern "C" fn $name(
                env: $crate::node_api::napi_env,
                info: $crate::node_api::napi_callback_info,
            ) -> $crate::node_api::napi_value {
                let body = $crate::node_api::functions!(@body ($($slab)?) |$($arg),+| $body);
                // SAFETY: Node-API calls this with its own environment and callback info.
                unsafe { $crate::node_api::enter::<$count, _>(env, info, body) }
            }
        )+
        pub(crate) const $table: &[(&str, $crate::node_api::napi_callback)] = &[$(($js, Some($name))),+];
    };
    (@body () |$call:ident| $body:expr) => {
        |$call: &$crate::node_api::Call<'_>| $body
    };
    (@body ($slab:path) |$call:ident, $slot:ident| $body:expr) => {
        |$call: &$crate::node_api::Call<'_>| {
            let $slot = $slab.get($call.u32(0))?;
            Some($body)
        }
    };
}
pub(crate) use functions;

/// Registers `table` on `exports`, with `environment` as every function's data.
///
/// # Safety
/// `env` and `exports` are the module's that is being loaded; `environment` lives until no more
/// JavaScript runs in it.
pub(crate) unsafe fn export(
    env: napi_env,
    exports: napi_value,
    environment: *mut Environment,
    table: &[(&str, napi_callback)],
) {
    for (name, function) in table {
        let mut made = null_mut();
        let (text, length) = (name.as_ptr().cast(), name.len() as isize);
        // SAFETY: the name is readable for its length, and the callback is one of `functions!`.
        unsafe { sys::napi_create_function(env, text, length, *function, environment.cast(), &mut made) };
        let name = name.make(env);
        // SAFETY: all three values belong to this call.
        unsafe { sys::napi_set_property(env, exports, name, made) };
    }
}
