"""The random numbers of kernels: each is the last one times a factor, modulo a prime; the first is 1 or more.

Source: S. K. Park and K. W. Miller, Random number generators: good ones are hard to find, Communications of the ACM
31(10), 1988, doi:10.1145/63039.63042. The factor is the one that they recommend since 1993 (CACM 36(7)).
"""

RNG_FACTOR, RNG_MODULUS = 48_271, 2**31 - 1
