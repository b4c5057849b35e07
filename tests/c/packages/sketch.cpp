// Runs the sketch on the host: somebody likes warm light, and says so at the buttons after each change of the lamp.
#include "Arduino.h"

#include <cstdio>

void setup();
void loop();

static int levels[20];
static bool pressed;

int analogRead(int) { return 100; }
int digitalRead(int pin)
{
    const bool warm = levels[9] == HIGH && levels[10] == LOW;
    return pressed && pin == (warm ? 2 : 3) ? LOW : HIGH;
}
void digitalWrite(int pin, int level) { levels[pin] = level; }
void pinMode(int, int) {}
void delay(unsigned long) { pressed = false; }
void Port::begin(long) {}
void Port::println(const char *text) { std::printf("%s\n", text); }
Port Serial;

int main()
{
    int warm = 0;
    setup();
    for (int round = 0; round < 100; round++) {
        pressed = true;
        loop();
        if (round >= 50 && levels[9] == HIGH && levels[10] == LOW) warm++;
    }
    std::printf("warm in %d of the last 50 rounds\n", warm);
    return warm >= 45 ? 0 : 1;
}
