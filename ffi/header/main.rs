//! `header [--check]`: writes `include/seawall.h` from the crate's public items, or says that it is stale.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let check = std::env::args().nth(1).is_some_and(|argument| argument == "--check");
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = crate_dir.join("include/seawall.h");
    let header = match generate(crate_dir) {
        Ok(header) => header,
        Err(error) => {
            eprintln!("header: {error}");
            return ExitCode::FAILURE;
        }
    };
    if std::fs::read_to_string(&path).is_ok_and(|present| present == header) {
        println!("include/seawall.h is up to date");
        return ExitCode::SUCCESS;
    }
    if check {
        println!("include/seawall.h is stale; `cargo run -p seawall-ffi --example header` writes it anew");
        return ExitCode::FAILURE;
    }
    match std::fs::write(&path, header) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("header: {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn generate(crate_dir: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let config = cbindgen::Config::from_file(crate_dir.join("header/cbindgen.toml"))?;
    let version = env!("CARGO_PKG_VERSION");
    let preamble = std::fs::read_to_string(crate_dir.join("header/preamble.h"))?;
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_crate(crate_dir)
        .with_header(format!("{preamble}\n#define SW_VERSION \"{version}\""))
        .with_trailer("#endif /* SEAWALL_H */")
        .generate()?;
    let mut header = Vec::new();
    bindings.write(&mut header);
    Ok(String::from_utf8(header)?)
}
