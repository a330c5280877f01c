//! Writes the JavaScript through which the lab's page calls the engine: wasm-bindgen's step after the compiler.
//!
//! Arguments: the module that the compiler wrote, and the folder of the results.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder] = &arguments[..] else {
        eprintln!("bindgen needs two arguments: the compiler's module, and a folder for the results");
        return ExitCode::from(2);
    };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).typescript(true).omit_default_module_path(true).remove_name_section(true);
    match bindgen.web(true).and_then(|bindgen| bindgen.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
