//! Results do not depend on how many work side by side, or on whose answer comes first.

use std::time::Duration;

use crate::scene::{Scene, Who, said};

#[test]
fn one_and_sixteen_workers_leave_the_same() {
    for who in [Who::Backward, Who::Chat] {
        let wanted = {
            let scene = Scene::new(who);
            scene.run(&[]).ok();
            scene.outcome()
        };
        for workers in ["1", "16"] {
            // Answers come in another order than questions.
            let scene = Scene::with(who, "", |seen, number| {
                std::thread::sleep(Duration::from_millis((number as u64 * 7) % 11));
                said(seen)
            });
            let sets = [format!("train.workers={workers}"), format!("gradient.analyst_workers={workers}")];
            scene.run(&["--set", &sets[0], "--set", &sets[1]]).ok();
            scene.outcome().assert_is(&wanted, 0, &format!("{who:?} {workers} workers"));
        }
    }
}
