use super::*;
use crate::edit::merge::merge_edits;
use crate::optimizer::Desk;
use crate::optimizer::tasks::{Memory, Pair, Seat, Sight};
use crate::pool::profile::Profile;

fn seat() -> Seat<'static> {
    let desk = Desk { folder: "x".into(), stem: "analyse", private: "x".into(), hold: "x".into() };
    Seat { place: "p".into(), desk, memory: Memory::default() }
}

fn sample(work: &str, report: &str, read: &str) -> Evidence {
    let reads = if read.is_empty() { vec![] } else { vec![read.to_owned()] };
    Evidence { work: work.into(), title: work.into(), loss_report: report.into(), reads, ..Evidence::default() }
}

fn analysed(evidence: &[Evidence], cards: &[Card], mode: UpdateMode, source: Source) -> Vec<Edit> {
    let profile = Profile::default_rules();
    let sight = Sight { profile: &profile, cards };
    analyse(&AnalyseTask { seat: seat(), source, evidence, sight, mode, most: 8 })
}

fn facts(profile: &Profile) -> Card {
    let path = format!("{}/door-codes.md", profile.folders[1].path);
    let description = "Use when asked for a door code.".to_owned();
    Card { path, description, body: "\n## Rules\n- The door code of the north gate is 4711.\n- Be brief.\n".into() }
}

fn north(value: &str) -> String {
    format!("# Loss\n\n- The reply is wrong. State it: the door code of the north gate is {value}.\n")
}

#[test]
fn a_minibatch_becomes_line_edits_with_the_works_behind_them() {
    let profile = Profile::default_rules();
    let card = facts(&profile);
    let evidence = [sample("a", &north("8822"), &card.path), sample("b", &north("8822"), &card.path)];
    let edits = analysed(&evidence, std::slice::from_ref(&card), UpdateMode::Patch, Source::Failures);
    let want = Op::Replace {
        target: "- The door code of the north gate is 4711.".into(),
        content: "- The door code of the north gate is 8822.".into(),
    };
    assert_eq!((edits.len(), edits[0].support), (1, 2), "{edits:?}");
    assert_eq!((&edits[0].op, &edits[0].card), (&want, &card.path));
    assert_eq!(edits[0].reason, "reported of a, b");
    let whole = analysed(&evidence, std::slice::from_ref(&card), UpdateMode::FullRewrite, Source::Failures);
    assert!(
        matches!(&whole[0].op, Op::Rewrite { description: None, content } if content.contains("is 8822.\n- Be brief."))
    );
    assert!(analysed(&evidence, std::slice::from_ref(&card), UpdateMode::Patch, Source::Successes).is_empty());
}

#[test]
fn a_new_card_is_created_and_two_of_them_become_one() {
    let lists: Vec<Vec<Edit>> = ["north", "south"]
        .map(|gate| {
            let report = north("1").replace("north", gate);
            analysed(&[sample("a", &report, ""), sample("b", &report, "")], &[], UpdateMode::Patch, Source::Failures)
        })
        .into();
    assert!(lists.iter().all(|list| matches!(list[0].op, Op::Create { .. })), "{lists:?}");
    let merged = merge_edits(&lists);
    assert_eq!(merged.len(), 1, "{merged:?}");
    let Op::Create { content, .. } = &merged[0].op else { panic!() };
    assert!(content.contains("north gate is 1") && content.contains("south gate is 1"), "{content}");
    assert!(Card::parse("a.md", content.as_bytes()).is_ok(), "{content}");
}

#[test]
fn suggestions_become_cards() {
    let profile = Profile::default_rules();
    let card = facts(&profile);
    let sight = Sight { profile: &profile, cards: std::slice::from_ref(&card) };
    let evidence = [sample("a", &north("8822"), &card.path), sample("b", &north("8822"), &card.path)];
    let edits = analysed(&evidence, sight.cards, UpdateMode::RewriteFromSuggestions, Source::Failures);
    assert_eq!(edits[0].op, Op::Suggest { content: "The door code of the north gate is 8822.".into() });
    let mut all = edits.clone();
    all.push(Edit { op: Op::Suggest { content: "Nothing that advises".into() }, ..edits[0].clone() });
    let (made, unread) = rewrite(&RewriteTask { seat: seat(), sight, suggestions: &all });
    assert_eq!(made.len(), 1, "{made:?}");
    assert!(
        matches!(&made[0].op, Op::Rewrite { content, .. } if content.contains("is 8822.\n- Be brief.")),
        "{made:?}"
    );
    assert_eq!(unread, ["no card came of the suggestion: Nothing that advises"]);
}

#[test]
fn two_rewrites_of_one_card_lose_nothing() {
    let profile = Profile::default_rules();
    let card = facts(&profile);
    let anew = |body: &str| Edit {
        card: card.path.clone(),
        op: Op::Rewrite { description: None, content: body.into() },
        reason: String::new(),
        support: 1,
        source: Source::Failures,
    };
    let lists = [
        vec![anew("\n## Rules\n- The door code of the north gate is 8822.\n- Be brief.\n")],
        vec![anew("\n## Rules\n- The door code of the north gate is 4711.\n- Say it first.\n")],
    ];
    let sight = Sight { profile: &profile, cards: std::slice::from_ref(&card) };
    let merged = merge(&MergeTask { seat: seat(), source: None, lists: &lists, sight, mode: UpdateMode::FullRewrite });
    let want = "\n## Rules\n- The door code of the north gate is 8822.\n- Say it first.\n";
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].op, Op::Rewrite { description: None, content: want.into() });
}

#[test]
fn a_ranking_follows_the_support() {
    let edit = |support, source| Edit { card: "a".into(), op: Op::Remove, reason: String::new(), support, source };
    let edits = [edit(1, Source::Failures), edit(3, Source::Successes), edit(3, Source::Failures)];
    let rank = |budget| rank(&RankTask { seat: seat(), edits: &edits, budget });
    assert_eq!(rank(Some(2)), Ranking { order: vec![2, 1, 0], budget: None });
    assert_eq!(rank(None).budget, Some(2));
}

#[test]
fn guidance_is_what_two_tasks_share() {
    let pair = |task: &str, change, feedback: &str| Pair {
        task: task.into(),
        input: "?".into(),
        change,
        answers: ["a".into(), "b".into()],
        scores: [0.0, 0.0],
        feedback: vec![feedback.into()],
    };
    let brief = "Answer in one short sentence that gives the value.";
    let pairs = [
        pair("t1", Fate::PersistentFailure, brief),
        pair("t2", Fate::Regressed, brief),
        pair("t3", Fate::Regressed, "State it: the door code of the north gate is 4711."),
        pair("t4", Fate::StableSuccess, "Do not apologise to anybody."),
        pair("t5", Fate::Improved, "Do not apologise to anybody."),
    ];
    let profile = Profile::default_rules();
    let told = |guidance: &str, pairs: &[Pair]| {
        let sight = Sight { profile: &profile, cards: &[] };
        slow_update(&SlowTask { seat: seat(), sight, pairs, guidance })
    };
    let want = format!("- {brief}\n");
    assert_eq!(told("", &pairs).as_deref(), Some(want.as_str()));
    assert_eq!(told(&want, &pairs), None);
    assert_eq!(told("- Be kind.\n", &pairs), Some(format!("{want}- Be kind.\n")));
    let long = "- It is long and goes on.\n".repeat(200);
    assert!(told(&long, &pairs).is_some_and(|text| text.starts_with(&want) && text.lines().count() == MOST_GUIDANCE));
    assert_eq!(told("", &pairs[2..]), None);
}
