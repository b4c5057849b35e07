/* What a program needs of where it runs: to say something, and to end. A host has stdio, a board has semihosting. */
#ifndef SAY_H
#define SAY_H

void say(const char *text);
void end(int code);
int play(void);

#endif
