use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == skilltrain::ground::supervise::COMMAND) {
        return ExitCode::from(skilltrain::ground::supervise::supervise_main(args));
    }
    ExitCode::SUCCESS
}
