//! The half-open round: how many trials, how it ends, what expires and what is stale.

use core::time::Duration;

use seawall::{CircuitBreakerConfig as Config, ExpiredTrials};

use crate::breaker::Op;
use crate::vectors::breaker::{Line, MS, Play};
use crate::vectors::format::Scenario;

fn one_second() -> Config {
    Config::consecutive(1).reset_after(Duration::from_secs(1))
}

/// A breaker that opened at 0 and is due at 1100 ms; the call that opened it is permit 0.
fn opened(name: &str, about: &str, config: Config) -> Play {
    let mut play = Play::new(name, about, config);
    play.at_ms(0).failures(1).at_ms(1_100);
    play
}

pub(super) fn all() -> Vec<Scenario<Line>> {
    vec![
        all_trials_must_succeed(),
        two_of_five(),
        one_failure_too_many(),
        an_ignored_trial_returns_its_place(),
        expired_again(),
        expired_open(),
        expired_close(),
        a_new_trial_renews_the_lease(),
        late_but_not_yet_replaced(),
        stale_results(),
        stale_after_reset(),
        closing_forgets(),
        settled_twice(),
    ]
}

fn all_trials_must_succeed() -> Scenario<Line> {
    let about = "Three trials out and no fourth; two successes are not enough, the third closes it.";
    let mut play = opened("all_trials_must_succeed", about, one_second().trials(3));
    play.admit().admit().admit().admit().snapshot();
    play.success(1).admit().success(2).snapshot().success(3).snapshot();
    play.done()
}

fn two_of_five() -> Scenario<Line> {
    let about = "k of n: two successes of at most five trials close it, however many failed before.";
    let mut play = opened("two_of_five", about, one_second().trials(5).close_after(2));
    play.failures(3).snapshot().successes(1).snapshot().successes(1).snapshot();
    play.done()
}

fn one_failure_too_many() -> Scenario<Line> {
    let about = "k of n: it opens as soon as the successes can no longer be reached.";
    let mut play = opened("one_failure_too_many", about, one_second().trials(5).close_after(3));
    play.failures(2).successes(2).snapshot().failures(1).snapshot();
    play.done()
}

fn an_ignored_trial_returns_its_place() -> Scenario<Line> {
    let about = "A cancelled trial counts for nothing, and the next caller is a trial.";
    let mut play = opened("an_ignored_trial_returns_its_place", about, one_second());
    play.admit().admit().ignore(1).snapshot().admit().admit().ignore(2).admit().success(3).state();
    play.done()
}

fn expired_again() -> Scenario<Line> {
    let about = "A trial that is never settled frees its place after its lease; its late result is stale.";
    let mut play = opened("expired_again", about, one_second().trial_timeout(Duration::from_millis(500)));
    play.admit().admit().at_ms(1_500).admit().snapshot();
    play.at_ms(1_700).snapshot().admit().success(1).snapshot().success(2).snapshot();
    play.done()
}

fn expired_open() -> Scenario<Line> {
    let about = "expired_trials = open: who asks after the lease opens it for another period, and is refused.";
    let config = one_second()
        .trial_timeout(Duration::from_millis(500))
        .expired_trials(ExpiredTrials::Open)
        .reset_factor(seawall::Factor::thousandths(2_000));
    let mut play = opened("expired_open", about, config);
    play.admit()
        .at_ms(1_700)
        .admit()
        .snapshot()
        .success(1)
        .at_ms(3_000)
        .admit()
        .at_ms(3_800)
        .admit()
        .success(2)
        .snapshot();
    play.done()
}

fn expired_close() -> Scenario<Line> {
    let about = "expired_trials = close: who asks after the lease closes it, and passes.";
    let config = one_second().trial_timeout(Duration::from_millis(500)).expired_trials(ExpiredTrials::Close);
    let mut play = opened("expired_close", about, config);
    play.admit().at_ms(1_700).admit().snapshot().failure(1).success(2).snapshot();
    play.done()
}

fn a_new_trial_renews_the_lease() -> Scenario<Line> {
    let config = one_second().trials(2).trial_timeout(Duration::from_millis(500));
    let mut play = opened("a_new_trial_renews_the_lease", "The lease is that of the youngest trial.", config);
    play.admit().at_ms(1_400).admit().admit().at_ms(1_700).admit().at_ms(2_000).admit().snapshot();
    play.done()
}

fn late_but_not_yet_replaced() -> Scenario<Line> {
    let about = "After its lease a trial still counts, as long as nobody has taken its place.";
    let mut play = opened("late_but_not_yet_replaced", about, one_second().trial_timeout(Duration::from_millis(500)));
    play.admit().at_ms(60_000).success(1).snapshot();
    play.done()
}

fn stale_results() -> Scenario<Line> {
    let about = "Calls from before the trip change nothing, in no later state; nor do trials of an earlier round.";
    let mut play = Play::new("stale_results", about, one_second().trials(2));
    play.at_ms(0).admit().admit().admit().admit().failure(0);
    play.success(1).state().at_ms(1_100).admit().admit().success(2).snapshot().failure(4).snapshot();
    play.at_ms(2_300).admit().success(5).snapshot().success(6).successes(1).state().failure(3).snapshot();
    play.done()
}

fn stale_after_reset() -> Scenario<Line> {
    let mut play = Play::new("stale_after_reset", "What is in flight when it is reset does not count.", one_second());
    play.admit().admit().ask(Op::Reset).failure(0).failure(1).snapshot().failures(1).state();
    play.done()
}

fn closing_forgets() -> Scenario<Line> {
    let about = "Closed again, it starts from nothing: old failures do not trip it.";
    let config = Config::new().window(4).minimum_calls(2).trials(1).reset_after(Duration::from_secs(1));
    let mut play = Play::new("closing_forgets", about, config);
    play.failures(2).at_ms(1_100).successes(1).snapshot().failures(1).state().successes(1).state();
    play.done()
}

fn settled_twice() -> Scenario<Line> {
    let about =
        "A byte copy of a permit settled twice is bounded: counts saturate and no trial above the limit gets out.";
    let mut play = opened("settled_twice", about, one_second().trials(3).close_after(3));
    play.misuse().admit().ignore(1).ignore(1).ignore(1).admit().admit().admit().admit().snapshot();
    play.success(2).success(2).success(2).snapshot().at(5_000 * MS).admit();
    play.done()
}
