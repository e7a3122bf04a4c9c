//! A primitive run by one thread alone, as the model of the same primitive run by many.
//!
//! Its state is nothing but words (law 9), so a copy of the words is a copy of the primitive. What a
//! lone thread makes of it is held to the plain models elsewhere (properties, fuzzing); here the
//! question is only whether many threads get answers that one could have got.

use std::marker::PhantomData;

use seawall::{Stored, place};

#[derive(Debug)]
pub(crate) struct Sequential<T> {
    words: Vec<u64>,
    of: PhantomData<T>,
}

impl<T: Stored> Sequential<T> {
    /// Zeroed memory, made into a state by `init`.
    pub(crate) fn new(init: impl FnOnce(&T)) -> Self {
        let mut this = Self { words: vec![0; size_of::<T>() / 8], of: PhantomData };
        this.run(init);
        this
    }

    pub(crate) fn run<A>(&mut self, operation: impl FnOnce(&T) -> A) -> A
    where
        T: Sized,
    {
        // SAFETY: the words are exclusively ours while the reference lives, and aligned to 8 bytes.
        let state = unsafe { place::<T>(self.words.as_mut_ptr(), self.words.len() * 8) };
        operation(state.expect("as many words as the state has"))
    }
}

// Not derived: the derive would ask the same of `T`.
impl<T> Clone for Sequential<T> {
    fn clone(&self) -> Self {
        Self { words: self.words.clone(), of: PhantomData }
    }
}

impl<T> PartialEq for Sequential<T> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl<T> Eq for Sequential<T> {}

impl<T> std::hash::Hash for Sequential<T> {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        self.words.hash(hasher);
    }
}
