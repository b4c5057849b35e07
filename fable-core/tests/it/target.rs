//! Which layout of the loops the build script chooses for a target.

#[expect(dead_code, reason = "the main function of the build script")]
#[path = "../../build.rs"]
mod build;

const SOFTWARE: Option<&str> = Some("fable_softfloat");
const HOST: Option<&str> = Some("fable_host");

#[test]
fn the_triple_tells_whether_floating_point_is_software() {
    let targets = [
        ("thumbv6m-none-eabi", "none", SOFTWARE),
        ("thumbv7m-none-eabi", "none", SOFTWARE),
        ("thumbv7em-none-eabi", "none", SOFTWARE),
        ("thumbv7em-none-eabihf", "none", None),
        ("thumbv8m.base-none-eabi", "none", SOFTWARE),
        ("thumbv8m.main-none-eabihf", "none", None),
        ("thumbv7em-nuttx-eabi", "nuttx", SOFTWARE),
        ("armv7r-none-eabi", "none", SOFTWARE),
        ("armv7r-none-eabihf", "none", None),
        ("riscv32i-unknown-none-elf", "none", SOFTWARE),
        ("riscv32emc-unknown-none-elf", "none", SOFTWARE),
        ("riscv32imc-unknown-none-elf", "none", SOFTWARE),
        ("riscv32imac-unknown-none-elf", "none", SOFTWARE),
        ("riscv32imac_zicsr_zifencei-custom", "none", SOFTWARE),
        ("riscv32imc-esp-espidf", "espidf", SOFTWARE),
        ("riscv32imafc-unknown-none-elf", "none", None),
        ("riscv32imafc_zicsr-custom", "none", None),
        ("riscv32gc-custom", "none", None),
        ("riscv64imac-unknown-none-elf", "none", SOFTWARE),
        ("riscv64gc-unknown-none-elf", "none", None),
        ("riscv64gc-unknown-linux-gnu", "linux", HOST),
        ("riscv64a23-unknown-linux-gnu", "linux", HOST),
        ("aarch64-unknown-none", "none", None),
        ("aarch64-unknown-none-softfloat", "none", SOFTWARE),
        ("xtensa-esp32-none-elf", "none", None),
        ("xtensa-esp32s2-none-elf", "none", SOFTWARE),
        ("x86_64-unknown-none", "none", SOFTWARE),
        ("custom", "none", SOFTWARE),
        ("custom-eabihf", "none", None),
        ("wasm32-unknown-unknown", "unknown", None),
        ("wasm32-wasip1", "wasi", None),
        ("wasm32v1-none", "none", None),
        ("x86_64-unknown-linux-gnu", "linux", HOST),
        ("x86_64-unknown-linux-none", "linux", HOST),
        ("x86_64-pc-windows-msvc", "windows", HOST),
        ("aarch64-apple-darwin", "macos", HOST),
        ("armv7-unknown-linux-gnueabihf", "linux", HOST),
        ("armv7-linux-androideabi", "android", HOST),
        ("custom", "custom", HOST),
    ];
    for (triple, system, condition) in targets {
        assert_eq!(build::condition(triple, system), condition, "{triple}");
    }
}
