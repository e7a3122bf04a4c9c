//! The protocol by which configuration changes while it is used.
//!
//! The configuration of these models is twice the same number, so that a torn one shows, and the value
//! in the word is the number of the configuration that settled it last, so that a foreign one shows.
//!
//! The reader is the spawned thread wherever there is one: loom runs it after the changes then, and
//! tries old values for its loads. The other way round its blind spot (see `src/atomic.rs`) hides that
//! the changes could have come between.

use std::sync::Arc;
use std::vec::Vec;

use seawall::ChangeError;
use seawall::model_access::{Cell, Mark};

use super::harness::{ALL, Preemptions, STOPS, bounded, join, model, rounds, spawn, stop_after, stop_after_writes};

type Slots = Cell<2>;

fn new() -> Arc<Slots> {
    Arc::new(Cell::new(1, [1, 1]))
}

fn change(cell: &Slots, number: u64) -> Result<bool, ChangeError> {
    cell.change([number, number], |_, old, new| {
        assert_eq!(old[0], old[1], "the configuration that is replaced is whole");
        Some(new[0])
    })
}

/// Reads, and asserts that what was read belongs together.
fn read(cell: &Slots) -> u64 {
    let (value, config) = cell.read().expect("it is configured");
    assert_eq!(config, [value, value], "value and configuration belong together");
    value
}

/// The accesses of one change that nobody disturbs: claim 4, write 2, publish 4, release 2, and one
/// exchange that fails for no reason.
const CHANGE: u64 = 13;
/// After so many writes a change has claimed its slot; after so many more, written it, published it.
const CLAIMED: u64 = 1;
const WRITTEN: u64 = 3;
const PUBLISHED: u64 = 4;

/// Two changes that stopped for ever keep a slot each, so that two are left to take turns.
fn with_two_slots_lost() -> Arc<Slots> {
    let cell = new();
    for number in [90, 91] {
        stop_after_writes(CLAIMED, || change(&cell, number));
    }
    cell
}

#[test]
fn a_reader_never_sees_a_configuration_that_is_not_current() {
    model("config_slots::a_reader_never_sees_a_configuration_that_is_not_current", Preemptions(Some(3), None), || {
        let cell = with_two_slots_lost();
        let reader = spawn(&cell, |cell| {
            let mut last = 0;
            for _ in 0..rounds(1, 6) {
                let number = read(cell);
                assert!(number >= last, "it never goes back");
                last = number;
            }
        });
        for number in 2..2 + rounds(2, 6) as u64 {
            assert_eq!(change(&cell, number), Ok(true));
        }
        join(reader);
        assert_eq!(read(&cell), 1 + rounds(2, 6) as u64);
    });
}

#[test]
fn a_slot_that_comes_round_during_a_read_is_no_loss_of_configuration() {
    // The value stays, so that the word is bit for bit what it was when its slot comes round again.
    model(
        "config_slots::a_slot_that_comes_round_during_a_read_is_no_loss_of_configuration",
        Preemptions(Some(3), None),
        || {
            let cell = with_two_slots_lost();
            let reader = spawn(&cell, |cell| {
                for _ in 0..rounds(1, 6) {
                    let (value, config) = cell.read().expect("it is configured");
                    assert_eq!((value, config[0]), (1, config[1]), "whole, and current at some time");
                }
            });
            for number in 2..2 + rounds(2, 6) as u64 {
                assert_eq!(cell.change([number, number], |value, _, _| Some(value)), Ok(true));
            }
            join(reader);
        },
    );
}

#[test]
fn a_change_while_another_slot_comes_round_is_no_loss_of_configuration() {
    model(
        "config_slots::a_change_while_another_slot_comes_round_is_no_loss_of_configuration",
        Preemptions(Some(2), Some(3)),
        || {
            let cell = new();
            stop_after_writes(CLAIMED, || cell.change([90, 90], |value, _, _| Some(value)));
            let changer = spawn(&cell, |cell| {
                for number in 2..4 {
                    assert_eq!(cell.change([number, number], |value, _, _| Some(value)), Ok(true));
                }
            });
            assert_eq!(cell.change([5, 5], |value, _, _| Some(value)), Ok(true));
            join(changer);
        },
    );
}

#[test]
fn two_changes_at_once_both_happen() {
    model("config_slots::two_changes_at_once_both_happen", Preemptions(Some(2), Some(3)), || {
        let cell = new();
        let other = spawn(&cell, |cell| change(cell, 2));
        let reader = spawn(&cell, read);
        assert_eq!(change(&cell, 3), Ok(true));
        assert_eq!(join(other), Ok(true));
        assert!((1..=3).contains(&join(reader)));
        assert!(matches!(read(&cell), 2 | 3));
        // Both have given their slots back: three more fit, one after the other and all at once.
        for number in 4..8 {
            assert_eq!(change(&cell, number), Ok(true));
            assert_eq!(read(&cell), number);
        }
        for number in 90..93 {
            stop_after_writes(CLAIMED, || change(&cell, number));
        }
        if STOPS {
            assert_eq!(change(&cell, 99), Err(ChangeError::Busy));
        }
    });
}

#[test]
fn updates_and_changes_do_not_undo_each_other() {
    // The value counts updates (by hundreds) and carries the number of the configuration.
    model("config_slots::updates_and_changes_do_not_undo_each_other", Preemptions(Some(3), None), || {
        let cell = with_two_slots_lost();
        let update = |cell: &Slots| {
            let seen = cell.publish(|value, config| (value + 100, (value, *config)));
            let (value, config) = seen.expect("it is configured");
            assert_eq!([value % 100; 2], config, "it took effect under the configuration that it read");
        };
        let changer = spawn(&cell, |cell| {
            for number in 2..4 {
                let done = cell.change([number, number], |value, _, new| Some(value - value % 100 + new[0]));
                assert_eq!(done, Ok(true));
            }
        });
        for _ in 0..rounds(2, 6) {
            update(&cell);
        }
        join(changer);
        assert_eq!(cell.read(), Some((100 * rounds(2, 6) as u64 + 3, [3, 3])));
    });
}

#[test]
fn a_change_that_was_worked_out_from_another_configuration_is_declined() {
    // Each adds one to what it read; as with a change of mode alone.
    fn add_one(cell: &Slots) {
        loop {
            let present = read(cell);
            let done = cell.change([present + 1; 2], |_, old, new| (old[0] == present).then_some(new[0]));
            if done.expect("a slot is free") {
                return;
            }
        }
    }
    model(
        "config_slots::a_change_that_was_worked_out_from_another_configuration_is_declined",
        Preemptions(Some(2), Some(3)),
        || {
            let cell = new();
            let other = spawn(&cell, add_one);
            add_one(&cell);
            join(other);
            assert_eq!(read(&cell), 3);
        },
    );
}

#[test]
fn a_change_stopped_anywhere_delays_nobody() {
    for accesses in 1..=CHANGE {
        model("config_slots::a_change_stopped_anywhere_delays_nobody", Preemptions(Some(2), None), move || {
            let cell = new();
            let stopped = spawn(&cell, move |cell| {
                stop_after(accesses, || change(cell, 2));
            });
            assert!(bounded(12, || read(&cell)) <= 2);
            assert_eq!(bounded(3 * CHANGE, || change(&cell, 3)), Ok(true));
            let seen = read(&cell);
            assert!(matches!(seen, 2 | 3));
            join(stopped);
            assert_eq!(bounded(2 * CHANGE, || change(&cell, 4)), Ok(true));
            assert_eq!(bounded(6, || read(&cell)), 4);
        });
    }
}

#[test]
fn stopped_changes_leave_no_half_written_configuration() {
    for writes in [CLAIMED, WRITTEN - 1, WRITTEN, PUBLISHED] {
        model(
            "config_slots::stopped_changes_leave_no_half_written_configuration",
            Preemptions(Some(2), None),
            move || {
                let cell = new();
                let stopped: Vec<_> = (2..4)
                    .map(|number| {
                        spawn(&cell, move |cell| stop_after_writes(writes, || change(cell, number)).is_some())
                    })
                    .collect();
                read(&cell);
                for thread in stopped {
                    join(thread);
                }
                for number in 4..4 + rounds(3, 8) as u64 {
                    assert_eq!(bounded(2 * CHANGE, || change(&cell, number)), Ok(true), "one slot is left");
                    assert_eq!(read(&cell), number);
                }
            },
        );
    }
}

#[test]
fn the_fourth_change_is_busy_at_once_when_three_are_stopped() {
    model("config_slots::the_fourth_change_is_busy_at_once_when_three_are_stopped", ALL, || {
        let cell = with_two_slots_lost();
        let third = spawn(&cell, |cell| {
            stop_after_writes(CLAIMED, || change(cell, 92));
        });
        assert_eq!(read(&cell), 1);
        join(third);
        if STOPS {
            assert_eq!(bounded(2 * CHANGE, || change(&cell, 99)), Err(ChangeError::Busy));
            assert_eq!(read(&cell), 1, "nothing has changed");
        }
    });
}

#[test]
fn whoever_reads_a_new_configuration_sees_what_was_done_before_the_change() {
    model("config_slots::whoever_reads_a_new_configuration_sees_what_was_done_before_the_change", ALL, || {
        let shared = Arc::new((Cell::new(1, [1, 1]), Mark::new()));
        let reader = spawn(&shared, |(cell, mark)| {
            if read(cell) == 2 {
                assert!(mark.is_set());
            }
        });
        let (cell, mark) = &*shared;
        mark.set();
        assert_eq!(change(cell, 2), Ok(true));
        join(reader);
    });
}

#[test]
fn changes_follow_each_other_through_different_threads() {
    // Each change must see what the one before it left: the slot it published, the claim it gave back.
    model("config_slots::changes_follow_each_other_through_different_threads", Preemptions(Some(3), None), || {
        let cell = with_two_slots_lost();
        let other = spawn(&cell, |cell| change(cell, 2));
        let mine = change(&cell, 3);
        let other = join(other);
        // With one spare slot, whoever comes while the other has it is told so.
        for outcome in [mine, other] {
            assert!(matches!(outcome, Ok(true) | Err(ChangeError::Busy)), "{outcome:?}");
        }
        assert!(mine.is_ok() || other.is_ok());
        assert!(matches!(read(&cell), 2 | 3));
        assert_eq!(change(&cell, 4), Ok(true));
        assert_eq!(read(&cell), 4);
    });
}
