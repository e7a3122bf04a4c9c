//! `seawall-generate [--check]`: writes what is generated, or names what is stale.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let check = match arguments.as_slice() {
        [] => false,
        [only] if only == "--check" => true,
        _ => {
            eprintln!("usage: seawall-generate [--check]");
            return ExitCode::from(2);
        }
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let stale = match seawall_generate::stale(&root) {
        Ok(stale) => stale,
        Err(error) => {
            eprintln!("seawall-generate: {error}");
            return ExitCode::FAILURE;
        }
    };
    for file in &stale {
        if check {
            println!("stale: {}", file.path);
        } else if let Err(error) = seawall_generate::write(&root, file) {
            eprintln!("seawall-generate: {}: {error}", file.path);
            return ExitCode::FAILURE;
        } else {
            println!("written: {}", file.path);
        }
    }
    if check && !stale.is_empty() {
        println!("{} stale; `cargo run -p seawall-generate` writes them anew", stale.len());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
