//! Threaded histories have a sequential explanation.

#[path = "support/linearizability.rs"]
mod linearizability;

/// The checker itself, on a register and on histories whose verdict is known.
mod the_checker {
    use super::linearizability::{Model, Recorded, Recorder, explain, overlaps};

    #[derive(Clone, PartialEq, Eq, Hash)]
    struct Register(u64);

    #[derive(Clone, Copy, Debug)]
    enum Access {
        Read,
        Write(u64),
    }
    use Access::{Read, Write};

    impl Model for Register {
        type Operation = Access;
        type Answer = u64;

        fn apply(&mut self, access: &Access) -> u64 {
            if let Write(value) = *access {
                self.0 = value;
            }
            self.0
        }
    }

    fn by(
        thread: usize,
        span: std::ops::Range<u64>,
        operation: Access,
        answer: impl Into<Option<u64>>,
    ) -> Recorded<Access, u64> {
        Recorded { thread, began: span.start, ended: span.end, operation, answer: answer.into() }
    }

    #[test]
    fn accepts_one_thread_after_the_other() {
        let history = [by(0, 0..1, Write(7), 7), by(1, 2..3, Read, 7)];
        assert_eq!(explain(&Register(0), &history), Some(vec![0, 1]));
    }

    #[test]
    fn rejects_a_read_of_a_value_that_was_overwritten_before_it_began() {
        let history = [by(0, 0..1, Write(7), 7), by(1, 2..3, Read, 0)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn accepts_either_value_while_the_write_is_under_way() {
        for seen in [0, 7] {
            let history = [by(0, 0..9, Write(7), 7), by(1, 2..3, Read, seen)];
            assert!(explain(&Register(0), &history).is_some());
        }
    }

    #[test]
    fn rejects_two_reads_that_see_a_write_come_and_go() {
        let history = [by(0, 0..9, Write(7), 7), by(1, 1..2, Read, 7), by(2, 3..4, Read, 0)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn tries_more_than_the_first_order() {
        // The write that began last has to come first.
        let history = [by(0, 0..9, Write(1), 1), by(1, 1..9, Write(2), 2), by(2, 10..11, Read, 1)];
        assert_eq!(explain(&Register(0), &history), Some(vec![1, 0, 2]));
    }

    #[test]
    fn an_operation_that_never_ended_may_have_happened_or_not() {
        for seen in [0, 7] {
            let history = [by(0, 0..u64::MAX, Write(7), None), by(1, 2..3, Read, seen)];
            assert!(explain(&Register(0), &history).is_some());
        }
        let history = [by(0, 0..u64::MAX, Write(7), None), by(1, 2..3, Read, 8)];
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn remembers_dead_ends() {
        // 14 overlapping writes and a read of none of them: 14! orders, but at most 2^14 · 2 pairs
        // of operations taken and value held.
        let mut history: Vec<_> = (0..14).map(|i| by(i, 0..100, Write(i as u64 % 2), i as u64 % 2)).collect();
        history.push(by(14, 101..102, Read, 5));
        assert_eq!(explain(&Register(0), &history), None);
    }

    #[test]
    fn knows_which_histories_overlap() {
        assert!(!overlaps(&[by(0, 0..1, Read, 0), by(1, 2..3, Read, 0)]));
        assert!(overlaps(&[by(0, 0..2, Read, 0), by(1, 1..3, Read, 0)]));
    }

    #[test]
    fn the_recorder_orders_what_does_not_overlap() {
        let recorder = Recorder::default();
        let first = recorder.record(0, Read, |_| 0);
        let second = recorder.record(1, Read, |_| 0);
        assert!(first.ended < second.began);
        assert_eq!((first.answer, second.answer), (Some(0), Some(0)));
    }
}
