//! What a lint of a whole pool costs when no card is remembered: `cargo bench --bench lint`.
//!
//! `setup` is what each command pays before its first card; `one` is one card on one thread; `cold/N` is a pool of N
//! cards on all threads, the files' bytes already in memory.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use skilltrain::pool::lint::{Entry, Linter};
use skilltrain::pool::profile::Profile;

const FOLDERS: [&str; 3] = ["00_general_rules", "01_craft_elements", "02_genre_specifics"];

/// A card of about 1,200 bytes, different for each number; every tenth is not plain ASCII.
fn card(number: usize) -> String {
    let dash = if number.is_multiple_of(10) { "–" } else { "-" };
    let rule = format!(
        "- The door code of gate {number} is {:04}. Say it in one short sentence {dash} then stop.\n\
         - Do not restate the question; lead with the **value** itself, as the handbook gives it.\n",
        number * 7 % 10_000
    );
    let rules = rule.repeat(6);
    format!("---\ndescription: Use when a question asks for gate {number}. Not for people.\n---\n\n## Rules\n{rules}")
}

fn lint(criterion: &mut Criterion) {
    let profile = Profile::default_rules();
    let linter = Linter::new(&profile).expect("the template compiles");
    let mut group = criterion.benchmark_group("lint");
    group.sample_size(20);
    group.bench_function("setup", |bencher| {
        bencher.iter(|| Linter::new(black_box(&Profile::default_rules())));
    });
    for number in [1, 10] {
        let text = card(number);
        assert_eq!(linter.card("00_general_rules/x.md", text.as_bytes()), []);
        group.bench_function(BenchmarkId::new("one", if number == 1 { "ascii" } else { "unicode" }), |bencher| {
            bencher.iter(|| linter.card(black_box("00_general_rules/x.md"), black_box(text.as_bytes())));
        });
    }
    for count in [100, 1_000, 10_000] {
        let paths: Vec<String> =
            (0..count).map(|number| format!("{}/card-{number:05}.md", FOLDERS[number % 3])).collect();
        let texts: Vec<String> = (0..count).map(card).collect();
        let entries: Vec<Entry<'_>> =
            paths.iter().map(|path| Entry { path: path.as_bytes(), mode: 0o100_644 }).collect();
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::new("cold", count), |bencher| {
            bencher.iter(|| linter.all(black_box(&entries), |index| Ok(texts[index].as_bytes()), |_| false));
        });
        group.bench_function(BenchmarkId::new("known", count), |bencher| {
            bencher.iter(|| linter.all(black_box(&entries), |index| Ok(texts[index].as_bytes()), |_| true));
        });
    }
    group.finish();
}

criterion_group!(benches, lint);
criterion_main!(benches);
