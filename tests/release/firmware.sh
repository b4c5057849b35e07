# The device's images; sourced by run.
# shellcheck shell=bash disable=SC1091,SC2154

make_firmware() { # FOLDER
    need arm-none-eabi-objcopy gcc-arm-none-eabi && need riscv64-unknown-elf-objcopy binutils-riscv64-unknown-elf || return
    local name=fable-firmware-$version place=$work/firmware-$RANDOM roots=() board target rest
    while read -r board target rest; do
        [[ $board == \#* ]] || { need_target "$target" || return; roots+=("firmware@$target+${board%-*}"); }
    done <examples/firmware/boards.txt
    mkdir -p "$place/$name/images" && cp LICENSE-MIT LICENSE-APACHE examples/firmware/boards.txt "$place/$name/" || return
    (
        set -e
        cd examples/firmware
        . ./toolchain.sh
        for each in $(boards); do
            board "$each"
            build device
            case $target in thumb*) objcopy=arm-none-eabi-objcopy ;; *) objcopy=riscv64-unknown-elf-objcopy ;; esac
            "$objcopy" --strip-debug "$image" "$place/$name/images/$board.elf" # what only a debugger reads is half of it
        done
    ) || fail 'the images' || return
    cat >"$place/$name/README.md" <<TEXT
# Fable $version for boards in QEMU

\`images/BOARD.elf\` is \`examples/firmware\` of Fable: a device that decides and learns, keeps its user in flash and answers on its serial
port. The boards are QEMU's; nothing has run on hardware yet. \`boards.txt\` has the command of each board, the image comes after it:

    qemu-system-arm -M microbit -kernel images/microbit.elf -display none -monitor none \\
      -semihosting-config enable=on,target=native -serial tcp:127.0.0.1:4000,server=on,wait=off
    fable device --tcp 127.0.0.1:4000 hello

\`virt\` wants its flash in the folder where QEMU starts: \`truncate -s 32M virt.flash\`. \`fable\` is \`cargo install fable-std\`.
TEXT
    linked "$name.tar.gz" "$place/$name/THIRD-PARTY.txt" --manifest-path examples/firmware/Cargo.toml "${roots[@]}" && pack "$place/$name" "$1/$name.tar.gz"
}

check_firmware() { # FOLDER
    local place fable
    need qemu-system-arm qemu-system-arm && need qemu-system-riscv32 qemu-system-misc || return
    place=$(empty firmware) && tar -xzf "$1/fable-firmware-$version.tar.gz" -C "$place" || return
    fable=${FABLE:-$notes/fable}
    if [[ ! -x $fable ]]; then
        . tests/fable.sh || return
        fable=$FABLE
    fi
    python3 "$here/programs/hello.py" "$place/fable-firmware-$version" "$fable"
}
