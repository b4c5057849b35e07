# Fable for C; sourced by run.
# shellcheck shell=bash disable=SC2154

c_targets=(thumbv6m-none-eabi thumbv7em-none-eabihf riscv32imc-unknown-none-elf riscv32imac-unknown-none-elf)

c_texts() { # FOLDER ARCHIVE TARGET...; licences and what is linked for the targets
    local roots=("${@:3}")
    cp LICENSE-MIT LICENSE-APACHE "$1/" && linked "$2" "$1/THIRD-PARTY.txt" "${roots[@]/%/+library}"
}

make_c() { # FOLDER
    local target name place=$work/c-$RANDOM face=fable-embedded/c form
    need cc gcc libc6-dev && need cmake cmake && need arm-none-eabi-objcopy gcc-arm-none-eabi && need riscv64-unknown-elf-objcopy binutils-riscv64-unknown-elf || return
    mkdir -p "$place"
    for target in host "${c_targets[@]}"; do
        [[ $target == host ]] || need_target "$target" || return
        name=fable-c-$version-${target/#host/$host}
        "$face/build" "$target" "$place/built/$target" || fail "the library for $target" || return
        mkdir -p "$place/$name"/{include,lib}
        cp "$place/built/$target/libfable.a" "$place/$name/lib/" && cp "$face/include/fable.h" "$place/$name/include/" || return
        if [[ $target == host ]]; then # CMake's package knows the size of a pointer: on devices take the file, with FABLE_LIBRARY
            if ! { cmake -S "$face" -B "$place/cmake" -DFABLE_LIBRARY="$place/built/host/libfable.a" -DCMAKE_INSTALL_LIBDIR=lib &&
                cmake --install "$place/cmake" --prefix "$place/$name"; } >"$place/log"; then
                cat "$place/log"
                return 1
            fi
        fi
        c_texts "$place/$name" "$name.tar.gz" "fable-c@${target/#host/$host}" && pack "$place/$name" "$1/$name.tar.gz" || return
    done
    for form in arduino esp-idf; do
        name=Fable && [[ $form == arduino ]] || name=fable
        "$face/package" "$form" "$place/$form/$name" || fail "the package for $form" || return
    done
    c_texts "$place/arduino/Fable" "fable-arduino-$version.zip" "${c_targets[@]/#/fable-c@}" || return
    c_texts "$place/esp-idf/fable" "fable-esp-idf-$version.tar.gz" "fable-c@$host" fable-c@riscv32im{,a}c-unknown-none-elf || return
    pack "$place/arduino/Fable" "$1/fable-arduino-$version.zip" && pack "$place/esp-idf/fable" "$1/fable-esp-idf-$version.tar.gz" || return
    cp "$face/include/fable.h" "$1/" && plain fable.h
}

check_c() { # FOLDER
    need qemu-system-arm qemu-system-arm && need qemu-system-riscv32 qemu-system-misc && need arm-none-eabi-gcc gcc-arm-none-eabi || return
    local place archive target
    place=$(empty c) && cd "$place" || return
    for archive in "$1"/*.tar.gz; do tar -xzf "$archive" || return; done
    python3 -m zipfile -e "$1/fable-arduino-$version.zip" . || return
    c_host "fable-c-$version-$host" "$1/fable.h" && c_boards && c_cores && c_forms || return
}

c_host() { # UNPACKED HEADER; the example of the page, by hand and through CMake, with this archive alone
    awk '$0 == "```c" && !done { inside = 1; next } /^```/ && inside { inside = 0; done = 1 } inside' "$root/fable-embedded/c/README.md" >example.c
    awk '$0 == "```text" && !done { inside = 1; next } /^```/ && inside { inside = 0; done = 1 } inside' "$root/fable-embedded/c/README.md" >says
    cmp "$1/include/fable.h" "$2" || return
    cc -std=c99 -pedantic -Wall -Wextra -Werror -I "$1/include" example.c "$1/lib/libfable.a" -Wl,--gc-sections -o example && ./example >said && diff says said ||
        fail 'the example of the page, with cc' || return
    mkdir project && cp example.c project/ && cat >project/CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(example C)
find_package(fable $version EXACT CONFIG REQUIRED)
add_executable(example example.c)
target_link_libraries(example PRIVATE fable::fable)
CMAKE
    cmake -S project -B project/built -DCMAKE_PREFIX_PATH="$PWD/$1" >log && cmake --build project/built >>log 2>&1 && project/built/example >said && diff says said ||
        { cat log; fail 'the example of the page, with CMake'; } || return
    ok "C on $host: the example of the page runs, with cc and with CMake"
}

c_boards() { # the script of tests/c on both kinds of Cortex-M: line for line what this machine says, so the same bits
    local target machine script flags define sources=$root/tests/c lines
    while read -r target machine script define flags; do
        # shellcheck disable=SC2086 # words
        cc -std=c99 $define -I "fable-c-$version-$host/include" -I "$sources" "$sources/play.c" "$sources/host.c" "fable-c-$version-$host/lib/libfable.a" -o play &&
            ./play >wanted || fail 'tests/c/play.c on this machine' || return
        # shellcheck disable=SC2086
        arm-none-eabi-gcc -std=c99 -Os -ffreestanding -ffunction-sections -fdata-sections -mthumb $flags $define -I "fable-c-$version-$target/include" -I "$sources" \
            "$sources/board.c" "$sources/play.c" "fable-c-$version-$target/lib/libfable.a" -nostdlib -L "$sources" -T "$sources/$script.ld" \
            -Wl,--gc-sections -Wl,--no-warn-rwx-segments -lgcc -o "$machine.elf" 2>log || { cat log; fail "linked for $target"; } || return
        timeout 120 qemu-system-arm -M "$machine" -kernel "$machine.elf" -display none -monitor none -serial none \
            -semihosting-config enable=on,target=native >log 2>&1 </dev/null || { cat log; fail "$machine: exit code $?"; } || return
        grep -v '^stack ' log >played
        diff wanted played >log || { head log; fail "$machine says something else than this machine"; } || return
        lines=$(wc -l <wanted) && ok "C on $machine ($target) in QEMU: $lines lines as on $host"
    done <<'BOARDS'
thumbv6m-none-eabi     microbit    microbit  -DSMALL   -mcpu=cortex-m0
thumbv7em-none-eabihf  mps2-an386  mps2      -DFULL    -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16
BOARDS
}

c_cores() { # RISC-V, for which there is no compiler of C here: an assembler's program asks for the sentence of a status
    local target
    for target in riscv32imc riscv32imac; do
        riscv64-unknown-elf-as -march="${target/riscv/rv}" -mabi=ilp32 "$here/programs/core.s" -o core.o &&
            riscv64-unknown-elf-ld -m elf32lriscv -Ttext=0x80000000 --gc-sections -e start core.o "fable-c-$version-$target-unknown-none-elf/lib/libfable.a" -o core.elf ||
            fail "linked for $target" || return
        timeout 60 qemu-system-riscv32 -M virt -bios none -kernel core.elf -display none -monitor none -serial none </dev/null >log 2>&1 ||
            { cat log; fail "$target: exit code $?"; } || return
        ok "C on $target in QEMU: the library links and answers"
    done
}

c_forms() { # the packages for Arduino and ESP-IDF have these very libraries, and the component works on this machine
    local place target
    while read -r target place; do
        cmp "$place/libfable.a" "fable-c-$version-${target/#host/$host}/lib/libfable.a" || fail "$place" || return
    done <<'PLACES'
thumbv6m-none-eabi            Fable/src/cortex-m0
thumbv6m-none-eabi            Fable/src/cortex-m0plus
thumbv6m-none-eabi            Fable/src/cortex-m4
thumbv6m-none-eabi            Fable/src/cortex-m4/fpv4-sp-d16-softfp
thumbv7em-none-eabihf         Fable/src/cortex-m4/fpv4-sp-d16-hard
riscv32imc-unknown-none-elf   Fable/src/esp32c3
riscv32imac-unknown-none-elf  Fable/src/esp32c6
riscv32imac-unknown-none-elf  Fable/src/esp32h2
riscv32imc-unknown-none-elf   fable/lib/esp32c2
riscv32imc-unknown-none-elf   fable/lib/esp32c3
riscv32imac-unknown-none-elf  fable/lib/esp32c6
riscv32imac-unknown-none-elf  fable/lib/esp32h2
host                          fable/lib/linux
PLACES
    local said sketch=Fable/examples/Lamp
    cmake -S "$root/tests/c/packages/idf" -B idf -DIDF_TARGET=linux -DCOMPONENT="$PWD/fable" -DHEADERS="$PWD/$sketch" >log && cmake --build idf >>log 2>&1 ||
        { cat log; fail 'the component of ESP-IDF'; } || return
    said=$(idf/lamp) && [[ $said =~ ^([0-5]\ ){5}$ ]] || fail "the component of ESP-IDF says '$said'" || return
    { echo '#include <Arduino.h>'; cat "$sketch/Lamp.ino"; } >Lamp.cpp
    c++ -std=gnu++11 -Wall -Wextra -Werror -I "$root/tests/c/packages" -I Fable/src -I "$sketch" Lamp.cpp "$root/tests/c/packages/sketch.cpp" \
        fable/lib/linux/libfable.a -o sketch && ./sketch || fail 'the sketch of the Arduino library' || return
    ok "Arduino and ESP-IDF: the same libraries; the component and the sketch run on $host"
}
