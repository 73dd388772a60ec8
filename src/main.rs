//! Hands the arguments to the command line and returns its exit code.

fn main() -> std::process::ExitCode {
    skilltrain::cli::main()
}
