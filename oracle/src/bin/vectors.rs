//! Writes `core/vectors`, or with `--check` says which files are stale.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/vectors");
    let mut stale = false;
    for (name, text) in seawall_oracle::vectors::files() {
        let path = root.join(&name);
        let same = fs::read_to_string(&path).is_ok_and(|present| present == text);
        if same {
            continue;
        }
        stale = true;
        if check {
            println!("core/vectors/{name} is stale; run `cargo run -p seawall-oracle --bin vectors`");
        } else if let Err(error) =
            fs::create_dir_all(path.parent().unwrap_or(&root)).and_then(|()| fs::write(&path, text))
        {
            println!("core/vectors/{name}: {error}");
            return ExitCode::FAILURE;
        } else {
            println!("core/vectors/{name} written");
        }
    }
    if check && stale { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
