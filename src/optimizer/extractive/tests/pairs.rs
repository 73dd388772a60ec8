//! The threshold's ground: pairs of rules that a person would or would not take for one.

use crate::optimizer::extractive::terms::{SAME, Terms, Weighed, Weights};

const ALIKE: [(&str, &str); 29] = [
    (
        "Answer in one short sentence that gives the value, then stop.",
        "Answer in one short sentence that gives the value.",
    ),
    ("Cut adverbs from dialogue tags.", "Cut all needless adverbs from dialogue tags."),
    ("Name the source of each figure.", "Name the source of each figure in the text."),
    ("Wrap network calls in a retry with backoff.", "Wrap network calls in a retry with exponential backoff."),
    ("Ask for the order number.", "Please ask the customer for the order number."),
    ("Do not restate the question.", "Do not restate the question first."),
    ("Close the file handle in every branch.", "Close the file handle in every branch of the function."),
    ("Quote the clause of the contract that applies.", "Quote the clause of the contract."),
    ("State the fare with its currency.", "State the fare together with its currency."),
    (
        "Lead with the value itself; do not restate the question.",
        "Lead with the value, and do not restate the question.",
    ),
    (
        "Answer in one short sentence that gives the value, then stop.",
        "Answer with one short sentence giving the value and stop.",
    ),
    ("Never make up a code, number or time.", "Do not make up codes, numbers or times."),
    ("Do not apologise.", "Never apologize."),
    ("Always run the formatter before committing.", "Run the formatter before you commit."),
    ("Add an index on the foreign key before the backfill.", "Before the backfill, add an index on the foreign key."),
    (
        "Use parameterised queries instead of string concatenation.",
        "Use parameterized queries, not string concatenation.",
    ),
    ("Cut adverbs from dialogue tags.", "Cut the adverbs in every dialogue tag."),
    ("State the departure time in local time.", "State departure times in the local time."),
    (
        "Check that the passport is valid for 6 months.",
        "Check the passport's validity: it must be valid for six months.",
    ),
    ("Close the file handle in every branch.", "Close file handles in all branches."),
    ("Name the source of each figure.", "Name a source for every figure."),
    ("Begin the scene with an action.", "Begin each scene with an action."),
    ("Keep the summary under 100 words.", "Keep summaries under 100 words."),
    ("Wrap network calls in a retry with backoff.", "Wrap every network call in retries with backoff."),
    ("Ask for the order number before offering a refund.", "Before offering refunds, ask for the order number."),
    ("Quote the clause of the contract.", "Quote the contract's clause."),
    ("Write the commit subject in the imperative.", "Write commit subjects in the imperative."),
    ("Show the colour by its name.", "Show colors by their names."),
    (
        "Do not change the public interface without a deprecation note.",
        "Never change a public interface without a deprecation note.",
    ),
];

const APART: [(&str, &str); 28] = [
    ("Write unit tests for the parser.", "Write fuzz targets for the parser."),
    ("Do not quote prices.", "Do not quote prices; quote delivery times."),
    ("Lead with the value itself.", "Lead with the value itself; give its unit and its source."),
    ("Check the visa rules of the country.", "Check the opening hours of the museum in the country."),
    ("The door code of the north gate is 4711.", "The door code of the south gate is 4711."),
    ("Keep the summary under 100 words.", "Keep the summary under 200 words."),
    ("Run the formatter before committing.", "Do not run the formatter before committing."),
    ("Run the formatter before committing.", "Run the formatter after committing."),
    ("Always restate the question.", "Never restate the question."),
    ("Answer in English.", "Answer in French."),
    ("Set the timeout to two seconds.", "Set the timeout to ten seconds."),
    ("Use `SELECT id` in the query.", "Use `SELECT name` in the query."),
    ("Open the valve first.", "Close the valve first."),
    ("Lead with the value itself.", "Lead with the question itself."),
    ("Add an index on the foreign key.", "Add a comment on the foreign key."),
    ("Send the weekly report to the finance team.", "Send the weekly report to the legal team."),
    ("Cut adverbs from dialogue tags.", "Cut adverbs from chapter titles."),
    ("Begin the scene with an action.", "End the scene with an action."),
    ("State the departure time.", "State the arrival time."),
    ("Include the header row.", "Exclude the header row."),
    ("Do not apologise; give the value.", "Give the value and the unit."),
    ("Name the source of each figure.", "Number each figure."),
    ("Write tests for the parser.", "Write docs for the parser."),
    ("Round prices up to whole euros.", "Round prices up to whole cents."),
    ("Use parameterised queries.", "Use prepared statements."),
    ("Offer a refund when the parcel is late.", "Offer a voucher when the parcel is late."),
    ("Deploy on Monday.", "Deploy on Friday."),
    ("Keep the tone formal in letters.", "Keep the tone informal in letters."),
];

fn weighed(text: &str, weights: &Weights) -> Weighed {
    Weighed::new(Terms::of(text), weights)
}

#[test]
fn the_threshold_parts_what_a_person_would_part() {
    let all: Vec<Terms> = ALIKE.iter().chain(&APART).flat_map(|(a, b)| [Terms::of(a), Terms::of(b)]).collect();
    let weights = Weights::of(all.iter());
    let cosine = |a: &str, b: &str| weighed(a, &weights).vector.cosine(&weighed(b, &weights).vector);
    let mut wrong = Vec::new();
    for (pairs, same) in [(&ALIKE[..], true), (&APART[..], false)] {
        for (a, b) in pairs {
            if weighed(a, &weights).same(&weighed(b, &weights)) != same {
                wrong.push(format!("{:.2} {a} / {b}", cosine(a, b)));
            }
        }
    }
    assert!(wrong.is_empty(), "at {SAME}: {wrong:#?}");
    // The gap that the threshold stands in.
    let lowest = ALIKE.iter().map(|(a, b)| cosine(a, b)).fold(1.0, f64::min);
    let unguarded = APART.iter().filter(|(a, b)| !weighed(a, &weights).differs(&weighed(b, &weights)));
    let highest = unguarded.map(|(a, b)| cosine(a, b)).fold(0.0, f64::max);
    let guarded = APART.iter().map(|(a, b)| cosine(a, b)).fold(0.0, f64::max);
    assert_eq!(format!("{lowest:.2} {highest:.2} {guarded:.2}"), "0.77 0.61 0.77");
}

#[test]
fn facts_are_told_apart_by_subject_and_value() {
    use crate::optimizer::extractive::facts::fact;
    let read = |text: &str| fact(text).map(|fact| (fact.key(), fact.value_key())).unwrap();
    let north = read("The door code of the north gate is 4711.");
    assert_eq!(north, read("The north gate's door code is 4711"));
    assert_ne!(north.0, read("The door code of the south gate is 4711.").0);
    assert_ne!(north.1, read("The door code of the north gate is 4712.").1);
    assert_ne!(read("The 2 pm pickup point is Bay 3.").0, read("The 4 pm pickup point is Bay 3.").0);
    for text in ["It is late.", "What is this?", "The reply is short.", "The code is not 4711.", "is 4711", ""] {
        assert_eq!(fact(text), None, "{text}");
    }
}
