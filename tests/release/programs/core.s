# A RISC-V core without anything: asks libfable.a for the sentence of FABLE_OK and of another status, and ends QEMU's machine `virt` with
# success if both are there and differ, and with a failure otherwise.
    .section .text.start, "ax"
    .globl start
start:
    la sp, stack_top
    li a0, 0
    call fable_status_text
    mv s0, a0
    beqz a0, wrong
    lbu t0, 0(a0)
    beqz t0, wrong
    li a0, 1
    call fable_status_text
    beqz a0, wrong
    beq a0, s0, wrong
    li t1, 0x5555
    j end
wrong:
    li t1, 0x13333
end:
    li t0, 0x100000
    sw t1, 0(t0)
forever:
    j forever

    .bss
    .balign 16
    .skip 4096
stack_top:
