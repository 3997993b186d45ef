/* 128 bits: for products of two 64-bit numbers, and sums that are exact. */
#ifndef ROCL_BASE_WIDE_H
#define ROCL_BASE_WIDE_H

__extension__ typedef unsigned __int128 rocl_u128;

#endif
