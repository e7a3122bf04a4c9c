//! Values of one thread, found by number.

/// A number is good for one value: closed, it finds nothing, also after its place lives again.
#[derive(Debug)]
pub(crate) struct Table<T> {
    places: Vec<(u32, Option<T>)>,
    free: Vec<usize>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

/// Below the life of a place, its index.
const INDEX: f64 = 4_294_967_296.0;

impl<T> Table<T> {
    pub(crate) fn add(&mut self, value: T) -> f64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push((0, None));
            self.places.len() - 1
        });
        let (life, place) = &mut self.places[index];
        *life = life.wrapping_add(1) % (1 << 20);
        *place = Some(value);
        f64::from(*life) * INDEX + index as f64
    }

    fn place(&mut self, number: f64) -> Option<(usize, &mut Option<T>)> {
        let index = (number % INDEX) as usize;
        let (life, place) = self.places.get_mut(index)?;
        (f64::from(*life) * INDEX + index as f64 == number).then_some((index, place))
    }

    pub(crate) fn get(&mut self, number: f64) -> Option<&mut T> {
        self.place(number)?.1.as_mut()
    }

    pub(crate) fn remove(&mut self, number: f64) -> Option<T> {
        let (index, place) = self.place(number)?;
        let value = place.take()?;
        self.free.push(index);
        Some(value)
    }

    pub(crate) fn count(&self) -> usize {
        self.places.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_finds_its_own_value_and_nothing_once_that_is_gone() {
        let mut table = Table::default();
        let (first, second) = (table.add('a'), table.add('b'));
        assert_eq!((table.get(first).copied(), table.get(second).copied()), (Some('a'), Some('b')));
        assert_eq!((table.remove(first), table.remove(first)), (Some('a'), None));
        let third = table.add('c');
        assert_eq!((table.get(first), third % INDEX), (None, 0.0), "the place lives again, the number does not");
        for number in [f64::NAN, -1.0, 0.5, 1e300, f64::INFINITY] {
            assert_eq!(table.get(number), None);
        }
        assert_eq!(table.count(), 2);
    }
}
