/* A Cortex-M in QEMU without any library: the vector table, a start, and semihosting. */
#include "say.h"

#include <stddef.h>
#include <stdint.h>

extern uint32_t stack_top, stack_end, data_start, data_end, data_load, bss_start, bss_end;

/* What a compiler may call for structures and loops. */
void *memcpy(void *to, const void *from, size_t length)
{
    for (size_t index = 0; index < length; index++) ((volatile uint8_t *)to)[index] = ((const uint8_t *)from)[index];
    return to;
}
void *memset(void *to, int byte, size_t length)
{
    for (size_t index = 0; index < length; index++) ((volatile uint8_t *)to)[index] = (uint8_t)byte;
    return to;
}

static int semihost(int operation, const void *argument)
{
    register int result __asm__("r0") = operation;
    register const void *more __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(result) : "r"(more) : "memory");
    return result;
}

void say(const char *text) { semihost(0x04, text); }

void end(int code)
{
    semihost(0x18, (const void *)(code == 0 ? 0x20026u : 0x20023u));
    for (;;) {
    }
}

/* How deep the stack got: it was painted, and what is untouched still has the paint. */
#define PAINT 0x5a5a5a5au

static void say_stack(void)
{
    const volatile uint32_t *at = &stack_end;
    while (at < &stack_top && *at == PAINT) at++;
    uint32_t used = (uint32_t)(&stack_top - at) * 4u;
    char digit[2] = {0, 0};
    say("stack 0x");
    for (int place = 28; place >= 0; place -= 4) digit[0] = "0123456789abcdef"[used >> place & 15], say(digit);
    say("\n");
}

__attribute__((noreturn)) static void fault(void)
{
    say("FAIL a fault\n");
    end(1);
    for (;;) {
    }
}

__attribute__((noreturn)) void reset(void)
{
#ifdef __ARM_FP
    *(volatile uint32_t *)0xe000ed88u |= 0xfu << 20; /* the coprocessor of floating point */
    __asm__ volatile("dsb\nisb");
#endif
    for (uint32_t *to = &data_start, *from = &data_load; to < &data_end;) *to++ = *from++;
    for (uint32_t *to = &bss_start; to < &bss_end;) *to++ = 0;
    uintptr_t here;
    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (uintptr_t to = (uintptr_t)&stack_end; to < here; to += 4) *(volatile uint32_t *)to = PAINT;
    int code = play();
    say_stack();
    end(code);
    for (;;) {
    }
}

union entry {
    uint32_t *stack;
    void (*handler)(void);
};
__attribute__((section(".vectors"), used)) static const union entry vectors[16] = {
    {.stack = &stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
};
