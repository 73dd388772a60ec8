use super::*;

#[test]
fn show() {
    let all = evidence("example");
    let first = plan(&all[..4], None, &[], &profile(), BOUNDS);
    let pool = applied(&[], &first);
    let second = plan(&all[4..], None, &pool, &profile(), BOUNDS);
    let third = plan(&evidence("example-second"), None, &seed(), &profile(), BOUNDS);
    println!(
        "{}\n{}\n{}\n{}\n{}",
        reduce(&all[..4]),
        shown(&first),
        shown(&second),
        reduce(&evidence("example-second")),
        shown(&third)
    );
}
