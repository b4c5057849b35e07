// As much of Arduino as the sketch needs. On the host `sketch.cpp` plays a person at the buttons.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { LOW = 0, HIGH = 1, OUTPUT = 1, INPUT_PULLUP = 2, A0 = 14 };

int analogRead(int pin);
int digitalRead(int pin);
void digitalWrite(int pin, int level);
void pinMode(int pin, int mode);
void delay(unsigned long milliseconds);

struct Port {
    void begin(long rate);
    void println(const char *text);
};
extern Port Serial;
