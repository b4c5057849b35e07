/* Two archives of Rust in one program. */
#include "fable.h"

#include <stdint.h>
#include <stdio.h>

int32_t other_words(void);

int main(void)
{
    uint64_t hash = 0;
    if (fable_user_hash("ana", &hash) != FABLE_OK || fable_abi() != FABLE_ABI) return 1;
    return other_words() != 3;
}
